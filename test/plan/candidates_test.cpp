// What the searches over grids know of their candidates, compared with plans that are made in full.
#include "plan/movement/moved_words.hpp"
#include "plan/product/plan_candidates.hpp"
#include "plan/product/plan_product.hpp"
#include "plan/product/ranked_grids.hpp"
#include "support/contractions.hpp"
#include "support/layouts.hpp"
#include "support/movements.hpp"
#include "support/product_text.hpp"
#include "topology/unfold.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace arges::test {
namespace {

/// Every way to give torus dimensions to axes.
std::vector<std::vector<SlotMapping>> all_mappings(const std::vector<Axis>& axes, const RankGrid& grid) {
    std::vector<std::vector<SlotMapping>> result{std::vector<SlotMapping>(axes.size())};
    for (int t = grid.dimensions(); t-- > 0;) {
        std::vector<std::vector<SlotMapping>> next;
        for (const auto& mapping : result)
            for (std::size_t a = 0; a <= axes.size(); ++a) {
                next.push_back(mapping);
                if (a < axes.size()) next.back()[a].torus.push_back(t);
            }
        result = std::move(next);
    }
    return result;
}

/// Where ways are few, the search finds one that is about as fast as the best of all.
TEST(PlanOnGrid, FindsTheBestOfAllMappings) {
    int compared = 0;
    for (const auto& [name, text] : contraction_cases(12, 6, 8))
        for (const std::int64_t ranks : {2, 4, 6, 8}) {
            const auto spec = pairwise_product(text, unfold(Torus({ranks})));
            const auto order = spec.factors.size() > 1 ? PairOrder{{0, 1}} : PairOrder{};
            const auto unmapped = unmapped_plan(spec, order);
            const auto& grid = spec.output.layout.grid();
            const PlanOptions options;
            PlanCandidates candidates(unmapped, grid, options);
            double best = 1e300;
            for (const auto& mapping : all_mappings(unmapped.axes, grid)) {
                std::vector<MappedAxis*> axes;
                bool possible = true;
                for (std::size_t a = 0; a < mapping.size(); ++a) {
                    axes.push_back(&candidates.map_axis(a, mapping[a]));
                    possible = possible && axes.back()->grid_length <= unmapped.axes[a].size;
                }
                if (!possible) continue;
                const double bound = candidates.least_seconds(axes), seconds = candidates.average_seconds(candidates.candidate(axes));
                EXPECT_LE(bound, seconds * (1 + 1e-9)) << name << " on " << ranks;
                best = std::min(best, seconds);
            }
            EXPECT_LE(plan_contraction(spec, {}).cost.seconds, best * 1.05) << name << " on " << ranks;
            ++compared;
        }
    EXPECT_GT(compared, 40);
}

/// Sorted, possible and different.
TEST(RankedGrids, OfLargeSpacesAreABeam) {
    const auto spec = pairwise_product(contraction_cases(40, 10, 5)["t3t2"], unfold(Torus({4096})));
    const auto unmapped = unmapped_plan(spec, {{0, 1}});
    const auto targets = grid_targets(unmapped, AxesInBlocks(unmapped.axes.size(), false));
    const auto& grid = spec.output.layout.grid();
    const auto found = ranked_grids(unmapped, targets, grid, {}, 100);
    ASSERT_GE(found.size(), 100U);
    EXPECT_LE(found.size(), 100 + unmapped.operands.size()) << "those that leave an operand where it is come in addition";
    std::set<decltype(RankedGrid::target)> different;
    for (std::size_t i = 0; i < found.size(); ++i) {
        EXPECT_TRUE(different.insert(found[i].target).second);
        EXPECT_LE(found[i > 0 ? i - 1 : 0].seconds, found[i].seconds);
        std::vector<std::int64_t> grid_lengths(targets.size(), 1);
        for (std::size_t t = 0; t < found[i].target.size(); ++t)
            if (const int target = found[i].target[t]; target >= 0) grid_lengths[static_cast<std::size_t>(target)] *= grid.lengths[t];
        for (std::size_t k = 0; k < targets.size(); ++k) EXPECT_LE(grid_lengths[k], targets[k].extent);
    }
}

/// Where planning takes longer than the runs that a plan is for, fewer grids are looked at, and the plan is seldom slower for it; not where
/// the runs take longer, and not within a memory limit.
TEST(RankedGrids, OfShortRunsAreFewer) {
    double logs = 0;
    int compared = 0;
    for (const auto& [name, text] : contraction_cases(40, 10, 12))
        for (const std::int64_t ranks : {6, 64, 4096}) {
            const auto spec = pairwise_product(text, unfold(Torus({ranks})));
            const auto unmapped = unmapped_plan(spec, spec.factors.size() > 1 ? PairOrder{{0, 1}} : PairOrder{});
            const auto targets = grid_targets(unmapped, AxesInBlocks(unmapped.axes.size(), false));
            const auto count = [&](const PlanOptions& options) {
                return ranked_grids(unmapped, targets, spec.output.layout.grid(), options, 1000).size();
            };
            const auto seconds = [&](const PlanOptions& options) {
                return plan_product(spec, options).seconds(spec.element_bytes, options);
            };
            PlanOptions all, short_runs, long_runs, limited;
            short_runs.machine.planning_seconds = limited.machine.planning_seconds = 1e9;
            long_runs.machine.planning_seconds = 1e-30;
            limited.memory_limit = std::int64_t{1} << 50;
            EXPECT_EQ(count(long_runs), count(all)) << name;
            EXPECT_EQ(count(limited), count(all)) << name;
            if (ranks == 4096) {
                EXPECT_LT(count(short_runs), count(all)) << name;
            }
            const double ratio = seconds(short_runs) / seconds(all);
            EXPECT_LE(ratio, 2) << name << " on " << ranks;
            logs += std::log(ratio);
            ++compared;
        }
    EXPECT_LE(std::exp(logs / compared), 1.02);
}

/// Elements of a working copy that a rank lacks, counted one by one. Labels are plain, so each is a residue.
std::int64_t counted_words(const Operand& tensor, const WorkingOperand& working) {
    std::int64_t most = 0;
    for (std::int64_t rank = 0; rank < working.layout.grid().ranks(); ++rank) {
        std::set<std::vector<std::int64_t>> owned;
        const auto by_label = [](const std::vector<int>& labels, const std::vector<std::int64_t>& x) {
            std::vector<std::int64_t> values(16, -1);
            for (std::size_t d = 0; d < labels.size(); ++d) values[static_cast<std::size_t>(labels[d])] = x[d];
            return values;
        };
        for_each_element(tensor.layout, rank,
                         [&](std::int64_t, const std::vector<std::int64_t>& x) { owned.insert(by_label(tensor.labels, x)); });
        std::int64_t lacking = 0;
        for_each_element(working.layout, rank, [&](std::int64_t, const std::vector<std::int64_t>& x) {
            lacking += owned.count(by_label(working.labels, x)) == 0 ? 1 : 0;
        });
        most = std::max(most, lacking);
    }
    return most;
}

TEST(MovedWords, OfPlainLabelsAreExact) {
    const std::vector<RankGrid> grids{{{2}}, {{3}}, {{2, 2}}, {{2, 3}}, {{2, 2, 2}}, {{3, 2, 2}}};
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        std::mt19937_64 random(seed);
        const auto& grid = grids[random() % grids.size()];
        const std::vector<std::int64_t> extents{3 + static_cast<std::int64_t>(random() % 5), 7, 4};
        const Operand tensor{random_layout(grid, extents, Symmetry::none(3), random, false), {0, 1, 2}, false, "", false};
        WorkingOperand working;
        working.labels = {2, 0, 1};
        working.layout = random_layout(grid, {extents[2], extents[0], extents[1]}, Symmetry::none(3), random, false);
        EXPECT_EQ(moved_words(tensor, working).words, static_cast<double>(counted_words(tensor, working)))
            << "seed " << seed << ": " << tensor.layout.to_string() << " to " << working.layout.to_string();
    }
}

/// The words by which the search prices a mapping are those of the layouts that it gets.
TEST(PlanCandidates, PriceWhatTheyBuild) {
    std::mt19937_64 random(1);
    for (const auto& [name, text] : contraction_cases(6, 4, 5))
        for (const std::int64_t ranks : {1, 2, 6, 8, 64}) {
            const auto spec = pairwise_product(text, unfold(Torus({ranks})));
            const auto axes = axes_of(spec);
            for (int trial = 0; trial < 10; ++trial) {
                std::vector<SlotMapping> mapping(axes.size());
                for (int t = 0; t < spec.output.layout.grid().dimensions(); ++t)
                    if (const auto a = random() % (axes.size() + 1); a < axes.size()) mapping[a].torus.push_back(t);
                const auto order = spec.factors.size() > 1 ? PairOrder{{0, 1}} : PairOrder{};
                const auto plan = plan_with_mapping(spec, order, spec.output.layout.grid(), mapping, {});
                double products = 1;
                for (std::size_t a = 0; a < axes.size(); ++a) {
                    const auto& w = plan.operands[axes[a].in(0) ? 0 : 1];
                    const auto slot = std::find(w.axes.begin(), w.axes.end(), static_cast<int>(a)) - w.axes.begin();
                    products *= static_cast<double>(w.layout.slot(static_cast<int>(slot)).max_local_size());
                }
                EXPECT_DOUBLE_EQ(plan.cost.flops, products * spec.flops_per_product() / (spec.factors.size() == 1 ? 2 : 1)) << name;
                for (std::size_t o = 0; o < plan.operands.size(); ++o) {
                    const auto wanted =
                        plan.operands[o].in_place ? 0 : static_cast<std::int64_t>(moved_words(plan.tensor(o), plan.operands[o]).words);
                    EXPECT_EQ(plan.cost.words[o], wanted) << name << " on " << ranks << ", operand " << o;
                }
            }
        }
}

/// The average over runs is that of a plan with the tensors as they lie, and of one with them where the first leaves them; with symmetry,
/// too.
TEST(PlanCandidates, AverageOverRuns) {
    const std::vector<std::pair<std::string, std::map<std::string, std::string>>> products{
        {"ij,jk->ik", {}},
        {"ijk,ja,ka->ia", {}},
        {"ij,jk,kl->il", {}},
        {"iij,jk->ik", {}},
        {"ij,ij->ij", {}},
        {"kail,jakb->ijlb", {}},
        {"ij,jl->il", {{"il", "sym(i,l)"}}},
        {"ijab,abkl->ijkl", {{"ijab", "antisym(i,j) antisym(a,b)"}, {"abkl", "antisym(a,b) sym(k,l)"}, {"ijkl", "antisym(i,j) sym(k,l)"}}},
        {"ija,akl,lb->ijkb", {{"ija", "sym(i,j)"}, {"ijkb", "sym(i,j)"}}},
        {"aibj,k->aibjk", {{"aibj", "sym(product(a,i),product(b,j))"}, {"aibjk", "sym(product(a,i),product(b,j))"}}},
        {"aibj,bjk->aik", {{"aibj", "sym(product(a,i),product(b,j))"}}}};
    int in_place = 0, averaged = 0, packed = 0;
    for (std::uint64_t seed = 0; seed < 800; ++seed) {
        std::mt19937_64 random(seed);
        const std::int64_t ranks = std::vector<std::int64_t>{1, 2, 6, 8, 12, 64}[random() % 6];
        const auto& [text, trees] = products[seed % products.size()];
        const auto product = product_of(text, {{'a', 6}, {'b', 6}, {'i', 12}, {'j', 12}, {'k', 9}, {'l', 9}}, ranks, trees);
        auto spec = product;
        const auto grid = product.output.layout.grid();
        const auto operand = [&](Operand o) {
            o.layout = random_layout(grid, o.layout.extents(), o.layout.symmetry(), random, false);
            o.is_lasting = random() % 2 == 0;
            return o;
        };
        for (auto& factor : spec.factors) factor = operand(factor);
        spec.output = operand(spec.output);
        spec.output_is_free = random() % 2 == 0;
        PairOrder order{{0, 1}};
        if (spec.factors.size() == 3) order.push_back({2, 3});
        PlanOptions options;
        options.expected_runs = 1 + static_cast<std::int64_t>(random() % 3);
        const auto unmapped = unmapped_plan(spec, order);
        PlanCandidates candidates(unmapped, grid, options);
        for (int trial = 0; trial < 5; ++trial) {
            std::vector<SlotMapping> mapping(unmapped.axes.size());
            for (int t = 0; t < grid.dimensions(); ++t)
                if (random() % 5 != 0) mapping[random() % mapping.size()].torus.push_back(t);
            std::vector<MappedAxis*> axes;
            for (std::size_t a = 0; a < mapping.size(); ++a) axes.push_back(&candidates.map_axis(a, mapping[a]));
            const auto candidate = candidates.candidate(axes);
            const auto plan = plan_with_mapping(spec, order, grid, mapping, options);
            EXPECT_EQ(candidates.plan(candidate), plan) << "seed " << seed;
            in_place += plan.operands.back().in_place ? 1 : 0;
            auto later = spec;
            for (std::size_t i = 0; i < later.factors.size(); ++i)
                if (later.factors[i].is_lasting && plan.stay[i]) {
                    packed += later.factors[i].layout.slots() < later.factors[i].layout.order() ? 1 : 0;
                    later.factors[i].layout = *plan.stay[i];
                }
            const double seconds = plan_with_mapping(later, order, grid, mapping, options).cost.seconds;
            averaged += options.expected_runs > 1 && seconds < plan.cost.seconds ? 1 : 0;
            const auto runs = static_cast<double>(options.expected_runs);
            EXPECT_DOUBLE_EQ(candidates.average_seconds(candidate), (plan.cost.seconds + (runs - 1) * seconds) / runs)
                << "seed " << seed << " " << text;
        }
    }
    EXPECT_GT(in_place, 100);
    EXPECT_GT(averaged, 100);
    EXPECT_GT(packed, 50);
}

}  // namespace
}  // namespace arges::test
