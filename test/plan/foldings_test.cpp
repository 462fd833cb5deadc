// Every folding of a torus (cyclops-2012, section 4.2) is a way to use its prime dimensions: one that is given several of them, one after
// the other, is their folding. So a search over the unfolded torus leaves no folding out.
#include "plan/product/plan_candidates.hpp"
#include "support/contractions.hpp"
#include "topology/unfold.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

namespace arges::test {
namespace {

/// Prime dimensions joined to fewer: by dimension of the folded grid, those that it consists of.
using Folding = std::vector<std::vector<int>>;

/// Every way to join dimensions that follow each other.
std::vector<Folding> foldings(const RankGrid& unfolded) {
    std::vector<Folding> result;
    const auto joints = static_cast<unsigned>(std::max(0, unfolded.dimensions() - 1));
    for (unsigned joined = 0; joined < 1U << joints; ++joined) {
        Folding folding;
        for (int t = 0; t < unfolded.dimensions(); ++t) {
            if (t == 0 || (joined >> static_cast<unsigned>(t - 1) & 1U) == 0) folding.emplace_back();
            folding.back().push_back(t);
        }
        result.push_back(std::move(folding));
    }
    return result;
}

RankGrid folded(const RankGrid& unfolded, const Folding& folding) {
    RankGrid grid;
    for (const auto& part : folding)
        grid.lengths.push_back(std::accumulate(part.begin(), part.end(), std::int64_t{1}, [&](std::int64_t product, int t) {
            return product * unfolded.lengths[static_cast<std::size_t>(t)];
        }));
    return grid;
}

std::vector<int> unfolded_list(const std::vector<int>& torus, const Folding& folding) {
    std::vector<int> result;
    for (const int t : torus) {
        const auto& part = folding[static_cast<std::size_t>(t)];
        result.insert(result.end(), part.begin(), part.end());
    }
    return result;
}

/// The same mapping in prime dimensions.
SlotMapping unfolded_mapping(SlotMapping mapping, const Folding& folding) {
    mapping.torus = unfolded_list(mapping.torus, folding);
    for (auto& list : mapping.torus_by_position) list = unfolded_list(list, folding);
    return mapping;
}

/// The same product with tensors where they are, in prime dimensions.
Product unfolded_product(Product spec, const RankGrid& grid, const Folding& folding) {
    const auto unfold_layout = [&](Operand& operand) {
        std::vector<SlotMapping> mapping;
        for (int s = 0; s < operand.layout.slots(); ++s) mapping.push_back(unfolded_mapping(operand.layout.mapping(s), folding));
        const Layout layout(grid, operand.layout.extents(), operand.layout.symmetry(), mapping);
        for (std::int64_t rank = 0; rank < grid.ranks(); ++rank)
            for (int s = 0; s < layout.slots(); ++s) ASSERT_EQ(layout.coordinate(rank, s), operand.layout.coordinate(rank, s));
        operand.layout = layout;
    };
    for (auto& factor : spec.factors) unfold_layout(factor);
    unfold_layout(spec.output);
    return spec;
}

/// Random dimensions for the axes, groups packed or in blocks.
std::vector<SlotMapping> random_mapping(const ProductPlan& unmapped, const RankGrid& grid, std::mt19937_64& random) {
    std::vector<std::vector<std::vector<int>>> torus;
    std::vector<bool> in_blocks;
    for (const auto& axis : unmapped.axes) {
        in_blocks.push_back(axis.labels.size() > 1 && random() % 2 == 0);
        torus.emplace_back(in_blocks.back() ? axis.labels.size() : 1);
    }
    for (int t = 0; t < grid.dimensions(); ++t) {
        const auto a = static_cast<std::size_t>(random() % (torus.size() + 1));
        if (a < torus.size()) torus[a][random() % torus[a].size()].push_back(t);
    }
    std::vector<SlotMapping> result;
    for (std::size_t a = 0; a < torus.size(); ++a) {
        const auto& axis = unmapped.axes[a];
        if (in_blocks[a])
            result.push_back(block_mapping(grid, with_positions(axis.node(), axis.labels), torus[a]));
        else
            result.emplace_back().torus = torus[a][0];
    }
    return result;
}

double seconds_of(const Product& spec, const PairOrder& order, const RankGrid& grid, const std::vector<SlotMapping>& mapping) {
    const PlanOptions options;
    const auto unmapped = unmapped_plan(spec, order);
    PlanCandidates candidates(unmapped, grid, options);
    std::vector<MappedAxis*> axes;
    for (std::size_t a = 0; a < mapping.size(); ++a) axes.push_back(&candidates.map_axis(a, mapping[a]));
    return candidates.average_seconds(candidates.candidate(axes));
}

TEST(Foldings, AreAmongTheWaysToUseTheUnfoldedTorus) {
    std::mt19937_64 random(1);
    int compared = 0;
    for (const auto& torus : {Torus({4}), Torus({2, 3}), Torus({8}), Torus({4, 2}), Torus({12}), Torus({2, 3, 2}), Torus({4, 4})}) {
        const auto grid = unfold(torus);
        for (const auto& [name, text] : contraction_cases(12, 6, 8))
            for (const auto& folding : foldings(grid)) {
                SCOPED_TRACE(name + " on " + torus.to_string() + " folded to " + Torus(folded(grid, folding).lengths).to_string());
                const auto before = pairwise_product(text, folded(grid, folding));
                const auto spec = unfolded_product(before, grid, folding);
                const auto order = spec.factors.size() > 1 ? PairOrder{{0, 1}} : PairOrder{};
                for (int sample = 0; sample < 10; ++sample) {
                    const auto mapping = random_mapping(unmapped_plan(before, order), before.output.layout.grid(), random);
                    std::vector<SlotMapping> same;
                    for (const auto& m : mapping) same.push_back(unfolded_mapping(m, folding));
                    EXPECT_DOUBLE_EQ(seconds_of(spec, order, grid, same), seconds_of(before, order, before.output.layout.grid(), mapping));
                    ++compared;
                }
                // The search finds what is at least as fast as what it finds on the folded torus.
                EXPECT_LE(plan_contraction(spec, {}).cost.seconds, plan_contraction(before, {}).cost.seconds * (1 + 1e-9));
            }
    }
    EXPECT_GT(compared, 3000);
}

}  // namespace
}  // namespace arges::test
