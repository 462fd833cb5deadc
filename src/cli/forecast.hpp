/// The memory forecast of a decomposition, and a line about its long steps.
#pragma once

#include "arges/sparse_io.hpp"
#include "arges/world.hpp"
#include "base/stopwatch.hpp"
#include "decompose/distribution/sparse_share.hpp"

#include <cstdint>
#include <functional>
#include <ostream>
#include <string>

namespace arges::cli {

/// What is under way, in a line on standard error that each next one replaces; only where that is a terminal. On rank 0.
class StepLine {
public:
    explicit StepLine(const World& world);
    ~StepLine() { show(""); }
    StepLine(const StepLine&) = delete;
    StepLine& operator=(const StepLine&) = delete;

    /// Shows a step; an empty text removes the line. Local.
    void show(const std::string& text);
    /// Shows a step of which a part is done, 0 to 1, a few times in a second. Local.
    void show(const std::string& text, double done);

private:
    bool is_shown_ = false, is_terminal_ = false;
    Stopwatch since_;
};

/// What a process will take at most: what it holds when the program begins, code and buffers that MPI, BLAS and threads bring in when they
/// are first used, and what the steps of the work take. It is made again when more is known.
class MemoryForecast {
public:
    /// Collective.
    explicit MemoryForecast(const World& world);

    /// From now on the work is forecast to take so many bytes on the rank that takes most. Collective.
    /// @throws OutOfMemory on every rank if the process is then over the memory limit
    void expect(const std::string& file, std::int64_t work_bytes);
    /// Bytes of the process.
    std::int64_t bytes() const { return bytes_; }
    /// "2 processes of 1 threads, memory forecast 1.2 GB per rank, limit 11.0 GB".
    std::string text() const;

private:
    World world_;
    std::int64_t base_ = 0, bytes_ = 0;
};

/// What reading has taken, which the forecast of later steps has to cover, too.
template <class T>
struct ForecastFile {
    SparseFile<T> file;
    std::int64_t reading_bytes = 0;  ///< at most, on the rank that takes most
};

/// Reads a sparse tensor under a forecast that is made from what the file says before it is read. Collective.
/// @param work bytes that the decomposition of a share will take, its nonzeros included
/// @param out  gets the forecast; null: nothing does
/// @throws as read_sparse(); OutOfMemory if the forecast is over the limit
template <class T>
ForecastFile<T> read_with_forecast(const World& world, const std::string& path, SparseReadOptions options, bool is_coarse, int columns,
                                   const std::function<std::int64_t(const decompose::SparseShare&)>& work, MemoryForecast& forecast,
                                   StepLine& steps, std::ostream* out);

}  // namespace arges::cli
