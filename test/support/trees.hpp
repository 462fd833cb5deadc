/// Brute force over the elements of one slot of a symmetry tree.
#pragma once

#include "support/dense_oracle.hpp"
#include "support/shapes.hpp"

#include <set>

namespace arges::test {

using Tuple = std::vector<std::int64_t>;

/// A slot with its leaves numbered by position, and the extents by position.
struct SlotCase {
    SymmetryNode node;
    Tuple extents;
    std::string text;
    Symmetry symmetry() const { return Symmetry(static_cast<int>(extents.size()), node); }
};

inline SymmetryNode numbered(const SymmetryNode& node, int& next) {
    SymmetryNode result{node.kind, -1, {}};
    if (node.kind == NodeKind::leaf) result.dimension = next++;
    for (const auto& child : node.children) result.children.push_back(numbered(child, next));
    return result;
}

/// Every slot of the shapes.
inline std::vector<SlotCase> slot_cases() {
    std::vector<SlotCase> result;
    for (const auto& shape : shapes()) {
        const auto symmetry = shape.symmetry();
        for (const auto& slot : symmetry.slots()) {
            int next = 0;
            SlotCase c{numbered(slot, next), {}, shape.text()};
            for (int d : slot.dimensions()) c.extents.push_back(shape.extents[static_cast<std::size_t>(d)]);
            result.push_back(std::move(c));
        }
    }
    return result;
}

/// An orbit of tuples; the value at `tuple` is the value at the first one with a sign or conjugated.
struct Orbit {
    struct Member {
        Tuple tuple;
        bool negative, conjugate;
    };
    std::vector<Member> members;
    Allowed allowed = Allowed::all;
};

/// All orbits of a slot, found by applying the group to every tuple.
inline std::vector<Orbit> orbits_of(const SlotCase& c) {
    std::vector<Orbit> result;
    const auto symmetry = c.symmetry();
    const auto group = group_elements(symmetry);
    std::set<Tuple> seen;
    const Dense all(c.extents);
    for (std::size_t k = 0; k < all.data.size(); ++k) {
        const auto x = all.index(k);
        if (seen.count(x) > 0) continue;
        Orbit orbit;
        orbit.allowed = allowed_values(symmetry, group, x);
        for (const auto& g : group) {
            auto y = permuted(x, g);
            if (seen.insert(y).second) orbit.members.push_back({std::move(y), g.negative, g.conjugate});
        }
        result.push_back(std::move(orbit));
    }
    return result;
}

}  // namespace arges::test
