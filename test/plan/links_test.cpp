// The planner on machines with links.
#include "plan/movement/lists.hpp"
#include "plan/movement/moved_words.hpp"
#include "plan/movement/relay.hpp"
#include "plan/product/plan_product.hpp"
#include "topology/unfold.hpp"

#include "support/level_graph.hpp"

#include <gtest/gtest.h>

#include <random>

namespace arges::test {
namespace {

/// A layout of a tensor without symmetry, each torus dimension given to a random dimension of it, to copies, or where it may be to parts
/// of a sum.
Layout random_layout(const RankGrid& grid, const std::vector<std::int64_t>& extents, std::mt19937& random, bool may_have_parts) {
    std::vector<SlotMapping> mapping(extents.size());
    std::vector<int> order(grid.lengths.size());
    for (std::size_t t = 0; t < order.size(); ++t) order[t] = static_cast<int>(t);
    std::shuffle(order.begin(), order.end(), random);
    std::vector<int> partial;
    for (const int t : order) {
        const auto target = random() % (extents.size() + 1);
        if (target < extents.size())
            mapping[target].torus.push_back(t);
        else if (may_have_parts && random() % 2 == 0)
            partial.push_back(t);
    }
    return {grid, extents, Symmetry::none(static_cast<int>(extents.size())), mapping, partial};
}

TEST(ExchangedDimensions, HoldAllAlongWhichMessagesGo) {
    std::mt19937 random(11);
    for (int i = 0; i < 300; ++i) {
        RankGrid grid;
        for (auto n = 1 + random() % 4; n > 0; --n) grid.lengths.push_back(2 + static_cast<std::int64_t>(random() % 2));
        std::vector<std::int64_t> extents;
        for (auto n = 1 + random() % 3; n > 0; --n) extents.push_back(12 + static_cast<std::int64_t>(random() % 30));
        auto movement = copy_between(random_layout(grid, extents, random, true), random_layout(grid, extents, random, false));
        Dimensions gone = 0;
        for (std::int64_t rank = 0; rank < grid.ranks(); ++rank) {
            const MovementLists lists(movement, rank);
            for (const auto& message : lists.sends())
                for (int t = 0; t < grid.dimensions(); ++t)
                    if (grid.coordinate(rank, t) != grid.coordinate(message.peer, t)) gone |= dimension(t);
        }
        EXPECT_EQ(gone & ~exchanged_dimensions(movement), Dimensions{0}) << i;
    }
}

struct Case {
    std::vector<std::vector<int>> factors;
    std::vector<int> output;
    std::vector<std::int64_t> extents;
};

Product product_of(const Case& c, const Torus& torus) {
    const auto grids = grids_for_products(torus);
    const auto operand = [&](const std::vector<int>& labels) {
        Operand result;
        result.labels = labels;
        std::vector<std::int64_t> extents;
        for (const int l : labels) extents.push_back(c.extents[static_cast<std::size_t>(l)]);
        result.layout = spread_layout(grids, extents, Symmetry::none(static_cast<int>(labels.size())));
        return result;
    };
    Product spec;
    spec.label_extents = c.extents;
    spec.element_bytes = 8;
    for (const auto& labels : c.factors) spec.factors.push_back(operand(labels));
    spec.output = operand(c.output);
    spec.output_is_free = true;
    for (std::size_t l = 0; l < c.extents.size(); ++l) spec.label_names.push_back(std::string(1, static_cast<char>('a' + l)));
    spec.terms = {identity_term(c.extents.size())};
    return spec;
}

/// What links add to the seconds of a plan whose messages all go straight to their ranks.
double seconds_on_links(const ProductPlan& plan, const PlanOptions& options) {
    double seconds = 0;
    for (std::size_t o = 0; o < plan.operands.size(); ++o) {
        const double bytes = static_cast<double>(plan.cost.words[o] * plan.spec.element_bytes);
        if (!plan.operands[o].in_place)
            seconds += bytes * (options.links->cost(exchanged_dimensions(plan.movement(o))) - 1) / options.machine.bytes_per_second;
    }
    return seconds;
}

TEST(Links, MakePlansThatAreFasterOnThemThanThoseThatKnowNoLinks) {
    const std::vector<Case> cases{{{{0, 1}, {1, 2}}, {0, 2}, {1024, 1024, 1024}},
                                  {{{0, 1}, {1, 2}}, {0, 2}, {4096, 4096, 256}},
                                  {{{0, 1}, {1, 2}}, {0, 2}, {512, 8192, 512}},
                                  {{{0, 1, 2, 3}, {2, 3, 4, 5}}, {0, 1, 4, 5}, {24, 24, 24, 24, 24, 24}}};
    int faster = 0;
    for (const auto& shape : {std::vector<std::int64_t>{16, 4}, {2, 32}, {12, 6}, {2, 4, 8}, {4, 4, 4}, {64}})
        for (const auto& c : cases) {
            const Torus torus(shape);
            const auto spec = product_of(c, torus);
            PlanOptions flat;
            flat.grids = {unfold(torus)};
            flat.machine.flops_per_second = flat.machine.copied_bytes_per_second = 1e14;  // only bytes on their way take time
            flat.machine.message_seconds = 0;  // else relays, which are for tori, could be faster with fewer messages
            auto aware = flat;
            aware.links =
                std::make_shared<const Links>(Links::of_torus(torus, {}, {flat.machine.bytes_per_second, flat.machine.message_seconds}));
            const PairOrder order{{0, 1}};
            const auto before = plan_on_grid(spec, order, flat), after = plan_on_grid(spec, order, aware);
            const auto priced = plan_with_mapping(spec, order, before.grid, before.mapping, aware);
            EXPECT_LE(after.cost.seconds, priced.cost.seconds * (1 + 1e-9)) << torus.to_string();
            EXPECT_GE(priced.cost.seconds, before.cost.seconds * (1 - 1e-9)) << "a torus is never faster than a machine without links";
            if (after.cost.seconds < 0.8 * (before.cost.seconds + seconds_on_links(before, aware))) ++faster;
        }
    EXPECT_GE(faster, 4);
}

/// Seconds that all messages of a movement take, each on the links of its way: those of a step of a relay at once, steps one after the
/// other.
double seconds_over_levels(const Movement& movement, const Interconnect& interconnect, double rank_rate) {
    double seconds = 0;
    const auto ranks = movement.to.grid().ranks();
    if (movement.stages.empty()) {
        LevelGraph graph(interconnect, rank_rate);
        for (std::int64_t rank = 0; rank < ranks; ++rank) {
            const MovementLists lists(movement, rank, LoopUse::always);
            for (const auto& message : lists.receives())
                if (message.peer != rank) graph.send(message.peer, rank, 8 * static_cast<double>(message.count));
        }
        return graph.seconds();
    }
    std::vector<Relay> relays;
    for (std::int64_t rank = 0; rank < ranks; ++rank) relays.emplace_back(movement, rank);
    for (std::size_t step = 0; step < relays[0].steps().size(); ++step) {
        LevelGraph graph(interconnect, rank_rate);
        for (std::int64_t rank = 0; rank < ranks; ++rank)
            for (const auto& piece : relays[static_cast<std::size_t>(rank)].steps()[step].sends)
                graph.send(rank, piece.peer, 8 * static_cast<double>(piece.count));
        seconds += graph.seconds();
    }
    return seconds;
}

/// Dragonflies and fat trees by chance: what messages take, one by one, is no longer than with the plan that knows no links, and often
/// shorter. Up to 7 % where messages go to few ranks, which are priced as if they were spread evenly.
TEST(Links, OfLevelsMakePlansThatAreNoSlowerThanThoseThatKnowNoLinks) {
    std::mt19937 random(3);
    const std::vector<Case> cases{{{{0, 1}, {1, 2}}, {0, 2}, {96, 96, 96}}, {{{0, 1}, {1, 2}}, {0, 2}, {192, 192, 24}}};
    int faster = 0, slower = 0;
    for (const auto& shape : {std::vector<std::int64_t>{2, 4, 2, 4}, {4, 4, 4}, {2, 2, 4}, {8, 3}})
        for (const auto& c : cases)
            for (int i = 0; i < 4; ++i) {
                constexpr double rate = 1e9;
                Interconnect interconnect;
                interconnect.levels = Torus(shape);
                double ranks = 1;
                for (const auto length : shape) {
                    const double share = std::uniform_real_distribution<double>(0.1, 1)(random);
                    const bool cables = random() % 2 == 0;
                    interconnect.level_bytes_per_second.push_back(ranks > 1 && cables ? 0 : ranks * rate * share);
                    interconnect.level_pair_bytes_per_second.push_back(ranks > 1 && cables ? ranks * rate * share : 0);
                    ranks *= static_cast<double>(length);
                }
                interconnect.level_bytes_per_second[0] = rate;
                const auto spec = product_of(c, interconnect.levels);
                PlanOptions flat;
                flat.grids = {unfold(interconnect.levels)};
                flat.machine.flops_per_second = flat.machine.copied_bytes_per_second = 1e14;
                flat.machine.bytes_per_second = rate;
                flat.machine.message_seconds = 0;
                auto aware = flat;
                aware.links = std::make_shared<const Links>(Links::of_levels(interconnect, {rate, 0}));
                const PairOrder order{{0, 1}};
                const auto before = plan_on_grid(spec, order, flat), after = plan_on_grid(spec, order, aware);
                const auto seconds = [&](const ProductPlan& plan) {
                    double sum = 0;
                    for (std::size_t o = 0; o < plan.operands.size(); ++o)
                        if (!plan.operands[o].in_place) sum += seconds_over_levels(plan.movement(o), interconnect, rate);
                    return sum;
                };
                EXPECT_LE(seconds(after), 1.07 * seconds(before)) << interconnect.levels.to_string() << " " << c.extents[2] << " " << i;
                if (seconds(after) > 1.02 * seconds(before)) ++slower;
                if (seconds(after) < 0.9 * seconds(before)) ++faster;
            }
    EXPECT_GE(faster, 8);
    EXPECT_LE(slower, 1) << "of 32";
}

/// Calls f(mapping) for every way to give each of some axes torus dimensions that follow each other.
template <class F>
void for_each_plain(std::vector<SlotMapping>& mapping, int first, int dimensions, const F& f) {
    if (first == dimensions) return f();
    for (auto& axis : mapping) {
        if (!axis.torus.empty()) continue;
        for (int end = first; end < dimensions;) {
            axis.torus.push_back(end++);
            for_each_plain(mapping, end, dimensions, f);
        }
        axis.torus.clear();
    }
}

TEST(Links, MakePlansThatAreNoSlowerThanPlainOnes) {
    const std::vector<Case> cases{{{{0, 1}, {1, 2}}, {0, 2}, {16384, 16384, 16384}},
                                  {{{0, 1}, {1, 2}}, {0, 2}, {600, 600, 600}},
                                  {{{0, 1}, {1, 2}}, {0, 2}, {8192, 96, 2048}}};
    for (const auto& shape : {std::vector<std::int64_t>{4096}, {16, 16, 16}, {64}, {16, 4}, {6, 6, 6}, {4, 4, 4, 4, 4}})
        for (const auto& c : cases) {
            const Torus torus(shape);
            const auto spec = product_of(c, torus);
            PlanOptions options;
            options.grids = {unfold(torus)};
            const auto& machine = options.machine;
            options.links = std::make_shared<const Links>(Links::of_torus(torus, {}, {machine.bytes_per_second, machine.message_seconds}));
            const PairOrder order{{0, 1}};
            double best = 1e300;
            std::vector<SlotMapping> mapping(3);
            for_each_plain(mapping, 0, options.grids[0].dimensions(), [&] {
                for (std::size_t l = 0; l < 3; ++l)
                    if (RanksAlong{options.grids[0], mapping[l].torus}.count() > c.extents[l]) return;
                best = std::min(best, plan_with_mapping(spec, order, options.grids[0], mapping, options).cost.seconds);
            });
            EXPECT_LE(plan_on_grid(spec, order, options).cost.seconds, best * (1 + 1e-9)) << torus.to_string() << " " << c.extents[0];
        }
}

}  // namespace
}  // namespace arges::test
