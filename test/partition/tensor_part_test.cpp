// Layers of a tensor in parts: chains that are fed many slices at once, and the look-up of layers.
#include "partition/tensor_part.hpp"

#include "partition/layers.hpp"
#include "statistics_tensors.hpp"

namespace arges::test {
namespace {

using namespace partition;

/// Nonempty slices of a mode with random counts, few of them heavy.
struct RandomSlices {
    std::int64_t length = 0, nonzeros = 0;
    std::vector<std::int64_t> slices, start{0};
    explicit RandomSlices(std::mt19937_64& random) : length(1 + below(random, below(random, 2) == 0 ? 20 : 3000)) {
        const auto gap = 1 + below(random, 5);
        for (std::int64_t s = 0; s < length; ++s) {
            if (below(random, gap) != 0) continue;
            slices.push_back(s);
            start.push_back(start.back() + (below(random, 20) == 0 ? 1 + below(random, 500) : 1 + below(random, 4)));
        }
        nonzeros = start.back();
    }
};

TEST(LayerChain, ManySlicesAtOnceAreAsOneByOne) {
    std::mt19937_64 random(7);
    for (int round = 0; round < 500; ++round) {
        const RandomSlices all(random);
        const auto layers = 1 + below(random, below(random, 2) == 0 ? 5 : 70);
        SCOPED_TRACE("round " + std::to_string(round) + ", " + std::to_string(all.length) + " slices in " + std::to_string(layers) +
                     " layers");
        LayerChain one(all.length, all.nonzeros, layers), many(all.length, all.nonzeros, layers);
        for (std::size_t i = 0; i < all.slices.size(); ++i) one.feed(all.slices[i], all.start[i + 1] - all.start[i]);
        for (std::size_t i = 0; i < all.slices.size();) {
            const auto n = std::min<std::size_t>(all.slices.size() - i, static_cast<std::size_t>(below(random, 1500)));
            many.feed(std::span(all.slices).subspan(i, n), std::span(all.start).subspan(i, n + 1));
            many = LayerChain::from_state(many.state());
            i += n;
        }
        ASSERT_EQ(many.finish(), one.finish());
    }
}

TEST(LayerFinder, FindsTheLayerOfEverySlice) {
    std::mt19937_64 random(8);
    for (int round = 0; round < 200; ++round) {
        const std::int64_t length = round % 4 == 0   ? 1 + below(random, 10)
                                    : round % 4 == 1 ? 5000 + below(random, 9000)
                                                     : (std::int64_t{1} << 40) + 17;
        Boundaries boundaries{0, length};
        for (auto more = below(random, 40); more > 0; --more)
            boundaries.push_back(below(random, below(random, 2) == 0 ? length + 1 : std::min<std::int64_t>(length, 50)));
        std::sort(boundaries.begin(), boundaries.end());
        const LayerFinder finder(boundaries);
        auto check = [&](std::int64_t slice) { ASSERT_EQ(finder(slice), layer_of(boundaries, slice)) << slice << " of " << length; };
        for (auto boundary : boundaries)
            for (auto slice : {boundary - 1, boundary, boundary + 1})
                if (slice >= 0 && slice < length) check(slice);
        for (int i = 0; i < 100; ++i) check(below(random, length));
    }
}

TEST(CutModes, OneRankCutsAsTheTableDoes) {
    std::mt19937_64 random(9);
    for (int round = 0; round < 60; ++round) {
        const auto tensor = random_tensor(random);
        const SliceTable table(tensor.view());
        std::vector<LayerCut> cuts;
        for (std::size_t m = 0; m < table.modes.size(); ++m)
            for (const char* rule : {"nnz", "ordered-2", "set", "max-min"})
                cuts.push_back({m, 1 + below(random, 12), parse_layer_rule(rule)});
        const auto boundaries = cut_modes(Team(), whole_tensor(tensor.view(), table), cuts);
        for (std::size_t i = 0; i < cuts.size(); ++i)
            EXPECT_EQ(boundaries[i], cut_mode(table.modes[cuts[i].mode], cuts[i].rule, cuts[i].layers));
    }
}

}  // namespace
}  // namespace arges::test
