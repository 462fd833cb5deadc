#include "plan/report/plan_report.hpp"

#include "support/contractions.hpp"
#include "support/random_network.hpp"
#include "topology/unfold.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace arges::test {
namespace {

/// A product of tensors in the layouts that new ones get.
struct NewProduct {
    Product spec;

    NewProduct(const std::vector<NetworkOperand>& factors, const std::vector<int>& output, const std::vector<std::int64_t>& extents,
               const Torus& torus) {
        const auto grid = unfold(torus);
        spec.label_extents = extents;
        LabelTerm identity;
        for (std::size_t l = 0; l < extents.size(); ++l) {
            spec.label_names.emplace_back(1, static_cast<char>('a' + l));
            identity.image.push_back(static_cast<int>(l));
        }
        spec.terms = {identity};
        for (const auto& factor : factors) spec.factors.push_back(operand(grid, factor, "A" + std::to_string(spec.factors.size() + 1)));
        spec.output = operand(grid, {output, Symmetry::none(static_cast<int>(output.size()))}, "R");
    }

    Operand operand(const RankGrid& grid, const NetworkOperand& factor, const std::string& name) const {
        std::vector<std::int64_t> extents;
        for (int l : factor.labels) extents.push_back(spec.label_extents[static_cast<std::size_t>(l)]);
        return {default_layout(grid, extents, factor.symmetry), factor.labels, false, name};
    }

    PlanReport report(const PlanOptions& options = {}) const { return plan_report(plan_product(spec, options), spec, options); }
};

/// R(ia) = X(ijk) B(ja) C(ka), labels i, j, k, a = 0, 1, 2, 3.
NewProduct mttkrp(std::int64_t n, std::int64_t r, const Torus& torus) {
    const auto matrix = Symmetry::none(2);
    return {{{{0, 1, 2}, Symmetry::none(3)}, {{1, 3}, matrix}, {{2, 3}, matrix}}, {0, 3}, {n, n, n, r}, torus};
}

/// Bytes of tensors of 2^60 elements are more than integers have: they end at 2^63 - 1, and never become negative, which would
/// fit into any memory.
TEST(PlanReport, EndsAtTheLargestNumbers) {
    const auto six = Symmetry::none(6);
    const std::vector<std::int64_t> extents(9, 1024);
    for (std::int64_t ranks : {1, 2, 64}) {
        SCOPED_TRACE(ranks);
        const std::vector<NetworkOperand> factors{{{0, 1, 2, 3, 4, 5}, six}, {{3, 4, 5, 6, 7, 8}, six}};
        const NewProduct product(factors, {0, 1, 2, 6, 7, 8}, extents, Torus({ranks}));
        const auto report = product.report();
        const auto whole = 3 * 8 * std::pow(2.0, 60) / static_cast<double>(ranks);
        EXPECT_GE(static_cast<double>(report.tensor_bytes), std::min(0.99 * whole, 9.2e18));
        for (auto bytes : {report.bytes, report.bytes_sent, report.bytes_total, report.peak_bytes}) EXPECT_GE(bytes, 0);
        for (const auto& step : report.steps) EXPECT_GE(step.working_bytes, 0);
    }
}

TEST(PlanReport, GivesTheBoundsOfMttkrp) {
    struct Case {
        std::int64_t ranks, n, r;
        double bytes;  // from an independent solver
    };
    for (const auto& c : {Case{4, 192, 24, 42021}, Case{8, 192, 24, 41472}, Case{16, 192, 24, 36976}, Case{4096, 8192, 192, 2350080}}) {
        const auto report = mttkrp(c.n, c.r, Torus({c.ranks})).report();
        EXPECT_NEAR(report.at_once.memory_independent_bytes, c.bytes, 1.0) << c.ranks;
        ASSERT_EQ(report.steps.size(), 1U);
        EXPECT_EQ(report.steps[0].kind, StepKind::fused);
        EXPECT_NEAR(report.steps[0].bounds.memory_independent_bytes, c.bytes, 1.0);
        EXPECT_GE(static_cast<double>(report.bytes), c.bytes - 1);
        EXPECT_LE(static_cast<double>(report.bytes), 1.4 * c.bytes);
    }
}

/// Uncapped, the intensity would be S^(2/3)/3; with few columns it is their number.
TEST(PlanReport, CapsTilesByTheExtents) {
    auto bounds_of = [](const NewProduct& product) { return step_bounds(bounded_step(product.spec), {}); };
    const auto bounds = bounds_of(mttkrp(1024, 24, Torus({8})));
    EXPECT_NEAR(bounds.intensity, 24, 0.1);
    ASSERT_EQ(bounds.tiles.size(), 4U);
    EXPECT_NEAR(bounds.tiles[3].length, 24, 1e-6);
    const auto free = bounds_of(mttkrp(1 << 20, 1 << 20, Torus({8})));
    EXPECT_NEAR(free.intensity, std::pow(double(1 << 20), 2.0 / 3) / 3, 0.01);
}

TEST(PlanReport, KnowsWhatLittleMemoryCosts) {
    const auto matrix = Symmetry::none(2);
    const std::int64_t n = 32768;
    const NewProduct product({{{0, 1}, matrix}, {{1, 2}, matrix}}, {0, 2}, {n, n, n}, Torus({512}));
    const double owned = 3.0 * n * n / 512 * 8;
    PlanOptions options;
    for (const auto& [share, megabytes] : {std::pair(1.5, 282.0), std::pair(2.0, 209.0)}) {  // matmul with S words: 2n^3/(P sqrt S) - S
        options.memory_limit = static_cast<std::int64_t>((share - 1) * owned);
        const auto bounds = step_bounds(bounded_step(product.spec), options);
        EXPECT_GE(bounds.memory_dependent_bytes, megabytes * 1e6);
        EXPECT_NEAR(bounds.memory_independent_bytes, 352321536, 1);
    }
    options.memory_limit = std::int64_t{1} << 62;
    EXPECT_EQ(step_bounds(bounded_step(product.spec), options).memory_dependent_bytes, 0);
}

/// Of each step and of all steps, with and without symmetry, also where there are more ranks than work.
TEST(PlanReport, NeverUndercutsABound) {
    int reports = 0;
    for (std::uint64_t seed = 1; seed <= 60; ++seed)
        for (std::int64_t ranks = 1; ranks <= 16; ++ranks) {
            std::mt19937_64 random(seed);
            RandomNetwork network(random, 1 + static_cast<int>(seed % 4), seed % 3 == 0);
            const std::int64_t factor = seed % 5 == 0 ? 1 : 3;
            for (auto& n : network.extents) n *= factor;
            const NewProduct product(network.factors, network.output, network.extents, Torus({ranks}));
            const auto report = product.report();
            ++reports;
            std::int64_t sum = 0;
            for (const auto& step : report.steps) {
                EXPECT_GE(static_cast<double>(step.bytes) * (1 + 1e-9), step.bounds.bytes())
                    << "seed " << seed << " ranks " << ranks << "\n"
                    << explain(step);
                EXPECT_TRUE(ranks > 1 || step.bytes == 0);
                sum += step.bytes;
            }
            EXPECT_LE(report.bytes, sum);
            EXPECT_GE(static_cast<double>(report.bytes) * (1 + 1e-9), report.bound_bytes);
            EXPECT_GT(report.seconds, 0);
        }
    EXPECT_GT(reports, 900);
}

/// Packed groups count packed, and broken ones do not raise the bound above what a plan needs.
TEST(PlanReport, BoundsContractionsWithSymmetry) {
    for (const auto mapping : {GroupMapping::packed, GroupMapping::blocks})
        for (const auto& [name, text] : contraction_cases(8, 4, 5))
            for (std::int64_t ranks = 1; ranks <= 16; ++ranks) {
                PlanOptions options;
                options.group_mapping = mapping;
                const auto plan = plan_contraction(pairwise_product(text, unfold(Torus({ranks})), mapping), options);
                const auto report = step_report(plan, options);
                EXPECT_GE(static_cast<double>(report.bytes) * (1 + 1e-9), report.bounds.bytes()) << name << "\n" << explain(report);
            }
}

TEST(PlanReport, IsExplained) {
    const auto text = explain(mttkrp(192, 24, Torus({8})).report());
    for (const char* part : {"R[ad] <- A1[abc] * A2[bd] * A3[cd]", "fused on one grid of 8 ranks:", "A1 stays", "planned per rank",
                             "lower bound per rank (memory-independent) 41,472 bytes", "lower bound per rank (memory-dependent) 0 bytes",
                             "intensity", "predicted seconds"})
        EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

}  // namespace
}  // namespace arges::test
