// What the searches over grids know of their candidates, compared with plans that are made in full.
#include "plan/estimate_cost.hpp"
#include "plan/fused_candidates.hpp"
#include "plan/moved_words.hpp"
#include "plan/ranked_assignments.hpp"
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

/// Every assignment within the capacities, the last torus dimension changing fastest, sorted by estimates that are the same for equal places.
std::vector<Assignment> all_assignments(const AssignmentSpace& space) {
    std::vector<Assignment> result{{}};
    for (std::size_t t = 0; t < space.lengths.size(); ++t) {
        std::vector<Assignment> next;
        for (const auto& a : result)
            for (int target = -1; target < static_cast<int>(space.capacity.size()); ++target) {
                auto b = a;
                b.push_back(target);
                double places = 1;
                for (std::size_t u = 0; u < b.size(); ++u)
                    if (b[u] == target) places *= static_cast<double>(space.lengths[u]);
                if (target < 0 || places <= space.capacity[static_cast<std::size_t>(target)]) next.push_back(b);
            }
        result = std::move(next);
    }
    std::stable_sort(result.begin(), result.end(), [&](const auto& a, const auto& b) { return space.estimate(a) < space.estimate(b); });
    return result;
}

AssignmentSpace random_space(std::mt19937_64& random, std::size_t dimensions, std::size_t targets) {
    AssignmentSpace space;
    for (std::size_t t = 0; t < dimensions; ++t) space.lengths.push_back(2 + static_cast<std::int64_t>(random() % 2));
    for (std::size_t i = 0; i < targets; ++i) space.capacity.push_back(static_cast<double>(1 + random() % 12));
    space.by_assignment = random() % 2 == 0;
    const auto salt = random() % 7;
    space.estimate = [lengths = space.lengths, targets, salt, by_assignment = space.by_assignment](const Assignment& a) {
        std::vector<std::int64_t> places(targets, 1);
        for (std::size_t t = 0; t < a.size(); ++t)
            if (a[t] >= 0) places[static_cast<std::size_t>(a[t])] *= lengths[t];
        double sum = by_assignment && !a.empty() ? static_cast<double>(a[0] + 1) : 0;
        for (std::size_t i = 0; i < targets; ++i) sum += static_cast<double>((places[i] * (i + 1 + salt)) % 5);
        return sum;
    };
    return space;
}

TEST(RankedAssignments, AreAllSortedWhereTheyAreFew) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        std::mt19937_64 random(seed);
        const auto space = random_space(random, random() % 6, random() % 5);
        auto wanted = all_assignments(space);
        EXPECT_EQ(ranked_assignments(space, 1U << 30), wanted) << "seed " << seed;
        wanted.resize(std::min<std::size_t>(wanted.size(), 5));
        EXPECT_EQ(ranked_assignments(space, 5), wanted) << "seed " << seed;
    }
}

/// Where they are many: sorted, possible, different, and the best one is found if estimates fall with each torus dimension that is used well.
TEST(RankedAssignments, OfLargeSpacesAreABeam) {
    AssignmentSpace space;
    space.lengths.assign(12, 2);
    space.capacity = {8, 16, 1000, 3};
    space.estimate = [](const Assignment& a) {
        double sum = 0;
        for (const int target : a) sum += target == 1 ? 1 : target == 2 ? 2 : target == 0 ? 3 : 4;
        return sum;
    };
    const auto found = ranked_assignments(space, 100);
    ASSERT_EQ(found.size(), 100U);
    for (std::size_t i = 0; i < found.size(); ++i) {
        EXPECT_LE(std::count(found[i].begin(), found[i].end(), 0), 3);
        EXPECT_LE(std::count(found[i].begin(), found[i].end(), 1), 4);
        EXPECT_LE(std::count(found[i].begin(), found[i].end(), 3), 1);
        EXPECT_LE(space.estimate(found[i > 0 ? i - 1 : 0]), space.estimate(found[i]));
        for (std::size_t j = 0; j < i; ++j) EXPECT_NE(found[i], found[j]);
    }
    EXPECT_EQ(space.estimate(found[0]), 4 * 1 + 8 * 2);
}

/// Elements of a working copy that a rank lacks, counted one by one. Labels are plain, so each is a residue.
std::int64_t counted_words(const OperandSpec& tensor, const WorkingOperand& working) {
    std::int64_t most = 0;
    for (std::int64_t rank = 0; rank < working.layout.grid().ranks(); ++rank) {
        std::set<std::vector<std::int64_t>> owned;
        const auto by_label = [](const std::vector<int>& labels, const std::vector<std::int64_t>& x) {
            std::vector<std::int64_t> values(16, -1);
            for (std::size_t d = 0; d < labels.size(); ++d) values[static_cast<std::size_t>(labels[d])] = x[d];
            return values;
        };
        for_each_element(tensor.layout, rank, [&](std::int64_t, const std::vector<std::int64_t>& x) { owned.insert(by_label(tensor.labels, x)); });
        std::int64_t lacking = 0;
        for_each_element(working.layout, rank,
                         [&](std::int64_t, const std::vector<std::int64_t>& x) { lacking += owned.count(by_label(working.labels, x)) == 0 ? 1 : 0; });
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
        const OperandSpec tensor{random_layout(grid, extents, Symmetry::none(3), random, false), {0, 1, 2}, false, "", false};
        WorkingOperand working;
        working.labels = {2, 0, 1};
        working.layout = random_layout(grid, {extents[2], extents[0], extents[1]}, Symmetry::none(3), random, false);
        EXPECT_EQ(moved_words(tensor, working), static_cast<double>(counted_words(tensor, working)))
            << "seed " << seed << ": " << tensor.layout.to_string() << " to " << working.layout.to_string();
    }
}

/// The words by which the search prices a mapping are those of the layouts that it gets.
TEST(WorkingLayouts, PriceWhatTheyBuild) {
    std::mt19937_64 random(1);
    for (const auto& [name, text] : contraction_cases(6, 4, 5))
        for (const std::int64_t ranks : {1, 2, 6, 8, 64}) {
            const auto spec = pairwise_product(text, unfold(Torus({ranks})));
            const auto groups = index_groups(spec);
            for (int trial = 0; trial < 10; ++trial) {
                std::vector<SlotMapping> mapping(groups.size());
                for (int t = 0; t < spec.output.layout.grid().dimensions(); ++t)
                    if (const auto g = random() % (groups.size() + 1); g < groups.size()) mapping[g].torus.push_back(t);
                const auto plan = plan_with_mapping(spec, groups, mapping, {});
                double products = 1;
                for (std::size_t g = 0; g < groups.size(); ++g) {
                    const auto o = groups[g].in(operand_a) ? operand_a : operand_b;
                    const auto& w = plan.operand[o];
                    const auto slot = std::find(w.groups.begin(), w.groups.end(), static_cast<int>(g)) - w.groups.begin();
                    products *= static_cast<double>(w.layout.slot(static_cast<int>(slot)).max_local_size());
                }
                EXPECT_DOUBLE_EQ(plan.cost.flops, products * spec.flops_per_product() / (plan.unary() ? 2 : 1)) << name;
                for (const auto o : {operand_a, operand_b, operand_c}) {
                    if (o == operand_b && plan.unary()) continue;
                    const auto& tensor = o == operand_c ? spec.output : spec.factors[o];
                    const auto wanted = plan.operand[o].in_place ? 0 : static_cast<std::int64_t>(moved_words(tensor, plan.operand[o]));
                    EXPECT_EQ(plan.cost.words[o], wanted) << name << " on " << ranks << ", operand " << o;
                }
            }
        }
}

TEST(FusedCandidates, CostWhatTheirPlansCost) {
    const std::vector<std::string> texts{"ij,jk->ik", "ijk,ja,ka->ia", "ij,jk,kl->il", "iij,jk->ik", "ij,ij->ij", "i,j->ijk"};
    int in_place = 0, averaged = 0;
    for (std::uint64_t seed = 0; seed < 600; ++seed) {
        std::mt19937_64 random(seed);
        const std::int64_t ranks = std::vector<std::int64_t>{1, 2, 6, 8, 12, 64}[random() % 6];
        const auto product = product_of(texts[seed % texts.size()], {{'a', 6}, {'i', 17}, {'j', 12}, {'k', 9}, {'l', 5}}, ranks);
        auto spec = product_over_labels_of(product, {}, {});
        const auto grid = product.output.layout.grid();
        const auto operand = [&](OperandSpec o) {
            o.layout = random_layout(grid, o.layout.extents(), o.layout.symmetry(), random, false);
            o.is_lasting = random() % 2 == 0;
            return o;
        };
        for (const auto& factor : product.factors) spec.factors.push_back(operand(factor));
        spec.output = operand(product.output);
        spec.output_is_free = random() % 2 == 0;
        PairOrder order{{0, 1}};
        if (spec.factors.size() == 3) order.push_back({2, 3});
        PlanOptions options;
        options.expected_runs = 1 + static_cast<std::int64_t>(random() % 3);
        std::set<int> present;
        for (const auto& input : spec.factors) present.insert(input.labels.begin(), input.labels.end());
        const std::vector<int> labels(present.begin(), present.end());
        const auto random_mapping = [&] {
            std::vector<SlotMapping> mapping(spec.label_extents.size());
            for (int t = 0; t < grid.dimensions(); ++t)
                if (random() % 5 != 0) mapping[static_cast<std::size_t>(labels[random() % labels.size()])].torus.push_back(t);
            return mapping;
        };
        FusedCandidates candidates(spec, order, grid, random_mapping(), options);
        for (int trial = 0; trial < 5; ++trial) {
            const auto mapping = random_mapping();
            auto plan = fused_with_mapping(spec, order, grid, mapping, options);
            EXPECT_EQ(candidates.look_at(mapping), plan.cost) << "seed " << seed;
            in_place += plan.result.in_place ? 1 : 0;
            choose_where_inputs_stay(plan);
            auto later = spec;
            for (std::size_t i = 0; i < later.factors.size(); ++i)
                if (later.factors[i].is_lasting && plan.stay[i]) later.factors[i].layout = *plan.stay[i];
            const double seconds = fused_with_mapping(later, order, grid, mapping, options).cost.seconds;
            averaged += options.expected_runs > 1 && seconds < plan.cost.seconds ? 1 : 0;
            const auto runs = static_cast<double>(options.expected_runs);
            EXPECT_DOUBLE_EQ(candidates.average_seconds(), (plan.cost.seconds + (runs - 1) * seconds) / runs) << "seed " << seed;
        }
    }
    EXPECT_GT(in_place, 100);
    EXPECT_GT(averaged, 100);
}

}  // namespace
}  // namespace arges::test
