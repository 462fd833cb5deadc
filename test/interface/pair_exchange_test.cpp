#include "interface/dense/pair_exchange.hpp"

#include "support/layouts.hpp"
#include "support/tensor_checks.hpp"

#include <gtest/gtest.h>

#include <random>

namespace arges::test {
namespace {

/// Values are not in memory yet.
constexpr auto ask_for_nothing = [](const auto&) {};

/// An item that says where it comes from.
struct Item {
    std::int64_t from, number, to;
    bool operator==(const Item&) const = default;
};

/// What a rank adds: the same on whichever rank asks.
std::vector<Item> items_of(std::int64_t rank, std::int64_t ranks, std::uint64_t seed) {
    std::mt19937_64 random(1000 * seed + static_cast<std::uint64_t>(rank));
    std::vector<Item> items;
    const auto count = static_cast<std::int64_t>(random() % 3 == 0 ? 0 : random() % 50);
    for (std::int64_t i = 0; i < count; ++i)
        items.push_back({rank, i, static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(ranks))});
    return items;
}

TEST(BatchExchange, DeliversByRankInOrderAndBringsAnswersBack) {
    const World world;
    const auto me = world.rank(), ranks = world.size();
    BatchExchange exchange(*world.state(), sizeof(Item));
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        exchange.clear();
        const auto mine = items_of(me, ranks, seed);
        for (const auto& item : mine) *reinterpret_cast<Item*>(exchange.add(item.to)) = item;
        std::vector<std::int64_t> place(mine.size(), -1);
        exchange.exchange([&](std::size_t i, std::int64_t j) { place.at(i) = j; });
        std::vector<Item> arrived, expected;
        exchange.for_each_item(ask_for_nothing, [&](const std::byte* item) { arrived.push_back(*reinterpret_cast<const Item*>(item)); });
        for (std::int64_t sender = 0; sender < ranks; ++sender)
            for (const auto& item : items_of(sender, ranks, seed))
                if (item.to == me) expected.push_back(item);
        EXPECT_EQ(arrived, expected);
        Buffer<std::byte> answers, given;
        exchange.answer(answers, given, sizeof(std::int64_t), ask_for_nothing, [](const std::byte* bytes, std::byte* answer) {
            const auto& item = *reinterpret_cast<const Item*>(bytes);
            *reinterpret_cast<std::int64_t*>(answer) = 1000000 * item.to + 1000 * item.from + item.number;
        });
        for (std::size_t i = 0; i < mine.size(); ++i)
            EXPECT_EQ(reinterpret_cast<const std::int64_t*>(answers.data())[place[i]], 1000000 * mine[i].to + 1000 * me + mine[i].number);
    }
}

/// The key of a pair of a rank, and its value.
std::int64_t key_of(std::int64_t rank, std::int64_t i, std::int64_t size) { return (37 * i + 11 * rank + i * i % 7) % size; }
double value_of(std::int64_t rank, std::int64_t i) { return static_cast<double>(1000000 * rank + i); }

/// In one batch and in several, by ranks that have nothing too: what each rank gets, and in which order.
TEST(DeliverPairs, BringsEachPairToAllRanksThatStoreItsElement) {
    const World world;
    const auto me = world.rank(), ranks = world.size();
    std::mt19937_64 random(5);
    const std::vector<std::int64_t> extents{5, 4, 5};
    const auto symmetry = Symmetry::parse("aib", "antisym(a,b)");
    constexpr std::int64_t size = 100;
    for (int trial = 0; trial < 6; ++trial) {
        const auto layout = random_layout(world.state()->grid(), extents, symmetry, random, trial % 2 == 1);
        // Above the length of a batch on two and more ranks.
        const auto count = [&](std::int64_t rank) {
            return rank % 3 == 1 ? std::int64_t(0) : trial == 0 ? 300000 - rank : 10 * rank + trial;
        };
        const PairBatches batches(*world.state(), count(me), 0, 0, 0, [] {});
        std::int64_t most = 0;
        for (std::int64_t r = 0; r < ranks; ++r) most = std::max(most, count(r));
        EXPECT_EQ(batches.most(), most);
        const auto length = world.state()->communicator().maximum(batches.begin(1));
        EXPECT_EQ(batches.begin(0), 0);
        EXPECT_EQ(batches.end(batches.number() - 1), count(me));
        EXPECT_EQ(batches.number() > 1, trial == 0 && ranks > 1);
        ElementLocator locator(layout);
        std::vector<std::pair<std::int64_t, double>> got, expected;
        deliver_pairs(
            *world.state(), layout, batches, sizeof(double), [&](std::int64_t i) { return locator.locate_key(key_of(me, i, size)); },
            [&](std::int64_t i, const ElementLocation& at, std::byte* to) {
                *reinterpret_cast<double*>(to) = at.negative ? -value_of(me, i) : value_of(me, i);
            },
            ask_for_nothing,
            [&](std::int64_t offset, const std::byte* value) { got.emplace_back(offset, *reinterpret_cast<const double*>(value)); });
        const auto copies = copy_offsets(layout);
        for (std::int64_t b = 0; b < batches.number(); ++b)
            for (std::int64_t r = 0; r < ranks; ++r)
                for (auto i = std::min(count(r), b * length); i < std::min(count(r), (b + 1) * length); ++i) {
                    const auto at = locator.locate_key(key_of(r, i, size));
                    if (at.zero || std::count(copies.begin(), copies.end(), me - at.rank) == 0) continue;
                    expected.emplace_back(at.offset, at.negative ? -value_of(r, i) : value_of(r, i));
                }
        ASSERT_EQ(got.size(), expected.size());
        for (std::size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], expected[i]) << i;
    }
}

/// What one rank finds wrong is thrown on all, after the others' pairs were taken.
TEST(DeliverPairs, ThrowsOnEveryRankWhatOneFindsWrong) {
    const World world;
    const auto layout = default_layout(world.state()->grid(), {10}, Symmetry::none(1));
    const PairBatches batches(*world.state(), 10, 0, 0, 0, [] {});
    ElementLocator locator(layout);
    const auto deliver = [&] {
        deliver_pairs(
            *world.state(), layout, batches, sizeof(double),
            [&](std::int64_t i) {
                if (world.rank() == world.size() - 1 && i == 7) throw InvalidArgument("pair 7");
                return locator.locate_key(i);
            },
            [](std::int64_t, const ElementLocation&, std::byte* to) { *reinterpret_cast<double*>(to) = 1; }, ask_for_nothing,
            [](std::int64_t, const std::byte*) {});
    };
    EXPECT_THROW(deliver(), InvalidArgument);
    EXPECT_THROW(PairBatches(*world.state(), 1, 0, 0, 0,
                             [&] {
                                 if (world.rank() == 0) throw InvalidArgument("a key");
                             }),
                 InvalidArgument);
}

}  // namespace
}  // namespace arges::test
