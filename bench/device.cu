// Kernels of a CUDA device beside what it does at best: a product of doubles beside cuBLAS, ten permutations beside a copy; MTTKRP of
// nonzeros, with the copies of factors and results, beside the host's cores.
//   ARGES_DEVICE=cuda build/fast-cuda/bench/device [SIZE OF THE PRODUCT] [ELEMENTS THAT ARE PERMUTED, ABOUT] [NONZEROS]
// A line for each as soon as it is known. Rates of permutations count bytes that are read and written.
#include "arges/element_kernels.hpp"
#include "arges/error.hpp"
#include "base/buffer.hpp"
#include "device/device.hpp"
#include "sparse/mttkrp.hpp"

#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace arges;

void require(bool holds, const char* what) {
    if (holds) return;
    std::printf("device: %s failed\n", what);
    std::exit(1);
}

/// Seconds of the best of five runs; what was started has ended.
template <class F>
double seconds_of(F&& f) {
    double best = 1e30;
    f();
    for (int i = 0; i < 5; ++i) {
        require(cudaDeviceSynchronize() == cudaSuccess, "the device");
        const auto start = std::chrono::steady_clock::now();
        f();
        require(cudaDeviceSynchronize() == cudaSuccess, "the device");
        best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    return best;
}

void products(const ElementKernels& table, std::int64_t n) {
    Buffer<double> a(n * n, table.space), b(n * n, table.space), c(n * n, table.space);
    // Numbers of many digits: zeros would take less power, and the clock would stay higher.
    std::vector<double> some(static_cast<std::size_t>(n * n));
    for (std::size_t i = 0; i < some.size(); ++i) some[i] = std::sin(static_cast<double>(i));
    for (auto* x : {&a, &b}) copy_array(x->data(), some.data(), n * n * 8, table.space);
    const double one = 1, zero = 0, flops = 2.0 * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n);
    cublasHandle_t blas = nullptr;
    require(cublasCreate(&blas) == CUBLAS_STATUS_SUCCESS, "cuBLAS");
    const double best =
        seconds_of([&] { cublasDgemm_64(blas, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a.data(), n, b.data(), n, &zero, c.data(), n); });
    std::printf("mm %lld: cuBLAS %.2f TFLOP/s\n", static_cast<long long>(n), flops / best * 1e-12);
    std::fflush(stdout);
    const local::FoldedContraction f{{{n, 1, 0, 1}}, {{n, 0, n, n}}, {{n, n, 1, 0}}, {}};
    const double own = seconds_of([&] { table.contract(f, &one, a.data(), b.data(), &zero, c.data()); });
    std::printf("mm %lld: Arges  %.2f TFLOP/s, %.2f of cuBLAS (goal 0.90)\n", static_cast<long long>(n), flops / own * 1e-12, best / own);
    std::fflush(stdout);
}

struct Permutation {
    std::vector<double> extents;  ///< relative ones
    std::vector<int> order;       ///< dimensions of the source, the fastest of the target first
};

void permutations(const ElementKernels& table, double wanted) {
    const Permutation all[] = {{{2, 1}, {1, 0}},
                               {{1, 1, 1}, {2, 1, 0}},
                               {{1, 1.1, 0.9}, {0, 2, 1}},
                               {{1.1, 0.9, 1}, {1, 0, 2}},
                               {{1, 1.05, 0.95, 1.1}, {3, 2, 1, 0}},
                               {{1, 1.05, 0.95, 1.1}, {0, 2, 1, 3}},
                               {{1, 1.05, 0.95, 1.1}, {1, 0, 3, 2}},
                               {{1, 1.05, 0.95, 1.1}, {2, 3, 0, 1}},
                               {{1, 1, 1, 1, 1}, {4, 3, 2, 1, 0}},
                               {{1, 1.1, 0.9, 1, 1.1, 0.9}, {3, 0, 1, 5, 2, 4}}};
    double copy = 0;
    for (const auto& p : all) {
        double product = 1;
        for (const double x : p.extents) product *= x;
        const double unit = std::pow(wanted / product, 1.0 / static_cast<double>(p.extents.size()));
        std::vector<local::TransferAxis> axes;
        std::int64_t count = 1;
        std::string name;
        for (const double x : p.extents) {
            axes.push_back({.count = std::max<std::int64_t>(2, std::llround(x * unit)), .from_stride = count});
            count *= axes.back().count;
            name += (name.empty() ? "" : "x") + std::to_string(axes.back().count);
        }
        name += " to ";
        std::int64_t stride = 1;
        for (const int d : p.order) {
            auto& axis = axes[static_cast<std::size_t>(d)];
            axis.to_stride = stride;
            stride *= axis.count;
            name += std::to_string(d);
        }
        Buffer<double> from(count, table.space), to(count, table.space);
        const double zero = 0;
        table.fill(from.data(), count, &zero);
        if (copy == 0) {
            copy = 16.0 * static_cast<double>(count) /
                   seconds_of([&] { table.space->copy(to.data(), from.data(), count * std::int64_t{sizeof(double)}); });
            std::printf("copy within the device: %.0f GB/s\n", copy * 1e-9);
        }
        const double rate =
            16.0 * static_cast<double>(count) / seconds_of([&] { table.transfer(axes, from.data(), to.data(), nullptr, {}); });
        std::printf("permutation %-42s %.0f GB/s, %.2f of a copy (goal 0.80)\n", name.c_str(), rate * 1e-9, rate / copy);
        std::fflush(stdout);
    }
}

/// An irregular tensor, MTTKRP in all modes after each of which its factor has changed.
void nonzeros(const ElementKernels& table, std::int64_t count) {
    sparse::LocalNonzeros<double> x;
    x.rows = {500000, 200000, 400};
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> uniform(0, 1);
    for (const auto rows : x.rows) {
        auto& index = x.indices.emplace_back();
        for (std::int64_t i = 0; i < count; ++i)
            index.push_back(static_cast<std::uint32_t>(static_cast<double>(rows) * std::pow(uniform(random), 2)));
    }
    for (std::int64_t i = 0; i < count; ++i) x.values.push_back(uniform(random));
    const std::vector<int> modes{0, 1, 2};
    const auto there = sparse::make_mttkrp(x, sparse::Format::device, modes, &table);
    const auto host = sparse::make_mttkrp(x, sparse::Format::csf_all, modes);
    for (const int columns : {16, 64}) {
        std::vector<std::vector<double>> matrices;
        std::vector<sparse::RowMatrix<const double>> factors;
        for (const auto rows : x.rows) {
            auto& matrix = matrices.emplace_back(static_cast<std::size_t>(rows * columns));
            for (auto& a : matrix) a = uniform(random);
            factors.push_back({matrix.data(), rows, columns, columns});
        }
        std::vector<double> out(matrices[0].size());
        const auto sweep = [&](sparse::Mttkrp<double>& x_of) {
            for (const int m : modes) {
                x_of.multiply(m, factors, {out.data(), x.rows[static_cast<std::size_t>(m)], columns, columns});
                x_of.factor_changes(m);
            }
        };
        const double device = seconds_of([&] { sweep(*there); }), on_host = seconds_of([&] { sweep(*host); });
        const double read = 3.0 * static_cast<double>(count) * (2.0 * 8 * columns + 16);
        std::printf("MTTKRP of %lld nonzeros, %d columns, a sweep: device %.4f s (%.0f GB/s of rows), %d threads of the host %.4f s\n",
                    static_cast<long long>(count), columns, device, read / device * 1e-9, omp_get_max_threads(), on_host);
        std::fflush(stdout);
    }
}

}  // namespace

int main(int argc, char** argv) {
    try {
        const auto& table = device::cuda_kernels<double>(element_kernels<double>());
        products(table, argc > 1 ? std::atoll(argv[1]) : 8192);
        permutations(table, argc > 2 ? std::atof(argv[2]) : 1.3e8);
        nonzeros(table, argc > 3 ? std::atoll(argv[3]) : 20000000);
    } catch (const std::exception& error) {
        std::printf("device: %s\n", error.what());
        return 1;
    }
}
