// What statements with sparse tensors take, by the account of the world and of the heap, against the memory limit.
#include "arges/arges.hpp"
#include "memory/counted_memory.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <string>
#include <vector>

namespace arges::test {
namespace {

/// Blocks that no account has: what objects are made of, messages of agreement, what MPI allocates when it is first used.
constexpr std::int64_t small_statement_change = 900000;

class SparseStatementsMemory : public ::testing::Test {
protected:
    SparseTensor<double> random_matrix(std::int64_t rows, std::int64_t columns, std::int64_t count, unsigned seed,
                                       const Symmetry& symmetry = {}) {
        SparseTensor<double> result(world_, {rows, columns}, symmetry);
        std::mt19937_64 random(seed + 1000 * static_cast<unsigned>(world_.rank()));
        std::vector<std::int64_t> tuples;
        std::vector<double> values;
        for (std::int64_t k = 0; k < count / world_.size(); ++k) {
            const auto i = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(rows));
            const auto j = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(columns));
            if (!symmetry.trivial() && i == j) continue;
            tuples.insert(tuples.end(), {i, j});
            values.push_back(static_cast<double>(random() % 7) + 1);
        }
        result.write_at(tuples, values, Duplicates::keep_first);
        return result;
    }

    /// Under limits from where the statement is refused to where it has all that it wants.
    void expect_within_limits(const std::string& name, const std::function<void()>& statement, std::int64_t largest = 16'000'000) {
        const auto limit = world_.memory_limit();
        bool has_run = false;
        for (double room = 200'000; room < static_cast<double>(largest); room *= 1.5) {
            const auto in_use = world_.memory_in_use();
            world_.set_memory_limit(in_use + static_cast<std::int64_t>(room));
            world_.reset_peak();
            const auto peak_before = world_.memory_peak();
            bool is_done = true;
            const auto taken = most_held([&] {
                try {
                    statement();
                } catch (const OutOfMemory&) {
                    is_done = false;
                }
            });
            const auto peak = world_.memory_peak();
            world_.set_memory_limit(limit);
            if (std::getenv("ARGES_PRINT_MEMORY") != nullptr && world_.rank() == 0)
                std::printf("%s room %.0f: %s, account %.2f, heap %.2f\n", name.c_str(), room, is_done ? "done" : "refused",
                            static_cast<double>(peak - in_use) / room, static_cast<double>(taken) / room);
            EXPECT_LE(peak, std::max(peak_before, in_use + static_cast<std::int64_t>(room))) << name << " with " << room;
            EXPECT_LE(taken, static_cast<std::int64_t>(room) + small_statement_change) << name << " with " << room;
            has_run = has_run || is_done;
        }
        EXPECT_TRUE(has_run) << name;
    }

    World world_;
};

TEST_F(SparseStatementsMemory, ProductsKeepWithinTheLimit) {
    const std::int64_t n = 3000, count = 20000;
    const auto A = random_matrix(n, n, count, 1), B = random_matrix(n, n, count, 2), M = random_matrix(n, n, count, 3);
    const auto S = random_matrix(n, n, count / 2, 4, Symmetry::parse("ij", "sym(i,j)"));
    expect_within_limits("product", [&] {
        SparseTensor<double> C(world_, {n, n});
        C["ik"] = A["ij"] * B["jk"];
    });
    expect_within_limits("masked", [&] {
        SparseTensor<double> C(world_, {n, n});
        C["ik"] = A["ij"] * B["jk"] * M["ik"];
    });
    expect_within_limits("symmetric", [&] {
        SparseTensor<double> C(world_, {n, n});
        C["ik"] = S["ij"] * A["jk"];
    });
    expect_within_limits("symmetric to a dense vector", [&] {
        Tensor<double> x(world_, {n}), y(world_, {n});
        x.fill(1);
        y["i"] = S["ij"] * x["j"];
    });
}

/// Factors of other types are converted where they arrive.
TEST_F(SparseStatementsMemory, MixedProductsKeepWithinTheLimit) {
    const std::int64_t n = 3000, count = 20000, columns = 6;
    const auto A = random_matrix(n, n, count, 1), B = random_matrix(n, n, count, 2);
    const SparseTensor<float> F(A.converted(ElementType::float32));
    Tensor<float> X(world_, {columns, n});
    X.fill_random(3);
    expect_within_limits("sparse", [&] {
        SparseTensor<double> C(world_, {n, n});
        C["ik"] = F["ij"] * B["jk"];
    });
    expect_within_limits("masked", [&] {
        SparseTensor<double> C(world_, {n, n});
        C["ik"] = A["ij"] * B["jk"] * F["ik"];
    });
    expect_within_limits("dense", [&] {
        Tensor<std::complex<double>> y(world_, {n, columns});
        y["ir"] = conj(F["ji"]) * X["rj"];
    });
}

TEST_F(SparseStatementsMemory, SumsAndFunctionsKeepWithinTheLimit) {
    const std::int64_t n = 3000, count = 40000;
    const auto A = random_matrix(n, n, count, 1), B = random_matrix(n, n, count, 2);
    SparseTensor<float> F(world_, {n, n});
    F["ij"] = map([](double x) { return static_cast<float>(x); }, A["ij"]);
    expect_within_limits("sum", [&] {
        SparseTensor<double> C(world_, {n, n});
        C["ij"] = A["ij"] + B["ji"];
    });
    expect_within_limits("other type", [&] {
        SparseTensor<double> C(world_, {n, n});
        C["ij"] = F["ij"];
        C["ij"] += F["ji"];
    });
    expect_within_limits("antisymmetrized", [&] {
        SparseTensor<double> C(world_, {n, n}, "ij", "antisym(i,j)");
        C["ij"] = antisymmetrized(A["ij"]);
    });
    const auto few = random_matrix(n, n, count / 5, 3);
    expect_within_limits("symmetric product", [&] {
        SparseTensor<double> C(world_, {n, n}, "ij", "sym(i,j)");
        C["ij"] = symmetrized(few["ik"] * few["jk"]);
    });
    expect_within_limits("scaled", [&] {
        SparseTensor<double> C(world_, {n, n});
        C["ij"] = 2 * A["ij"] + C["ij"];
        C["ij"] += A["ij"];
    });
    expect_within_limits("map", [&] {
        SparseTensor<double> C(world_, {n, n});
        C["ij"] = map([](double x, double y) { return x + y; }, A["ij"], B["ji"]);
    });
    expect_within_limits("complement", [&] {
        SparseTensor<double> C(world_, {n, n});
        C["ij"] = where_not(B["ij"], A["ij"]);
    });
}

}  // namespace
}  // namespace arges::test
