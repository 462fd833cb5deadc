#include "plan/movement/movement.hpp"

#include "support/movements.hpp"
#include "topology/unfold.hpp"

#include <gtest/gtest.h>

namespace arges::test {
namespace {

/// Calls check(movement, ranks of the torus, where) for all ways of movements on some tori: packed and block layouts, copies, parts of a
/// sum, projections, diagonals and slices.
template <class Check>
void for_each_movement(const std::vector<Torus>& tori, Check&& check) {
    int movements = 0;
    for (const auto& lengths : tori)
        for (std::uint64_t seed = 1; seed <= 400; ++seed) {
            const auto grids = grids_for_products(lengths);
            const auto movement = random_movement(seed, grids[seed % grids.size()], grids[seed / 7 % grids.size()]);
            if (!movement) continue;
            ++movements;
            check(movement->spec, lengths.ranks(),
                  "seed " + std::to_string(seed) + " torus " + lengths.to_string() + ": " + movement->text);
        }
    EXPECT_GT(movements, 100);
}

const std::vector<Torus> all_tori{Torus({1}), Torus({2}), Torus({7}), Torus({2, 3}), Torus({4, 2}), Torus({3, 2, 2})};

TEST(MovementVolume, IsThatOfTheLists) {
    for_each_movement(all_tori, [](const Movement& spec, std::int64_t ranks, const std::string& where) {
        for (std::int64_t rank = 0; rank < ranks; ++rank)
            EXPECT_EQ(movement_volume(spec, rank), MovementLists(spec, rank).volume()) << "rank " << rank << " " << where;
    });
}

/// Messages that the busiest rank receives from others.
std::int64_t counted_messages(const Movement& spec) {
    std::int64_t most = 0;
    for (std::int64_t rank = 0; rank < spec.ranks(); ++rank) {
        const MovementLists lists(spec, rank);
        const auto& all = lists.receives();
        most =
            std::max<std::int64_t>(most, std::count_if(all.begin(), all.end(), [&](const auto& message) { return message.peer != rank; }));
    }
    return most;
}

/// Any two layouts of plain labels with extents that are long enough, with copies and parts of sums; on two grids of the same ranks, too.
TEST(MessageCount, IsThatOfTheListsWhereNothingIsPacked) {
    const std::vector<RankGrid> grids{{{2}}, {{7}}, {{2, 3}}, {{3, 2}}, {{2, 2, 2}}, {{4, 2}}, {{3, 2, 2}}, {{2, 2, 2, 2}}, {{2, 3, 3}}};
    int several = 0;
    for (std::uint64_t seed = 0; seed < 600; ++seed) {
        std::mt19937_64 random(seed);
        const auto& grid = grids[random() % grids.size()];
        const auto& other = seed % 4 == 0 ? grids[random() % grids.size()] : grid;
        if (other.ranks() != grid.ranks()) continue;
        std::vector<int> parts;
        for (int t = 0; t < grid.dimensions(); ++t)
            if (random() % 4 == 0) parts.push_back(t);
        const auto extent = [&] { return grid.ranks() * grid.ranks() + static_cast<std::int64_t>(random() % 9); };
        const std::vector<std::int64_t> extents{extent(), extent()};
        const auto spec = copy_between(random_layout(grid, extents, Symmetry::none(2), random, false, parts),
                                       random_layout(other, extents, Symmetry::none(2), random, false));
        const auto messages = message_count(spec);
        EXPECT_EQ(messages, counted_messages(spec)) << "seed " << seed << ": " << spec.from.to_string() << " to " << spec.to.to_string();
        several += messages > 1 && messages + 1 < static_cast<double>(grid.ranks()) ? 1 : 0;
    }
    EXPECT_GT(several, 100);
}

/// Short extents, packed groups, diagonals and slices, too.
TEST(MessageCount, IsNotExceededByAnyRank) {
    for_each_movement(all_tori, [](const Movement& spec, std::int64_t, const std::string& where) {
        EXPECT_LE(counted_messages(spec), message_count(spec)) << where;
    });
}

TEST(MovementBound, IsNotExceededByAnyRank) {
    for_each_movement({Torus({1}), Torus({2}), Torus({2, 3}), Torus({4, 2})},
                      [](const Movement& spec, std::int64_t ranks, const std::string& where) {
                          const auto bound = movement_bound(spec);
                          for (std::int64_t rank = 0; rank < ranks; ++rank) {
                              const MovementLists list(spec, rank);
                              EXPECT_LE(list.volume().sent, bound.volume.sent) << where;
                              EXPECT_LE(list.volume().received, bound.volume.received) << where;
                              EXPECT_LE(list.bytes(), bound.list_bytes) << where;
                          }
                      });
}

/// Unpacking triples, and packing them from a part of the permutations: the lists that take most in coupled cluster.
TEST(MovementBound, IsNotFarAboveWhatIsThere) {
    const auto packed = Symmetry::parse("abc", "antisym(a,b,c)"), partly = Symmetry::parse("abc", "antisym(a,b)"),
               plain = Symmetry::none(3);
    const std::vector<std::int64_t> extents{30, 30, 30};
    for (const auto& lengths : {Torus({1}), Torus({2}), Torus({2, 3})})
        for (const auto& [from, to, terms] : {std::tuple{packed, plain, 1}, {packed, partly, 1}, {partly, packed, 3}}) {
            std::mt19937_64 random(5);
            Movement spec;
            spec.from = random_layout(RankGrid{lengths.lengths()}, extents, from, random, false);
            spec.to = random_layout(RankGrid{lengths.lengths()}, extents, to, random, false);
            spec.from_labels = spec.to_labels = {0, 1, 2};
            spec.label_extents = extents;
            spec.terms = {{{0, 1, 2}}, {{0, 2, 1}, true}, {{2, 1, 0}, true}};
            spec.terms.resize(static_cast<std::size_t>(terms));
            std::int64_t largest = 0;
            for (std::int64_t rank = 0; rank < lengths.ranks(); ++rank) largest = std::max(largest, MovementLists(spec, rank).bytes());
            EXPECT_LT(movement_bound(spec).list_bytes, 3 * largest) << spec.from.to_string() << " to " << spec.to.to_string();
        }
}

/// Eightfold integrals that are unpacked and packed move by loops, for which pairs of places are counted for all ranks at once.
TEST(MovementBound, IsTheLargestVolumeWhereLoopsAreCounted) {
    const auto eightfold = Symmetry::parse("pqrs", "sym(sym(p,q),sym(r,s))"), plain = Symmetry::none(4);
    const std::vector<std::int64_t> extents(4, 24);
    for (const auto& lengths : {Torus({2}), Torus({3}), Torus({2, 2})})
        for (const auto& [from, to] : {std::pair{eightfold, plain}, std::pair{plain, eightfold}}) {
            const RankGrid grid{lengths.lengths()};
            const auto spec = copy_between(default_layout(grid, extents, from), default_layout(grid, extents, to));
            Volume largest;
            for (std::int64_t rank = 0; rank < lengths.ranks(); ++rank) {
                const MovementLists lists(spec, rank);
                EXPECT_NE(lists.loops(), nullptr);
                largest = {std::max(largest.sent, lists.volume().sent), std::max(largest.received, lists.volume().received)};
            }
            EXPECT_EQ(movement_bound(spec).volume, largest) << spec.from.to_string() << " to " << spec.to.to_string();
        }
}

}  // namespace
}  // namespace arges::test
