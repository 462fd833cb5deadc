#include "partition/layers.hpp"

#include "arges/error.hpp"
#include "partition/layers_of_tensor.hpp"
#include "statistics_tensors.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

namespace arges::test {
namespace {

using namespace partition;
using Counts = std::vector<std::int64_t>;

/// SPLATT's p_find_layer_boundaries (mpi_io.c) over all slices, in its unsigned arithmetic; the boundaries that it places.
Boundaries splatt_boundaries(const Counts& slices, std::uint64_t layers) {
    const auto count = [&](std::size_t s) { return static_cast<std::uint64_t>(slices[s]); };
    const auto nonzeros = static_cast<std::uint64_t>(std::accumulate(slices.begin(), slices.end(), std::int64_t{0}));
    Boundaries placed{0};
    if (layers == 1 || slices.empty()) return placed;
    std::uint64_t target = nonzeros / layers, last = 0, counted = count(0);
    for (std::size_t s = 1; s < slices.size(); ++s) {
        if (counted >= last + target) {
            const auto here = counted - (last + target), before = (last + target) - (counted - count(s - 1));
            last = before < here ? counted - count(s - 1) : counted;
            placed.push_back(static_cast<std::int64_t>(s));
            if (placed.size() == layers) break;
            target = (nonzeros - last) / (layers - (placed.size() - 1));
        }
        counted += count(s);
    }
    return placed;
}

Counts random_slices(std::mt19937_64& random) {
    Counts slices(static_cast<std::size_t>(below(random, 40)));
    const auto empty_of_ten = below(random, 11), largest = 1 + below(random, 30);
    for (auto& count : slices)
        count = below(random, 10) < empty_of_ten ? 0 : below(random, 20) == 0 ? 10 * largest : below(random, 1 + largest);
    return slices;
}

void expect_valid(const Boundaries& boundaries, std::int64_t length, std::int64_t layers) {
    ASSERT_EQ(static_cast<std::int64_t>(boundaries.size()), layers + 1);
    EXPECT_EQ(boundaries.front(), 0);
    EXPECT_EQ(boundaries.back(), length);
    for (std::size_t l = 0; l + 1 < boundaries.size(); ++l)
        EXPECT_LE(boundaries[l] + (length >= layers ? 1 : 0), boundaries[l + 1]) << "layer " << l;
}

TEST(LayerChain, PlacesSplattsBoundariesWhereverItPlacesThemAll) {
    std::mt19937_64 random(1);
    int complete = 0;
    for (int round = 0; round < 4000; ++round) {
        const auto slices = random_slices(random);
        const auto length = static_cast<std::int64_t>(slices.size()), layers = 1 + below(random, 12);
        const auto nonzeros = std::accumulate(slices.begin(), slices.end(), std::int64_t{0});
        LayerChain chain(length, nonzeros, layers);
        for (std::int64_t s = 0; s < length; ++s) {
            if (slices[static_cast<std::size_t>(s)] > 0) chain.feed(s, slices[static_cast<std::size_t>(s)]);
            if (below(random, 4) == 0) chain = LayerChain::from_state(chain.state());
        }
        const auto boundaries = chain.finish();
        expect_valid(boundaries, length, layers);
        const auto placed = splatt_boundaries(slices, static_cast<std::uint64_t>(layers));
        if (static_cast<std::int64_t>(placed.size()) == layers) {
            ++complete;
            EXPECT_EQ(Boundaries(boundaries.begin(), boundaries.end() - 1), placed);
        }
        // Those placed stay unless too few slices are behind them.
        for (std::size_t l = 0; l < placed.size(); ++l) {
            const auto latest = std::max(length - (layers - static_cast<std::int64_t>(l)), static_cast<std::int64_t>(l));
            EXPECT_EQ(boundaries[l], std::min({placed[l], latest, length}));
        }
    }
    EXPECT_GT(complete, 1000);
}

TEST(LayerChain, MoreLayersThanSlicesLeaveTheLastOnesEmpty) {
    LayerChain chain(3, 30, 5);
    for (std::int64_t s = 0; s < 3; ++s) chain.feed(s, 10);
    EXPECT_EQ(chain.finish(), (Boundaries{0, 1, 2, 3, 3, 3}));
    EXPECT_EQ(LayerChain(0, 0, 2).finish(), (Boundaries{0, 0, 0}));
    LayerChain last_is_heavy(6, 100, 3);  // no boundary is reached before the last slice
    last_is_heavy.feed(5, 100);
    EXPECT_EQ(last_is_heavy.finish(), (Boundaries{0, 4, 5, 6}));
}

TEST(LayerChain, LongGapsTakeNoTime) {
    constexpr std::int64_t length = std::int64_t{1} << 60;
    LayerChain chain(length, 4, 2);
    chain.feed(5, 1);
    chain.feed(length / 2, 1);
    chain.feed(length - 2, 2);
    EXPECT_EQ(chain.finish(), (Boundaries{0, length / 2 + 1, length}));
}

TEST(LayerChain, WrongUseIsRefused) {
    EXPECT_THROW(LayerChain(5, 5, 0), InvalidArgument);
    LayerChain chain(5, 5, 2);
    chain.feed(2, 1);
    EXPECT_THROW(chain.feed(2, 1), InvalidArgument);
    EXPECT_THROW(chain.feed(1, 1), InvalidArgument);
    EXPECT_THROW(chain.feed(5, 1), InvalidArgument);
    EXPECT_THROW(LayerChain::from_state({1, 2, 3}), InvalidArgument);
}

TEST(Layers, EqualLayersAndTheLayerOfASlice) {
    EXPECT_EQ(equal_layers(10, 4), (Boundaries{0, 2, 5, 7, 10}));
    EXPECT_EQ(equal_layers(2, 4), (Boundaries{0, 0, 1, 1, 2}));
    EXPECT_EQ(equal_layers(0, 2), (Boundaries{0, 0, 0}));
    EXPECT_THROW(equal_layers(3, 0), InvalidArgument);
    for (std::int64_t length : {1, 2, 7, 30})
        for (std::int64_t layers : {1, 2, 3, 7, 11}) {
            const auto boundaries = equal_layers(length, layers);
            for (std::int64_t i = 0; i < length; ++i) {
                const auto l = static_cast<std::size_t>(layer_of(boundaries, i));
                EXPECT_TRUE(boundaries[l] <= i && i < boundaries[l + 1]);
            }
        }
}

TEST(Layers, CorrectedLayersByHand) {
    // 12 slices, 3 layers of 4 with 60, 20 and 10 nonzeros: 30 each is the target, a slice has 7.5.
    const Counts counts{60, 20, 10};
    EXPECT_EQ(corrected_layers({LayerPolicy::set}, 12, counts), (Boundaries{0, 4, 8, 12}));
    // 4 * 30 / m: 2, 6 and 12 slices, of 20; scaled to 12: 1.2, 3.6, 7.2.
    EXPECT_EQ(corrected_layers({LayerPolicy::ordered, 1}, 12, counts), (Boundaries{0, 1, 5, 12}));
    // Half of that: 3, 5 and 8 slices, of 16; scaled: 2.25, 3.75, 6.
    EXPECT_EQ(corrected_layers({LayerPolicy::ordered, 2}, 12, counts), (Boundaries{0, 2, 6, 12}));
    // floor(50 / (2 * 7.5)) = 3 slices move from the first to the last.
    EXPECT_EQ(corrected_layers({LayerPolicy::max_min}, 12, counts), (Boundaries{0, 1, 5, 12}));
    // Empty layers count as if slices had the mean: 4 + 12 / 3 = 8 slices, beside 4 * 10 / 30 = 1.33: of 17.33.
    EXPECT_EQ(corrected_layers({LayerPolicy::ordered, 1}, 12, {30, 0, 0}), (Boundaries{0, 1, 6, 12}));
    EXPECT_THROW(corrected_layers({LayerPolicy::nonzeros}, 12, counts), InvalidArgument);
}

TEST(Layers, CorrectedLayersAreValid) {
    std::mt19937_64 random(2);
    for (int round = 0; round < 2000; ++round) {
        const auto length = below(random, 200), layers = 1 + below(random, 12);
        Counts counts(static_cast<std::size_t>(layers));
        for (auto& count : counts) count = below(random, 3) == 0 ? 0 : below(random, 1 + below(random, 1000));
        if (length == 0) std::fill(counts.begin(), counts.end(), 0);
        for (const auto* name : {"set", "ordered-1", "ordered-2.5", "max-min"}) {
            const auto rule = parse_layer_rule(name);
            const auto boundaries = corrected_layers(rule, length, counts);
            SCOPED_TRACE(name);
            if (length >= layers) expect_valid(boundaries, length, layers);
            if (length < layers || rule.policy == LayerPolicy::set) {
                EXPECT_EQ(boundaries, equal_layers(length, layers));
            }
        }
    }
}

TEST(Layers, OrderedWithoutCorrectionIsNearSetForLargeC) {
    EXPECT_EQ(corrected_layers({LayerPolicy::ordered, 1e9}, 100, {70, 20, 10, 0}), equal_layers(100, 4));
}

TEST(Layers, NamesAndBack) {
    for (const auto* name : {"nnz", "set", "ordered-1", "ordered-2", "ordered-2.5", "max-min"})
        EXPECT_EQ(to_string(parse_layer_rule(name)), name);
    EXPECT_EQ(parse_layer_rule("ordered-2"), (LayerRule{LayerPolicy::ordered, 2}));
    for (const auto* name : {"", "nonzeros", "ordered", "ordered-", "ordered-0", "ordered-0.5", "ordered--1", "ordered-2x", "ordered-inf",
                             "ordered-nan", "max_min", "Set"})
        EXPECT_THROW(parse_layer_rule(name), InvalidArgument) << name;
}

TEST(Layers, ModesAreCutFromTheSlicesWithNonzeros) {
    std::mt19937_64 random(3);
    for (int round = 0; round < 300; ++round) {
        const auto tensor = random_tensor(random);
        SCOPED_TRACE(tensor.text());
        const SliceTable table(tensor.view());
        for (std::size_t n = 0; n < table.modes.size(); ++n) {
            Counts slices(static_cast<std::size_t>(tensor.lengths[n]), 0);
            for (auto i : tensor.indices[n]) ++slices[static_cast<std::size_t>(i)];
            const auto layers = 1 + below(random, tensor.lengths[n]);
            const auto placed = splatt_boundaries(slices, static_cast<std::uint64_t>(layers));
            const auto cut = cut_mode(table.modes[n], LayerRule{}, layers);
            expect_valid(cut, tensor.lengths[n], layers);
            if (static_cast<std::int64_t>(placed.size()) == layers) {
                EXPECT_EQ(Boundaries(cut.begin(), cut.end() - 1), placed);
            }
            const auto equal = equal_layers(tensor.lengths[n], layers);
            Counts counts(static_cast<std::size_t>(layers), 0);
            for (auto i : tensor.indices[n]) ++counts[static_cast<std::size_t>(layer_of(equal, i))];
            EXPECT_EQ(layer_counts(table)(static_cast<int>(n), layers), counts);
            EXPECT_EQ(cut_mode(table.modes[n], {LayerPolicy::max_min}, layers),
                      corrected_layers({LayerPolicy::max_min}, tensor.lengths[n], counts));
        }
    }
}

TEST(Layers, SparseIndicesOfALongModeTakeNoArrayOfItsLength) {
    const std::vector<std::int64_t> indices{std::int64_t{1} << 60, 3, std::int64_t{1} << 50, 3};
    const SliceTable table(IndexView{{std::int64_t{1} << 61}, {indices}});
    EXPECT_EQ(table.modes[0].slices, (std::vector<std::int64_t>{3, std::int64_t{1} << 50, std::int64_t{1} << 60}));
    EXPECT_EQ(table.modes[0].start, (std::vector<std::int64_t>{0, 2, 3, 4}));
    EXPECT_EQ(table.modes[0].order, (std::vector<std::uint32_t>{1, 3, 2, 0}));
    EXPECT_EQ(table.modes[0].slice, (std::vector<std::uint32_t>{2, 0, 1, 0}));
}

TEST(Layers, WrongIndicesAreRefused) {
    const std::vector<std::int64_t> two{0, 1}, one{0}, negative{0, -1};
    EXPECT_THROW(SliceTable(IndexView{{2, 1}, {two, one}}), InvalidArgument);
    EXPECT_THROW(SliceTable(IndexView{{2, 1}, {two, two}}), InvalidArgument);
    EXPECT_THROW(SliceTable(IndexView{{2, 2}, {two, negative}}), InvalidArgument);
    EXPECT_THROW(SliceTable(IndexView{{2, 2}, {two}}), InvalidArgument);
}

}  // namespace
}  // namespace arges::test
