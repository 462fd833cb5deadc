/// Reading the file of a tensor under a memory forecast.
#pragma once

#include "arges/forecast.hpp"
#include "cli/program.hpp"
#include "cli/progress.hpp"
#include "cli/sparse_options.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace arges::cli {

/// What a process will take at most: what it holds when the program begins, code and buffers that MPI, BLAS and threads bring in when they
/// are first used, and what the steps of the work take. It is made again when more is known.
class MemoryForecast {
public:
    /// Collective.
    explicit MemoryForecast(const World& world);

    /// From now on the work is forecast to take so many bytes on the rank that takes most. Collective.
    /// @param cure  what to do where that is too much
    /// @throws OutOfMemory on every rank if the process is then over the memory limit
    void expect(const std::string& file, std::int64_t work_bytes,
                const char* cure = "use more ranks, fewer components, --type float, or raise --memory");
    /// Bytes of the process.
    std::int64_t bytes() const { return bytes_; }
    /// "2 processes of 1 threads, memory forecast 1.2 GB per rank, limit 11.0 GB".
    std::string text() const;

private:
    World world_;
    std::int64_t base_ = 0, bytes_ = 0;
};

/// Compares what rank 0 takes for work on all nonzeros with the memory limit. Collective. @param what  it does: "looks at"
/// @throws OutOfMemory on every rank
void require_on_first_rank(const AnyTensor& tensor, const std::string& file, const char* what, std::int64_t bytes);

/// What was read.
struct ReadSummary {
    ReadReport report{};     ///< of a dense tensor the lengths only
    std::int64_t count = 0;  ///< of nonzeros, or of the elements of a dense tensor
    std::int64_t bytes = 0;  ///< that reading took at most, which the forecast of later steps has to cover, too
    double seconds = 0;
    std::vector<std::string> warnings{};
    bool is_dense = false;
};

/// The same with the tensor.
template <class Tensor>
struct ReadFile : ReadSummary {
    Tensor tensor;
};

/// Where a subcommand works on the file of a tensor, and what it says on the way.
struct FileWork {
    FileWork(const World& where, const FileCommand& what, const Console& to)
        : world(where), command(what), console(to), forecast(where), steps(where, what.progress) {}

    const World& world;
    const FileCommand& command;
    const Console& console;
    MemoryForecast forecast;
    StepLine steps;

    /// Reads a sparse tensor under a forecast that is made from what the file says before it is read. Collective.
    /// @param work bytes that the decomposition will take, the tensor included
    /// @throws as read_sparse(); OutOfMemory if the forecast is over the limit
    template <class T>
    ReadFile<SparseTensor<T>> read_sparse(const std::function<std::int64_t(const SparseFileForecast&)>& work);
    /// Likewise a dense one.
    template <class T>
    ReadFile<Tensor<T>> read_dense(const std::function<std::int64_t(const DenseFileForecast&)>& work);

    /// Likewise the elements of a dense one that are not NaN. @throws as read_known_elements()
    template <class T>
    ReadFile<SparseTensor<T>> read_known(const std::function<std::int64_t(const DenseFileForecast&)>& work);

    /// Reads a tensor of as many modes and the same lengths as the command's, which is here already. Collective.
    template <class T>
    SparseTensor<T> read_beside(const SparseTensor<T>& tensor, const std::string& path);
    template <class T>
    Tensor<T> read_beside(const Tensor<T>& tensor, const std::string& path);

private:
    /// Tells the forecast, unless JSON is wanted, and what comes next.
    void begin_reading(const char* ending);
};

}  // namespace arges::cli
