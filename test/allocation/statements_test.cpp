// Statements: each large allocation fails on the last rank, also in the middle of a step.
#include "allocation/failing_allocations.hpp"

#include "arges/arges.hpp"

#include <cmath>
#include <gtest/gtest.h>

namespace arges::test {
namespace {

class StatementAllocations : public testing::Test {
protected:
    World world{};
    Tensor<double> A{world, {90, 90, 20}, "A"}, B{world, {90, 90, 20}, "B"}, C{world, {90, 90}, "C"}, D{world, {90, 90}, "D"};
    Tensor<double> S{world, {24, 24, 24, 24}, {SY, NS, SY, NS}, "S"}, X{world, {24, 24, 24, 24}, "X"};

    void SetUp() override {
        A.fill_random(1, -1, 1);
        B.fill_random(2, -1, 1);
        D.fill_random(2, -1, 1);
        S.fill_random(3, -1, 1);
    }
    void expect(const std::string& name, const std::function<void()>& run) {
        expect_agreement({name, [] {}, run});
    }
};

TEST_F(StatementAllocations, Movements) {
    expect("permutation", [&] { C["ij"] = D["ji"]; });
    expect("unpacking", [&] { X["abij"] = S["iajb"]; });
    expect("symmetrisation", [&] { S["abij"] = symmetrized(X["abij"]); });
    expect("own left side", [&] { C["ij"] += C["ji"]; });
}

TEST_F(StatementAllocations, Products) {
    expect("matrix product", [&] { C["ij"] = A["ikl"] * B["kjl"]; });
    expect("two terms", [&] { C["ij"] = A["ikl"] * B["kjl"] + A["kil"] * D["kj"] * B["jkl"]; });
    expect("chain", [&] { C["ij"] = D["ik"] * D["kl"] * D["lj"]; });
    expect("broken pairs", [&] { X["abij"] = S["aeim"] * X["ebmj"]; });
}

TEST_F(StatementAllocations, Panels) {
    Tensor<double> U(world, {64, 256}, "U"), V(world, {256, 64}, "V"), W(world, {64, 64}, "W");
    U.fill_random(1, -1, 1);
    V.fill_random(1, -1, 1);
    world.set_memory_limit(world.memory_in_use() + 100000);
    expect("panels", [&] { W["ij"] = U["ik"] * V["kj"]; });
    world.set_memory_limit(std::int64_t{1} << 40);
}

/// Arrays of tensors, workspace and buffers above 1 MiB.
TEST_F(StatementAllocations, LargeArrays) {
    const auto n = static_cast<std::int64_t>(380 * std::sqrt(static_cast<double>(world.size())));
    Tensor<double> U(world, {n, n}, "U"), V(world, {n, n}, "V");
    U.fill_random(1, -1, 1);
    expect("Tensor", [&] { Tensor<double>(world, {n, n}, "N"); });
    expect("copy", [&] { Tensor<double> N(U); });
    expect("transposition", [&] { V["ij"] = U["ji"]; });
    expect("slice", [&] { (void)U.slice({0, 0}, {n, n}); });
    expect("own left side", [&] { V["ij"] += V["ji"]; });
}

}  // namespace
}  // namespace arges::test
