// Elements by their numbers, against a walk over all numbers.
#include "redistribute/numbering.hpp"
#include "support/layouts.hpp"
#include "support/seeds.hpp"
#include "support/tensor_checks.hpp"
#include "topology/unfold.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <vector>

namespace arges::test {
namespace {

using Numbers = std::vector<std::int64_t>;

/// One side of a movement, and the numbers that a rank has.
struct End {
    std::optional<Layout> layout;
    std::vector<int> order;
    Numbers bounds;

    ElementNumbers numbering() const { return layout ? ElementNumbers(*layout, order) : ElementNumbers(bounds); }
    Numbers of(std::int64_t rank, std::int64_t size) const {
        Numbers result;
        if (layout && layout->grid().is_idle(rank)) return result;
        for (std::int64_t number = 0; number < size; ++number) {
            bool is_own =
                layout || (number >= bounds[static_cast<std::size_t>(rank)] && number < bounds[static_cast<std::size_t>(rank) + 1]);
            auto rest = number;
            for (const int d : order) {
                const auto length = layout->extents()[static_cast<std::size_t>(d)];
                is_own = is_own && rest % length % layout->slot(d).grid_length() == layout->coordinate(rank, d);
                rest /= length;
            }
            if (is_own) result.push_back(number);
        }
        return result;
    }
};

/// A tensor of so many elements, or shares, at random.
End random_end(std::int64_t size, std::int64_t ranks, std::mt19937_64& random) {
    End end;
    if (random() % 4 == 0) {
        end.bounds = {0, size};
        while (std::ssize(end.bounds) <= ranks) end.bounds.push_back(random_integer(random, 0, size));
        std::sort(end.bounds.begin(), end.bounds.end());
        return end;
    }
    Numbers extents;
    auto rest = size;
    while (extents.size() < 4 && (rest > 1 || random() % 2 == 0)) {
        Numbers divisors;
        for (std::int64_t n = 1; n <= rest; ++n)
            if (rest % n == 0) divisors.push_back(n);
        extents.push_back(rest == 0 ? random_integer(random, 0, 3) : divisors[random() % divisors.size()]);
        rest = rest == 0 ? 0 : rest / extents.back();
        if (rest == 0) break;
    }
    if (rest != 1) extents.push_back(rest);
    const auto dimensions = static_cast<int>(extents.size());
    for (int d = 0; d < dimensions; ++d) end.order.push_back(d);
    std::shuffle(end.order.begin(), end.order.end(), random);
    const auto grid = unfold(Torus(std::vector<std::int64_t>{random() % 3 == 0 ? random_integer(random, 1, ranks) : ranks}));
    end.layout = random_layout(grid, extents, Symmetry::none(dimensions), random, false);
    return end;
}

/// Elements whose bytes follow from their numbers.
std::vector<std::byte> list_of(const Numbers& numbers, std::int64_t bytes) {
    std::vector<std::byte> result;
    for (const auto number : numbers)
        for (std::int64_t b = 0; b < bytes; ++b)
            result.push_back(static_cast<std::byte>((static_cast<std::uint64_t>(number + 1) * 0x9e3779b97f4a7c15U) >> (b % 8 * 8)));
    return result;
}

TEST(NumberedMovements, BringEachNumberToWhoHasItOnTheOtherSide) {
    const Communicator comm(MPI_COMM_WORLD);
    for_each_seed(7000, 400, [&](std::mt19937_64& random) {
        const auto size = random_integer(random, 0, random() % 4 == 0 ? 2000 : 60);
        const auto from = random_end(size, comm.size(), random), to = random_end(size, comm.size(), random);
        const auto bytes = std::vector<std::int64_t>{1, 2, 4, 8, 16, 24}[random() % 6];
        const auto on_rank = random_integer(random, 1, 40);
        const auto given = from.of(comm.rank(), size), expected = to.of(comm.rank(), size);
        const auto source = list_of(given, bytes);
        auto target = list_of(Numbers(expected.size(), -1), bytes);
        const auto a = from.numbering(), b = to.numbering();
        NumberedMovement movement(a, b, comm.size(), comm.rank(), bytes, on_rank);
        movement.reserve();
        movement.run(comm.size() > 1 ? &comm : nullptr, source.data(), target.data());
        EXPECT_EQ(target, list_of(expected, bytes)) << size << " elements of " << bytes << " bytes";
        const auto own = a.own(comm.rank());
        for (std::int64_t number = 0; number <= size; ++number)
            EXPECT_EQ(own.below(number), std::lower_bound(given.begin(), given.end(), number) - given.begin());
    });
}

/// Layouts in which a stretch of numbers is one rank's: windows are taken from many places, so that no rank has much more than its part of
/// one.
TEST(NumberedMovements, TakeFewMegabytesWhicheverDimensionIsSpread) {
    constexpr std::int64_t ranks = 4, size = std::int64_t{1} << 28;
    SlotMapping spread;
    spread.torus = {0, 1};
    for (const std::int64_t slow : {4, 16, 128, 1024, 65536}) {
        const Layout rows({{2, 2}}, {size / slow, slow}, Symmetry::none(2), {SlotMapping(), spread});
        const Layout line({{2, 2}}, {size}, Symmetry::none(1), {spread});
        const ElementNumbers from(rows, std::vector<int>{0, 1}), to(line, std::vector<int>{0});
        for (std::int64_t rank = 0; rank < ranks; ++rank) {
            const NumberedMovement movement(from, to, ranks, rank, 8);
            EXPECT_LT(movement.memory(), 16 << 20) << slow << " rows, rank " << rank;
        }
    }
}

}  // namespace
}  // namespace arges::test
