/// Random layouts.
#pragma once

#include "layout/layout.hpp"
#include "support/dense_oracle.hpp"

namespace arges::test {

/// Torus dimensions are distributed at random to slots, or to dimensions of slots, or stay unused. Blocks where their padding is not too
/// long.
inline Layout random_layout(const RankGrid& grid, const std::vector<std::int64_t>& extents, const Symmetry& symmetry,
                            std::mt19937_64& random, bool blocks, const std::vector<int>& partial = {}) {
    const auto slots = symmetry.slots().size();
    std::vector<std::vector<std::vector<int>>> torus(slots);
    for (std::size_t s = 0; s < slots; ++s) torus[s].resize(symmetry.slots()[s].dimensions().size());
    std::vector<int> order;
    for (int t = 0; t < grid.dimensions(); ++t) order.push_back(t);
    std::shuffle(order.begin(), order.end(), random);
    for (int t : order) {
        const auto s = random() % (slots + 1);
        if (s == slots || std::count(partial.begin(), partial.end(), t) > 0) continue;
        torus[s][blocks ? random() % torus[s].size() : 0].push_back(t);
    }
    std::vector<SlotMapping> mapping(slots);
    for (std::size_t s = 0; s < slots; ++s) {
        if (blocks)
            mapping[s] = block_mapping(grid, symmetry.slots()[s], torus[s]);
        else
            mapping[s].torus = torus[s][0];
        const auto& node = symmetry.slots()[s];
        mapping[s].rows = !blocks && node.children.size() == 2 && node.kind != NodeKind::product && random() % 2 == 0;
    }
    Layout layout(grid, extents, symmetry, mapping, partial);
    // Seven dimensions of extent 2 and phase 13 would be padded to 13^7 places.
    constexpr std::int64_t most_padded = 1 << 16;
    return blocks && layout.max_local_size() > most_padded ? random_layout(grid, extents, symmetry, random, false, partial) : layout;
}

}  // namespace arges::test
