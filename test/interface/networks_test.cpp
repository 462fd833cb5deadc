// Products of many tensors: order, fusion and grid are chosen by the planner, the result is that of the reference.
#include "arges/arges.hpp"
#include "interface/dense/tensor_state.hpp"
#include "support/program_run.hpp"
#include "support/random_network.hpp"
#include "support/seeds.hpp"
#include "support/tensor_checks.hpp"
#include "support/turned_slots.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <numeric>

namespace arges::test {
namespace {

TEST(Networks, EqualTheReference) {
    const World world;
    double slowest = 0;
    for_each_seed(5000, from_environment("ARGES_FUZZ_COUNT", 500), [&](std::mt19937_64& random) {
        const auto operands = static_cast<int>(random_integer(random, 3, 12));
        const RandomNetwork network(random, operands, random_integer(random, 0, 2) == 0);
        SCOPED_TRACE(network.text());
        Expression<double> right(2.0);
        std::vector<Tensor<double>> factors;
        for (std::size_t f = 0; f < network.factors.size(); ++f) {
            const auto& symmetry = network.factors[f].symmetry;
            factors.push_back(distributed<double>(world, network.values[f], symmetry, "T" + std::to_string(f)));
            if (symmetry.trivial() && f % 3 == 0) factors[f] = with_turned_slots(factors[f], f);
            right = right * factors[f][RandomNetwork::letters(network.factors[f].labels)];
        }
        std::vector<std::int64_t> extents;
        for (int l : network.output) extents.push_back(network.extents[static_cast<std::size_t>(l)]);
        Tensor<double> C(world, extents, "C");
        C.fill(1);
        const auto left = C[RandomNetwork::letters(network.output)];
        const auto start = std::chrono::steady_clock::now();
        left.explain(right, 3.0);
        slowest = std::max(slowest, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
        auto expected = network.reference();
        for (auto& v : expected.data) v = 2.0 * v + 3.0;
        auto target = left;
        target.assign(right, 3.0);
        expect_equal(C, expected);
        for (std::size_t f = 0; f < factors.size(); ++f) expect_equal(factors[f], network.values[f]);
        EXPECT_EQ(world.last_report().bytes_sent, world.last_report().bytes_planned);
    });
    RecordProperty("slowest_plan_seconds", std::to_string(slowest));
    EXPECT_LT(slowest, 5) << "planning must stay below a second on a machine that has nothing else to do";
}

/// What the report promises covers the workspace and all new places together.
TEST(Networks, TakeNoMoreMemoryThanTheyReport) {
    const World world;
    Tensor<double> X(world, {16, 16, 16}, "X"), A(world, {16, 16}, "A"), B(world, {16, 16}, "B"), C(world, {16, 16, 16}, "C");
    const std::vector<const Tensor<double>*> tensors{&X, &A, &B, &C};
    std::vector<std::string> before;
    for (const auto* t : tensors) before.push_back(t->layout_to_string());
    C["ibc"] = X["ijk"] * A["jb"] * B["kc"];
    std::int64_t moved = 0;
    for (std::size_t t = 0; t < tensors.size(); ++t)
        if (tensors[t]->layout_to_string() != before[t])
            moved += tensors[t]->state()->layout.max_local_size() * static_cast<std::int64_t>(sizeof(double));
    EXPECT_LE(world.state()->workspace().capacity() + moved, world.last_report().peak_memory_bytes);
    if (world.size() == 4 || world.size() == 8) {
        EXPECT_GT(moved, 0);
    }
}

/// A statement that runs often moves its large tensor to where later runs need not move so much; the results stay.
TEST(Networks, MoveALastingTensorForTheSakeOfLaterRuns) {
    const World world;
    Tensor<double> X(world, {16, 16, 16, 16}, "X"), A(world, {16, 12}, "A"), B(world, {16, 12}, "B"), C(world, {16, 12}, "C");
    Tensor<double> R(world, {16, 12, 12, 12}, "R"), S(world, {12, 12, 12, 16}, "S");
    for (auto* tensor : {&X, &A, &B, &C})
        tensor->fill([&](Index x) { return static_cast<double>((7 * x[0] + 3 * x[1] + 2 * x.back()) % 5); });
    const auto product = X["ijkl"] * A["jb"] * B["kc"] * C["ld"];
    R["ibcd"] = product;
    const auto wanted = R.gather();
    std::vector<std::int64_t> bytes;
    for (int run = 0; run < 70; ++run) {
        R["ibcd"] = product;
        EXPECT_EQ(world.last_report().bytes_sent, world.last_report().bytes_planned);
        auto sent = world.last_report().bytes_sent;
        bytes.push_back(world.state()->communicator().maximum(sent));
    }
    EXPECT_EQ(R.gather(), wanted);
    if (world.size() == 4) {
        EXPECT_LT(3 * bytes.back(), bytes[1]);
        EXPECT_LT(std::accumulate(bytes.begin(), bytes.end(), std::int64_t{0}), 70 * bytes[1]);
    }
    // Another statement wants it elsewhere: it goes to and fro a few times only.
    for (int run = 0; run < 60; ++run) {
        R["ibcd"] = product;
        S["bcdl"] = X["ijkl"] * A["ib"] * B["jc"] * C["kd"];
    }
    EXPECT_EQ(R.gather(), wanted);
    EXPECT_LE(X.state()->moves, 8);
}

/// Where planning takes longer than all runs, the first plan stays, and nothing is moved for the sake of later ones.
TEST(Networks, KeepTheirPlanWherePlanningDoesNotPay) {
    const auto file = ::testing::TempDir() + "arges_slow_planning_" + std::to_string(World().rank()) + ".conf";
    std::ofstream(file) << "planning_seconds = 1000\n";
    const MachineFile setting(file);
    const World world;
    std::remove(file.c_str());
    Tensor<double> X(world, {16, 16, 16, 16}, "X"), A(world, {16, 12}, "A"), B(world, {16, 12}, "B"), C(world, {16, 12}, "C");
    Tensor<double> R(world, {16, 12, 12, 12}, "R");
    for (auto* tensor : {&X, &A, &B, &C}) tensor->fill_random(3);
    const auto product = X["ijkl"] * A["jb"] * B["kc"] * C["ld"];
    R["ibcd"] = product;
    const auto wanted = R.gather();
    for (int run = 0; run < 40; ++run) R["ibcd"] = product;
    EXPECT_EQ(R.gather(), wanted);
    EXPECT_EQ(X.state()->moves, 0);
}

/// One tensor in several places of a product wants to lie in several ways; it can follow one of them.
TEST(Networks, TakeOneTensorSeveralTimes) {
    const World world;
    for_each_seed(9000, 20, [&](std::mt19937_64& random) {
        const std::int64_t n = random_integer(random, 6, 14);
        const auto a = random_dense({n, n}, Symmetry::none(2), false, random);
        const auto A = distributed<double>(world, a, Symmetry::none(2), "A");
        Tensor<double> C(world, {n, n}, "C");
        static const std::vector<std::vector<int>> patterns{{0, 1, 1, 2, 2, 3}, {0, 1, 2, 1, 3, 2}, {1, 0, 2, 1, 2, 3}, {0, 1, 0, 1, 1, 3}};
        for (int repeat = 0; repeat < 5; ++repeat) {
            const auto& p = patterns[static_cast<std::size_t>(random_integer(random, 0, 3))];
            SCOPED_TRACE(RandomNetwork::letters(p) + " on n = " + std::to_string(n));
            C["ad"] =
                A[RandomNetwork::letters({p[0], p[1]})] * A[RandomNetwork::letters({p[2], p[3]})] * A[RandomNetwork::letters({p[4], p[5]})];
            expect_equal(C, dense_product({{a, {p[0], p[1]}}, {a, {p[2], p[3]}}, {a, {p[4], p[5]}}}, {0, 3}, {n, n, n, n}));
            expect_equal(A, a);
        }
    });
}

/// The cases that decompositions are made of, with extents that nothing divides.
TEST(Networks, OfDecompositionsEqualTheReference) {
    const World world;
    std::mt19937_64 random(1);
    const std::map<char, std::int64_t> extent{{'i', 5}, {'j', 4}, {'k', 7}, {'l', 3}, {'m', 2},
                                              {'a', 3}, {'b', 2}, {'c', 3}, {'d', 2}, {'e', 3}};
    for (const std::string text :
         {"ij,jk,kl->il", "ij,jk,kl,lm->im", "ijk,ja,ka->ia", "ijk,ia,ka->ja", "ijk,ia,ja->ka", "ijklm,ja,ka,la,ma->ia",
          "ijklm,ia,ja,la,ma->ka", "ijklm,ia,ja,ka,la->ma", "ijklm,jb,kc,ld,me->ibcde", "ik,ik,ikl,jl->ijkl", "ia,ja,ka->ijk"}) {
        SCOPED_TRACE(text);
        const auto arrow = text.find("->");
        std::vector<Tensor<double>> tensors;
        std::vector<DenseFactor> factors;
        std::vector<int> output;
        std::vector<std::int64_t> extents;
        for (char l = 'a'; l <= 'm'; ++l) extents.push_back(extent.count(l) > 0 ? extent.at(l) : 1);
        for (std::size_t begin = 0; begin < arrow;) {
            const auto end = std::min(text.find(',', begin), arrow);
            DenseFactor factor;
            std::vector<std::int64_t> shape;
            for (auto p = begin; p < end; ++p) {
                factor.labels.push_back(text[p] - 'a');
                shape.push_back(extent.at(text[p]));
            }
            factor.tensor = random_dense(shape, Symmetry::none(static_cast<int>(shape.size())), false, random);
            tensors.push_back(distributed<double>(world, factor.tensor, Symmetry::none(static_cast<int>(shape.size())), "T"));
            factors.push_back(std::move(factor));
            begin = end + 1;
        }
        for (auto p = arrow + 2; p < text.size(); ++p) output.push_back(text[p] - 'a');
        std::vector<const Tensor<double>*> operands;
        for (const auto& t : tensors) operands.push_back(&t);
        const auto expected = dense_product(factors, output, extents);
        for (int repeat = 0; repeat < 2; ++repeat) {
            expect_equal(einsum(text, operands), expected);
            EXPECT_EQ(world.last_report().bytes_sent, world.last_report().bytes_planned);
        }
    }
}

TEST(Einsum, DerivesTheOutputAndTakesDiagonals) {
    const World world;
    std::mt19937_64 random(2);
    const auto a = random_dense({3, 4}, Symmetry::none(2), false, random), b = random_dense({4, 5}, Symmetry::none(2), false, random);
    const auto s = random_dense({4, 4}, Symmetry::parse("ij", "sym(i,j)"), false, random);
    const auto A = distributed<double>(world, a, Symmetry::none(2), "A"), B = distributed<double>(world, b, Symmetry::none(2), "B");
    const auto S = distributed<double>(world, s, Symmetry::parse("ij", "sym(i,j)"), "S");
    const std::vector<std::int64_t> n{3, 4, 5};
    expect_equal(einsum("ij,jk", A, B), dense_product({{a, {0, 1}}, {b, {1, 2}}}, {0, 2}, n));
    expect_equal(einsum("kj, ik", B, A), dense_product({{a, {0, 1}}, {b, {1, 2}}}, {0, 2}, n));
    expect_equal(einsum("ba", A), dense_product({{a, {0, 1}}}, {1, 0}, n));
    expect_equal(einsum("ij->", A), dense_product({{a, {0, 1}}}, {}, n));
    expect_equal(einsum("jj", S), dense_product({{s, {1, 1}}}, {}, n));
    expect_equal(einsum("jj,ij->ji", S, A), dense_product({{s, {1, 1}}, {a, {0, 1}}}, {1, 0}, n));
    EXPECT_THROW(einsum("ij,jk->ik", A), InvalidArgument);
    EXPECT_THROW(einsum("ijk->ik", A), InvalidArgument);
    EXPECT_THROW(einsum("ij->ii", A), InvalidArgument);
    EXPECT_THROW(einsum("ij->iz", A), InvalidArgument);
    EXPECT_THROW(einsum("i1->i", A), InvalidArgument);
    EXPECT_THROW(einsum("ij,jk->ik", A, A), InvalidArgument);
}

}  // namespace
}  // namespace arges::test
