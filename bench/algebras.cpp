// Dense products under algebras of the user's, against loops written by hand.
//   algebras [REPETITIONS [EXTENT]]
// Prints one line per case: seconds of the loops and of the statement (medians of runs in turn) and their ratio. Run it on one rank with
// one thread: the loops have one.
#include <arges/arges.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace {

using arges::Index;
using arges::Tensor;
using arges::World;

struct MinPlus {
    using value_type = int;
    static constexpr int zero = 1 << 29, one = 0;
    static int add(int a, int b) { return a < b ? a : b; }
    static int multiply(int a, int b) { return a + b; }
};

struct MaxTimes {
    using value_type = double;
    static constexpr double zero = 0, one = 1;
    static double add(double a, double b) { return a > b ? a : b; }
    static double multiply(double a, double b) { return a * b; }
};

/// 24 bytes.
struct Dual {
    double value, first, second;
};
struct DualNumbers {
    using value_type = Dual;
    static constexpr Dual zero{0, 0, 0}, one{1, 0, 0};
    static Dual add(const Dual& a, const Dual& b) { return {a.value + b.value, a.first + b.first, a.second + b.second}; }
    static Dual multiply(const Dual& a, const Dual& b) {
        return {a.value * b.value, a.value * b.first + a.first * b.value, a.value * b.second + 2 * a.first * b.first + a.second * b.value};
    }
};

double seconds_of(const std::function<void()>& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

/// C = A * B with contiguous columns, in the order of loops that the compiler vectorizes.
template <class A>
void by_loops(std::int64_t n, const std::vector<typename A::value_type>& a, const std::vector<typename A::value_type>& b,
              std::vector<typename A::value_type>& c) {
    const auto size = static_cast<std::size_t>(n);
    std::fill(c.begin(), c.end(), A::zero);
    for (std::size_t j = 0; j < size; ++j)
        for (std::size_t k = 0; k < size; ++k) {
            const auto factor = b[k + size * j];
            for (std::size_t i = 0; i < size; ++i) c[i + size * j] = A::add(c[i + size * j], A::multiply(a[i + size * k], factor));
        }
}

template <class A, class Make>
void compare(const World& world, const std::string& name, std::int64_t n, int repetitions, Make&& make) {
    using T = typename A::value_type;
    Tensor<T> X(world, {n, n}), Y(world, {n, n}), Z(world, {n, n});
    X.fill([&](Index i) { return make(3 * i[0] + 7 * i[1]); });
    Y.fill([&](Index i) { return make(5 * i[0] + 2 * i[1]); });
    const auto a = X.gather(), b = Y.gather();
    std::vector<T> c(a.size(), A::zero);
    std::vector<double> loops, statements;
    for (int r = 0; r < repetitions; ++r) {
        loops.push_back(seconds_of([&] { by_loops<A>(n, a, b, c); }));
        statements.push_back(seconds_of([&] { arges::over<A>(Z["ij"]) = X["ik"] * Y["kj"]; }));
    }
    const auto mine = Z.gather();
    const bool same = std::equal(mine.begin(), mine.end(), c.begin(), [](const T& p, const T& q) {
        if constexpr (std::is_same_v<T, Dual>)
            return std::abs(p.value - q.value) <= 1e-9 * std::abs(q.value) && std::abs(p.second - q.second) <= 1e-9 * std::abs(q.second);
        else
            return p == q;
    });
    if (world.rank() == 0)
        std::printf("%-34s loops %8.4f s  statement %8.4f s  statement / loops %5.2f%s\n", name.c_str(), median(loops), median(statements),
                    median(statements) / median(loops), same ? "" : "  WRONG");
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    {
        const World world;
        const int repetitions = argc > 1 ? std::atoi(argv[1]) : 5;
        const std::int64_t n = argc > 2 ? std::atoll(argv[2]) : 1000, m = n * 3 / 5;
        const auto cube = [](std::int64_t extent) { return std::to_string(extent) + "^3"; };
        compare<MinPlus>(world, "min-plus of int, " + cube(n), n, repetitions, [](std::int64_t i) { return static_cast<int>(i % 1009); });
        compare<MaxTimes>(world, "max-times of double, " + cube(n), n, repetitions,
                          [](std::int64_t i) { return static_cast<double>(i % 1009) / 1009; });
        compare<DualNumbers>(world, "struct of 24 bytes, " + cube(m), m, repetitions, [](std::int64_t i) {
            return Dual{static_cast<double>(i % 13), static_cast<double>(i % 7), 1};
        });
        compare<DualNumbers>(world, "struct of 24 bytes, " + cube(m / 10), m / 10, repetitions, [](std::int64_t i) {
            return Dual{static_cast<double>(i % 13), static_cast<double>(i % 7), 1};
        });
    }
    MPI_Finalize();
    return 0;
}
