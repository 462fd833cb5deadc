#include "cli/forecast.hpp"

#include "arges/error.hpp"
#include "base/memory_tally.hpp"
#include "cli/world_options.hpp"
#include "interface/world/world_state.hpp"
#include "io/sparse/reading_memory.hpp"

#include <fmt/core.h>
#include <omp.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <ostream>

namespace arges::cli {

namespace {

/// Code of the kernels, of BLAS and of MPI with their buffers, when they are first used: measured with MPICH and OpenBLAS.
constexpr std::int64_t first_use_bytes = std::int64_t{32} << 20, first_use_of_thread = std::int64_t{12} << 20;

}  // namespace

MemoryForecast::MemoryForecast(const World& world) : world_(world) {
    base_ = world.state()->communicator().maximum(current_process_memory()) + first_use_bytes + omp_get_max_threads() * first_use_of_thread;
}

void MemoryForecast::expect(const std::string& file, std::int64_t work_bytes) {
    bytes_ = base_ + world_.state()->communicator().maximum(work_bytes);
    if (bytes_ > world_.memory_limit())
        throw OutOfMemory(
            fmt::format("{}: the memory forecast is {} per rank, of which {} are the program's own, but the limit is {}; use more "
                        "ranks, fewer components, --type float, or raise --memory",
                        file, format_bytes(bytes_), format_bytes(base_), format_bytes(world_.memory_limit())));
}

std::string MemoryForecast::text() const {
    return fmt::format("{} {} of {} threads, memory forecast {} per rank, limit {}", world_.size(),
                       world_.size() == 1 ? "process" : "processes", omp_get_max_threads(), format_bytes(bytes_),
                       format_bytes(world_.memory_limit()));
}

template <class T>
ForecastFile<T> read_with_forecast(const World& world, const std::string& path, SparseReadOptions options, bool is_coarse, int columns,
                                   const std::function<std::int64_t(const decompose::SparseShare&)>& work, MemoryForecast& forecast,
                                   StepLine& steps, std::ostream* out) {
    const auto& comm = world.state()->communicator();
    auto outline = io::sparse_outline(comm, path, options, sizeof(T));
    auto& shape = outline.shape;
    if (outline.entries > 0 && !shape.lengths.empty()) {
        const auto share = decompose::expected_share(world.size(), sizeof(T), shape.lengths, outline.entries, is_coarse, columns);
        forecast.expect(path, std::max(io::reading_memory(shape, outline.entries_of_rank()).peak(), work(share)));
        if (out) *out << forecast.text() << (outline.is_exact ? "\n" : " (from samples of the file)\n") << std::flush;
    }
    steps.show("reading " + path);
    options.progress = [&](double done) { steps.show("reading " + path, done); };
    ForecastFile<T> result{read_sparse<T>(world, path, options)};
    const auto& report = result.file.report;
    outline.entries = report.entries;
    shape.lengths = report.lengths;
    const auto most = comm.maximum(std::max(outline.entries_of_rank(), result.file.tensor.local_nonzeros()));
    result.reading_bytes = io::reading_memory(shape, most, report.duplicates).peak();
    return result;
}

template ForecastFile<float> read_with_forecast(const World&, const std::string&, SparseReadOptions, bool, int,
                                                const std::function<std::int64_t(const decompose::SparseShare&)>&, MemoryForecast&,
                                                StepLine&, std::ostream*);
template ForecastFile<double> read_with_forecast(const World&, const std::string&, SparseReadOptions, bool, int,
                                                 const std::function<std::int64_t(const decompose::SparseShare&)>&, MemoryForecast&,
                                                 StepLine&, std::ostream*);

StepLine::StepLine(const World& world) : is_terminal_(world.rank() == 0 && isatty(STDERR_FILENO) != 0) {}

void StepLine::show(const std::string& text) {
    if (!is_terminal_ || (text.empty() && !is_shown_)) return;
    std::cerr << "\r\033[K" << text << std::flush;
    is_shown_ = !text.empty();
}

void StepLine::show(const std::string& text, double done) {
    constexpr double pause = 0.2;
    if (!is_terminal_ || since_.seconds() < pause) return;
    since_.lap();
    show(fmt::format("{}: {:.0f} %", text, 100 * done));
}

}  // namespace arges::cli
