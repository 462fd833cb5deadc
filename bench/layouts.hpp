/// Tensors in layouts that a movement takes all elements of to other ranks.
#pragma once

#include "layout/layout.hpp"

#include <cstdint>
#include <vector>

namespace bench {

/// A tree, and how a slot is distributed over all ranks: the last one, if nothing else is said.
struct Side {
    const char* tree;
    bool rows = false;   ///< by rows of a pair node
    bool first = false;  ///< the first slot is distributed
};

/// A tensor that changes its layout.
struct Relayout {
    const char *name, *labels;
    std::vector<std::int64_t> extents;
    Side from, to;
};

/// On one of two grids of all ranks. Where both sides are packed, the target's places are turned, so that most elements move.
inline arges::Layout layout_of(const Relayout& c, const Side& side, std::int64_t ranks, bool target) {
    const auto symmetry = arges::Symmetry::parse(c.labels, side.tree);
    std::vector<arges::SlotMapping> mapping(symmetry.slots().size());
    const bool copies = target && c.extents.size() == 1;
    auto& used = side.first ? mapping.front() : mapping.back();
    const arges::RankGrid grid{{ranks % 4 == 0 ? ranks / 2 : ranks, ranks % 4 == 0 ? 2 : 1}};
    if (!copies) used.torus = target ? std::vector<int>{1, 0} : std::vector<int>{0, 1};
    used.rows = side.rows;
    return arges::Layout(grid, c.extents, symmetry, mapping);
}

}  // namespace bench
