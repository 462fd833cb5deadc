#include "plan/exchange_volume.hpp"

#include "support/movements.hpp"
#include "topology/unfold.hpp"

#include <gtest/gtest.h>

namespace arges::test {
namespace {

/// All ways of movements: packed and block layouts, copies, parts of a sum, projections, diagonals and slices.
TEST(ExchangeVolume, IsThatOfTheLists) {
    int movements = 0;
    for (const auto& lengths : {Torus({1}), Torus({2}), Torus({7}), Torus({2, 3}), Torus({4, 2}), Torus({3, 2, 2})})
        for (std::uint64_t seed = 1; seed <= 400; ++seed) {
            const auto grids = grids_for_products(lengths);
            const auto movement = random_movement(seed, grids[seed % grids.size()], grids[seed / 7 % grids.size()]);
            if (!movement) continue;
            ++movements;
            for (std::int64_t rank = 0; rank < lengths.ranks(); ++rank)
                EXPECT_EQ(exchange_volume(movement->spec, rank), ExchangeLists(movement->spec, rank).volume())
                    << "seed " << seed << " rank " << rank << " torus " << lengths.to_string() << ": " << movement->text;
        }
    EXPECT_GT(movements, 100);
}

}  // namespace
}  // namespace arges::test
