/// Unpacking of a pair node without element lists: on one rank an element of sym(x, y) is found from the packed indices of
/// its two children, so that lists over the children are enough.
#pragma once

#include "plan/movement/components.hpp"
#include "plan/movement/lists.hpp"

#include <array>
#include <optional>

namespace arges {

/// A movement on one rank from a tensor that is a single node over two children into slots that each belong to one child.
/// Element (e0, e1) of the target is at child[0].to[e0] + child[1].to[e1]; its source is the packed index of the child indices
/// child[0].from[e0] and child[1].from[e1]. Example: sym(product(a,i),product(b,j)) into plain dimensions a, b, i, j.
struct PairUnpack {
    NodeKind kind = NodeKind::symmetric;
    bool strict = false;  ///< equal children are not stored
    std::array<EntryGroup, 2> child;

    /// Number of target elements that are written.
    std::int64_t count() const;
};

/// The children's lists if the movement is of this form.
std::optional<PairUnpack> pair_unpack(const Movement& spec, const std::vector<MovementComponent>& components);

}  // namespace arges
