#include "cli/forecast.hpp"

#include "arges/error.hpp"
#include "arges/known_elements.hpp"
#include "arges/tensor_io.hpp"
#include "base/memory_tally.hpp"
#include "base/stopwatch.hpp"
#include "base/text.hpp"
#include "cli/world_options.hpp"

#include <fmt/core.h>
#include <omp.h>

#include <algorithm>
#include <ostream>

namespace arges::cli {

namespace {

/// Code of the kernels, of BLAS and of MPI with their buffers, when they are first used: measured with MPICH and OpenBLAS.
constexpr std::int64_t first_use_bytes = std::int64_t{32} << 20, first_use_of_thread = std::int64_t{12} << 20;

}  // namespace

MemoryForecast::MemoryForecast(const World& world) : world_(world) {
    base_ = world.maximum(current_process_memory()) + first_use_bytes + omp_get_max_threads() * first_use_of_thread;
}

void MemoryForecast::expect(const std::string& file, std::int64_t work_bytes, const char* cure) {
    bytes_ = base_ + world_.maximum(work_bytes);
    if (bytes_ > world_.memory_limit())
        throw OutOfMemory(fmt::format("{}: the memory forecast is {} per rank, of which {} are the program's own, but the limit is {}; {}",
                                      file, format_bytes(bytes_), format_bytes(base_), format_bytes(world_.memory_limit()), cure));
}

std::string MemoryForecast::text() const {
    return fmt::format("{} {} of {} threads, memory forecast {} per rank, limit {}", world_.size(),
                       world_.size() == 1 ? "process" : "processes", omp_get_max_threads(), format_bytes(bytes_),
                       format_bytes(world_.memory_limit()));
}

void require_on_first_rank(const AnyTensor& tensor, const std::string& file, const char* what, std::int64_t bytes) {
    const auto& world = tensor.world();
    const auto nonzeros = tensor.stored();
    world.agree([&] {
        const auto all = current_process_memory() + bytes;
        if (world.rank() == 0 && all > world.memory_limit())
            throw OutOfMemory(fmt::format("{}: rank 0 {} all {} nonzeros, for which it takes up to {}, but the limit is {}; raise --memory",
                                          file, what, with_commas(nonzeros), format_bytes(all), format_bytes(world.memory_limit())));
    });
}

void FileWork::begin_reading(const char* ending) {
    if (!command.json) console.out << forecast.text() << ending << std::flush;
}

template <class T>
ReadFile<SparseTensor<T>> FileWork::read_sparse(const std::function<std::int64_t(const SparseFileForecast&)>& work) {
    const Stopwatch watch;
    const auto& path = command.file;
    auto options = command.read_options();
    const SparseFileForecast expected(world, path, element_type_of<T>(), options);
    if (expected.is_known()) {
        forecast.expect(path, std::max(expected.bytes(), work(expected)));
        begin_reading(expected.is_exact() ? "\n" : " (from samples of the file)\n");
    }
    steps.show("reading " + path);
    options.progress = [&](double done) { steps.show("reading " + path, done); };
    auto file = arges::read_sparse<T>(world, path, options);
    const auto bytes = expected.bytes_taken(file.tensor, file.report);
    const auto seconds = watch.seconds();
    return {{file.report, file.tensor.nonzeros(), bytes, seconds, reading_warnings(file)}, std::move(file.tensor)};
}

template <class T>
ReadFile<Tensor<T>> FileWork::read_dense(const std::function<std::int64_t(const DenseFileForecast&)>& work) {
    const Stopwatch watch;
    const DenseFileForecast expected(world, command.file, element_type_of<T>());
    forecast.expect(command.file, std::max(expected.bytes(), work(expected)));
    begin_reading("\n");
    steps.show("reading " + command.file);
    auto tensor = read_tensor<T>(world, command.file);
    ReadReport report;
    report.lengths = tensor.extents();
    return {{report, tensor.size(), expected.bytes(), watch.seconds(), {}, true}, std::move(tensor)};
}

template <class T>
ReadFile<SparseTensor<T>> FileWork::read_known(const std::function<std::int64_t(const DenseFileForecast&)>& work) {
    const Stopwatch watch;
    const DenseFileForecast expected(world, command.file, element_type_of<T>());
    forecast.expect(command.file, std::max(expected.known_bytes(), work(expected)));
    begin_reading("\n");
    steps.show("reading " + command.file);
    SparseFile<T> file;
    file.tensor = SparseTensor<T>(read_known_elements(element_type_of<T>(), world, command.file, MissingElements::nan, file.report));
    return {{file.report, file.tensor.nonzeros(), expected.known_bytes(), watch.seconds(), reading_warnings(file)}, std::move(file.tensor)};
}

template <class T>
SparseTensor<T> FileWork::read_beside(const SparseTensor<T>& tensor, const std::string& path) {
    auto options = command.read_options();
    options.lengths = tensor.lengths();
    steps.show("reading " + path);
    options.progress = [&](double done) { steps.show("reading " + path, done); };
    return arges::read_sparse<T>(world, path, options).tensor;
}

template <class T>
Tensor<T> FileWork::read_beside(const Tensor<T>&, const std::string& path) {
    steps.show("reading " + path);
    return read_tensor<T>(world, path);
}

#define ARGES_INSTANTIATE(T)                                                                                                               \
    template ReadFile<SparseTensor<T>> FileWork::read_sparse(const std::function<std::int64_t(const SparseFileForecast&)>&);               \
    template ReadFile<Tensor<T>> FileWork::read_dense(const std::function<std::int64_t(const DenseFileForecast&)>&);                       \
    template ReadFile<SparseTensor<T>> FileWork::read_known(const std::function<std::int64_t(const DenseFileForecast&)>&);                 \
    template SparseTensor<T> FileWork::read_beside(const SparseTensor<T>&, const std::string&);                                            \
    template Tensor<T> FileWork::read_beside(const Tensor<T>&, const std::string&);
ARGES_INSTANTIATE(float)
ARGES_INSTANTIATE(double)
#undef ARGES_INSTANTIATE

}  // namespace arges::cli
