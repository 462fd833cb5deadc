// Ranks that hold the same elements of a tensor hold the same bits: else decisions taken from them differ between ranks.
#include "arges/arges.hpp"
#include "comm/values.hpp"
#include "interface/dense/tensor_state.hpp"
#include "support/random_network.hpp"
#include "support/seeds.hpp"
#include "support/tensor_checks.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <map>

namespace arges::test {
namespace {

/// How many ranks hold other bits than the first one that holds the same elements. Collective.
std::int64_t differing_copies(const Tensor<double>& tensor) {
    const auto& state = *tensor.state();
    const auto& layout = state.shape();
    const auto& comm = state.world->communicator();
    const auto local = layout.grid().is_idle(state.rank()) ? 0 : layout.local_size(state.rank());
    const HostElements here(state);
    const auto all = gathered(comm, std::vector<double>(here.of<double>(), here.of<double>() + local));
    std::map<std::vector<std::int64_t>, std::int64_t> first;
    std::int64_t offset = 0, differing = 0;
    for (std::int64_t r = 0; r < layout.grid().ranks(); ++r) {
        if (layout.grid().is_idle(r)) continue;
        std::vector<std::int64_t> coordinates;
        for (int s = 0; s < layout.slots(); ++s) coordinates.push_back(layout.coordinate(r, s));
        const auto size = layout.local_size(r);
        const auto [found, fresh] = first.emplace(coordinates, offset);
        if (!fresh && std::memcmp(all.data() + found->second, all.data() + offset, static_cast<std::size_t>(size) * sizeof(double)) != 0)
            ++differing;
        offset += size;
    }
    return differing;
}

TEST(Copies, OfResultsHaveTheSameBits) {
    const World world;
    std::int64_t copied = 0;
    for_each_seed(9100, 300 / static_cast<int>(thinning(world)), [&](std::mt19937_64& random) {
        const RandomNetwork network(random, static_cast<int>(random_integer(random, 2, 5)), random_integer(random, 0, 2) == 0);
        SCOPED_TRACE(network.text());
        Expression<double> right(0.3);
        for (std::size_t f = 0; f < network.factors.size(); ++f) {
            const auto& factor = network.factors[f];
            const auto values = random_dense(network.extents_of(factor), factor.symmetry, false, random, true);
            right =
                right * distributed<double>(world, values, factor.symmetry, "T" + std::to_string(f))[RandomNetwork::letters(factor.labels)];
        }
        std::vector<std::int64_t> extents;
        for (int l : network.output) extents.push_back(network.extents[static_cast<std::size_t>(l)]);
        Tensor<double> C(world, extents, "C");
        C[RandomNetwork::letters(network.output)] = right;
        copied += C.state()->shape().copies() > 1;
        EXPECT_EQ(differing_copies(C), 0) << C.layout_to_string();
    });
    if (world.size() > 1) {
        EXPECT_GT(copied, 0);
    }
}

}  // namespace
}  // namespace arges::test
