// Statements with 1, 2 and 4 threads of each rank. Elements are small integers, so that every result is exact, whatever the order
// of sums.
#include "arges/arges.hpp"
#include "support/threads.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace arges::test {
namespace {

class StatementThreads : public testing::Test {
protected:
    World world{};

    /// Small integers with the tensor's symmetry.
    void fill(Tensor<double>& tensor, std::uint64_t seed) const {
        tensor.fill_random(seed, -4, 4);
        tensor.for_each_local([](Index, double& value) { value = std::round(value); });
    }
    /// The result of a statement with one thread, and the same with more.
    void expect(const std::string& name, Tensor<double>& result, const std::function<void()>& statement) const {
        std::vector<double> one;
        for (int threads : thread_numbers) {
            const Threads scope(threads);
            result.fill(0);
            statement();
            const auto all = result.gather();
            if (threads == 1) one = all;
            EXPECT_EQ(all, one) << name << ", " << threads << " threads";
        }
        EXPECT_GT(result.norm(), 0) << name;
    }
};

TEST_F(StatementThreads, OfPlainTensors) {
    Tensor<double> A(world, {60, 50, 40}, "A"), B(world, {50, 40, 70}, "B"), C(world, {60, 70}, "C"), P(world, {40, 60, 50}, "P"),
        v(world, {40}, "v");
    fill(A, 1);
    fill(B, 2);
    fill(v, 3);
    expect("permutation", P, [&] { P["kij"] = 2.0 * A["ijk"]; });
    expect("product", C, [&] { C["ij"] = A["ikl"] * B["klj"]; });
    expect("product of three", C, [&] { C["ij"] = A["ikl"] * B["klj"] * v["l"]; });
    expect("elementwise", P, [&] { P["kij"] = A["ijk"] * v["k"]; });
    expect("sum", v, [&] { v["k"] = A["ijk"]; });
}

TEST_F(StatementThreads, OfSymmetricTensors) {
    const Symmetry pairs(4, symmetric({product({leaf(0), leaf(2)}), product({leaf(1), leaf(3)})}));
    Tensor<double> S(world, {120, 120}, {SY, NS}, "S"), x(world, {120}, "x"), y(world, {120}, "y"), D(world, {120, 120}, "D");
    Tensor<double> V(world, {18, 18, 18, 18}, pairs, "V"), T(world, {18, 18, 18, 18}, pairs, "T");
    Tensor<double> R(world, {18, 18, 18, 18}, pairs, "R");
    Tensor<double> W(world, {18, 18, 18, 18}, "W"), F(world, {18, 18}, "F"), J(world, {18, 18}, "J");
    Tensor<double> U(world, {24, 24, 24, 24}, {AS, NS, AS, NS}, "U"), Z(world, {24, 24, 24, 24}, {AS, NS, AS, NS}, "Z");
    fill(S, 1);
    fill(x, 2);
    fill(V, 3);
    fill(T, 4);
    fill(F, 5);
    fill(U, 6);
    expect("symmetric matrix times vector", y, [&] { y["i"] = S["ij"] * x["j"]; });
    expect("unpacking", D, [&] { D["ij"] = S["ij"]; });
    expect("square", D, [&] { D["ij"] = S["ik"] * S["kj"]; });
    expect("unpacking of a pair of pairs", W, [&] { W["aibj"] = V["abij"]; });
    expect("by rows", J, [&] { J["ai"] = V["abij"] * F["bj"]; });
    expect("joint pair symmetry", R, [&] { R["abij"] = V["abef"] * T["efij"]; });
    expect("weights", Z, [&] { Z["abij"] = U["abef"] * U["efij"]; });
}

}  // namespace
}  // namespace arges::test
