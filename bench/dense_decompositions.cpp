// Dense CP and Tucker decompositions, beside the rate of matrix products.
//   dense_decompositions [cp|tucker|bytes] [float|double] [small]
// Run under mpiexec on any number of ranks. CP-ALS: seconds of a sweep with the dimension tree (the least of five), beside one
// MTTKRP for each mode by statements O["ir"] = X["ijk"] * B["jr"] * C["kr"], which read the tensor once for each mode; flops
// are those of the two large products. Tucker: seconds of ST-HOSVD by Gram matrices (the least of three), step by step; flops
// are those of the symmetric products, half of a full one, and of the products with the factors. The share is that of the rate
// of a product of 2000 x 2000 matrices on every rank at once. bytes: what one sweep or one ST-HOSVD sends, beside what was
// planned and the lower bounds, and nothing else. small: dimensions are a fifth as long.
#include "arges/cpd.hpp"
#include "arges/einsum.hpp"
#include "arges/tucker.hpp"
#include "local/blas.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

namespace {

using arges::Tensor;
using arges::World;
using Lengths = std::vector<std::int64_t>;

double now() {
    MPI_Barrier(MPI_COMM_WORLD);
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double least_seconds(int repeats, const std::function<void()>& work) {
    double best = std::numeric_limits<double>::infinity();
    for (int r = 0; r < repeats; ++r) {
        const double start = now();
        work();
        best = std::min(best, now() - start);
    }
    return best;
}

/// Flops per second of matrix products on all ranks together.
template <class T>
double gemm_rate(const World& world) {
    const std::int64_t n = 2000;
    const std::vector<T> a(static_cast<std::size_t>(n * n), T(0.5)), b = a;
    std::vector<T> c = a;
    const double seconds = least_seconds(4, [&] {
        arges::local::gemm<T>({n, n, n}, T(1), {a.data(), n, false}, {b.data(), n, false}, T(0), {c.data(), n, false});
    });
    return 2.0 * static_cast<double>(n * n * n) * static_cast<double>(world.size()) / seconds;
}

double size_of(const Lengths& lengths) {
    return std::accumulate(lengths.begin(), lengths.end(), 1.0, [](double product, auto n) { return product * static_cast<double>(n); });
}

std::string text_of(const Lengths& lengths) {
    std::string text;
    for (auto n : lengths) text += (text.empty() ? "" : "x") + std::to_string(n);
    return text;
}

void print(const World& world, const std::string& line) {
    if (world.rank() == 0) std::printf("%s\n", line.c_str()), std::fflush(stdout);
}

std::string row(const char* what, double seconds, double flops, double rate) {
    char text[160];
    std::snprintf(text, sizeof text, "  %-38s %9.4f s %8.1f Gflop/s %5.0f %% of matrix products", what, seconds, flops / seconds / 1e9,
                  100 * flops / seconds / rate);
    return text;
}

/// Bytes of the busiest rank, and what ranks move at least on average.
struct Bytes {
    std::int64_t sent = 0, planned = 0, bound = 0;
};

void print_bytes(const World& world, const std::string& what, Bytes bytes) {
    char text[200];
    std::snprintf(text, sizeof text, "  %-38s %12lld bytes sent, planned %lld, bound %lld, ratio %.2f", what.c_str(),
                  static_cast<long long>(bytes.sent), static_cast<long long>(bytes.planned), static_cast<long long>(bytes.bound),
                  bytes.bound > 0 ? static_cast<double>(bytes.sent) / static_cast<double>(bytes.bound) : 0);
    print(world, text);
}

/// The bytes of steps, and their sums.
void print_steps(const World& world, const std::vector<arges::TuckerStep>& steps) {
    Bytes sum;
    for (const auto& step : steps) {
        const Bytes bytes{step.sent_bytes_max, step.planned_bytes_max, step.bound_bytes};
        print_bytes(world, "mode " + std::to_string(step.mode + 1), bytes);
        sum = {sum.sent + bytes.sent, sum.planned + bytes.planned, sum.bound + bytes.bound};
    }
    print_bytes(world, "all steps", sum);
}

/// What one sweep of CP, ST-HOSVD by either kernel, and an iteration of HOOI move.
template <class T>
void count_bytes(const World& world, const Lengths& lengths, int components, int rank) {
    Tensor<T> X(world, lengths, "X");
    X.fill_random(3, T(0), T(1));
    arges::CpOptions cp;
    cp.rank = components;
    cp.tolerance = 0;
    cp.max_iterations = 2;
    const auto found = arges::cp_decompose<T>(X, cp);
    print(world, text_of(lengths) + " on a grid of " + found.grid + ": CP-ALS of rank " + std::to_string(components));
    print_bytes(world, "a sweep", {found.sent_bytes_max, found.planned_bytes_max, found.sweep_bound_bytes});
    arges::TuckerOptions tucker;
    tucker.ranks.assign(lengths.size(), rank);
    for (auto kernel : {arges::TuckerKernel::gram, arges::TuckerKernel::qr}) {
        tucker.kernel = kernel;
        print(world, "ST-HOSVD to " + std::to_string(rank) + (kernel == arges::TuckerKernel::gram ? ", Gram matrices" : ", QR"));
        print_steps(world, arges::tucker_decompose(X, tucker).steps);
    }
    tucker.kernel = arges::TuckerKernel::gram;
    tucker.method = arges::TuckerMethod::hooi;
    tucker.tolerance = 0;
    tucker.max_iterations = 2;
    auto steps = arges::tucker_decompose(X, tucker).steps;
    std::erase_if(steps, [](const auto& step) { return step.iteration < 2; });
    print(world, "second iteration of HOOI");
    print_steps(world, steps);
}

/// One product for each mode, each as a statement.
template <class T>
double statement_seconds(const Tensor<T>& X, int rank) {
    const std::string letters = std::string("abcdefgh").substr(0, static_cast<std::size_t>(X.order()));
    std::vector<Tensor<T>> factors, results;
    for (auto n : X.extents()) {
        factors.emplace_back(X.world(), Lengths{n, rank}, "A");
        factors.back().fill_random(7);
        results.emplace_back(X.world(), Lengths{n, rank}, "M");
    }
    const auto sweep = [&] {
        for (std::size_t m = 0; m < letters.size(); ++m) {
            arges::Expression<T> product = X[letters];
            for (std::size_t k = 0; k < letters.size(); ++k)
                if (k != m) product = product * factors[k][std::string(1, letters[k]) + "r"];
            results[m][std::string(1, letters[m]) + "r"] = product;
        }
    };
    sweep();
    return least_seconds(3, sweep);
}

template <class T>
void measure_cp(const World& world, const Lengths& lengths, int rank, double rate) {
    Tensor<T> X(world, lengths, "X");
    X.fill_random(3, T(0), T(1));
    print(world, "CP-ALS " + text_of(lengths) + " of rank " + std::to_string(rank) + (sizeof(T) == 4 ? ", float" : ", double"));
    arges::CpOptions options;
    options.rank = rank;
    options.tolerance = 0;
    options.max_iterations = 6;
    double best = std::numeric_limits<double>::infinity();
    const auto result = arges::cp_decompose<T>(X, options, [&](const arges::CpIteration& it, const auto&) {
        if (it.number > 1) best = std::min(best, it.seconds);
    });
    const double flops = 2 * size_of(lengths) * rank;
    print(world, row("sweep with a dimension tree", best, 2 * flops, rate));
    const double naive = statement_seconds(X, rank);
    print(world, row("MTTKRP for each mode by statements", naive, static_cast<double>(lengths.size()) * flops, rate));
    char text[160];
    std::snprintf(text, sizeof text, "  ratio %.2f", naive / best);
    print(world, text);
    print_bytes(world, "a sweep", {result.sent_bytes_max, result.planned_bytes_max, result.sweep_bound_bytes});
}

/// Flops of ST-HOSVD in the order of its steps.
double tucker_flops(const Lengths& lengths, int rank, const std::vector<arges::TuckerStep>& steps) {
    double flops = 0, size = size_of(lengths);
    for (const auto& step : steps) {
        const auto n = static_cast<double>(lengths[static_cast<std::size_t>(step.mode)]);
        flops += n * size + 2 * rank * size;
        size *= rank / n;
    }
    return flops;
}

template <class T>
void measure_tucker(const World& world, const Lengths& lengths, int rank, double rate) {
    Tensor<T> X(world, lengths, "X");
    X.fill_random(3, T(0), T(1));
    print(world,
          "ST-HOSVD " + text_of(lengths) + " to " + std::to_string(rank) + " in each mode" + (sizeof(T) == 4 ? ", float" : ", double"));
    arges::TuckerOptions options;
    options.ranks.assign(lengths.size(), rank);
    std::vector<arges::TuckerStep> steps;
    const double seconds = least_seconds(4, [&] { steps = arges::tucker_decompose(X, options).steps; });
    print(world, row("all steps", seconds, tucker_flops(lengths, rank, steps), rate));
    for (const auto& step : steps) {
        char text[200];
        std::snprintf(text, sizeof text, "  mode %d: move %.4f s, Gram matrix %.4f s, eigenvectors %.4f s, product %.4f s", step.mode + 1,
                      step.move_seconds, step.gram_seconds, step.solve_seconds, step.product_seconds);
        print(world, text);
    }
    print_steps(world, steps);
    options.method = arges::TuckerMethod::hooi;
    options.max_iterations = 3;
    options.tolerance = 0;
    double iteration = 0;
    for (int repeat = 0; repeat < 2; ++repeat) iteration = arges::tucker_decompose(X, options).seconds_per_iteration;
    const auto n = lengths.size();
    print(world, row("an iteration of HOOI", iteration, 4.0 * rank * size_of(lengths), rate) +
                     (n > 2 ? " (flops of the two products with the tensor)" : ""));
}

template <class T>
void count_all_bytes(const World& world) {
    count_bytes<T>(world, {300, 300, 300}, 32, 30);
    count_bytes<T>(world, {60, 60, 60, 60}, 16, 10);
    count_bytes<T>(world, {512, 120, 400}, 32, 20);
}

template <class T>
void measure(const World& world, bool cp, bool tucker, std::int64_t share) {
    const double rate = gemm_rate<T>(world);
    char text[80];
    std::snprintf(text, sizeof text, "%lld ranks, %s: matrix products at %.1f Gflop/s in all", static_cast<long long>(world.size()),
                  sizeof(T) == 4 ? "float" : "double", rate / 1e9);
    print(world, text);
    if (cp) {
        measure_cp<T>(world, {400 / share, 400 / share, 400 / share}, 32, rate);
        measure_cp<T>(world, {100 / share, 100 / share, 100 / share, 100 / share}, 16, rate);
    }
    if (tucker) {
        measure_tucker<T>(world, {300 / share, 300 / share, 300 / share}, 30 / share, rate);
        measure_tucker<T>(world, {60 / share, 60 / share, 60 / share, 60 / share}, 10 / share, rate);
    }
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    {
        const World world;
        const auto has = [&](const char* word) {
            return std::any_of(argv + 1, argv + argc, [&](const char* a) { return std::strcmp(a, word) == 0; });
        };
        const bool bytes = has("bytes"), all = !has("cp") && !has("tucker") && !bytes;
        const bool cp = has("cp") || all, tucker = has("tucker") || all;
        const auto run = [&](auto zero) {
            using T = decltype(zero);
            if (bytes) count_all_bytes<T>(world);
            if (cp || tucker) measure<T>(world, cp, tucker, has("small") ? 5 : 1);
        };
        if (has("double") || !has("float")) run(0.0);
        if (has("float") || !has("double")) run(0.0F);
    }
    MPI_Finalize();
}
