/// The group of a symmetry tree from its definition, for oracles: nothing of the library's groups and packed indices is used.
#pragma once

#include "arges/symmetry.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <set>
#include <tuple>
#include <vector>

namespace arges::test {

/// T(x_image) = (-1)^negative conj^conjugate T(x), where x_image has x[image[d]] at position d.
struct GroupElement {
    std::vector<int> image;
    bool negative = false, conjugate = false;
    bool operator==(const GroupElement&) const = default;
    bool operator<(const GroupElement& other) const {
        return std::tie(image, negative, conjugate) < std::tie(other.image, other.negative, other.conjugate);
    }
};

/// Position d of the result has entry image[d].
inline std::vector<std::int64_t> permuted(const std::vector<std::int64_t>& x, const GroupElement& g) {
    std::vector<std::int64_t> y;
    y.reserve(g.image.size());
    for (int d : g.image) y.push_back(x[static_cast<std::size_t>(d)]);
    return y;
}

/// Exchanges of two children, of every node: what the definition of a tree says.
inline void add_exchanges(const SymmetryNode& node, int order, std::vector<GroupElement>& result) {
    for (const auto& child : node.children) add_exchanges(child, order, result);
    if (node.kind == NodeKind::product) return;
    for (std::size_t i = 0; i < node.children.size(); ++i)
        for (std::size_t j = i + 1; j < node.children.size(); ++j) {
            GroupElement g{std::vector<int>(static_cast<std::size_t>(order)), node.kind == NodeKind::antisymmetric,
                           node.kind == NodeKind::hermitian};
            std::iota(g.image.begin(), g.image.end(), 0);
            const auto a = node.children[i].dimensions(), b = node.children[j].dimensions();
            for (std::size_t l = 0; l < a.size(); ++l)
                std::swap(g.image[static_cast<std::size_t>(a[l])], g.image[static_cast<std::size_t>(b[l])]);
            result.push_back(g);
        }
}

/// All that can be reached by exchanges, one after the other. A permutation with several factors is there several times.
inline std::vector<GroupElement> group_elements(const Symmetry& symmetry) {
    std::vector<GroupElement> exchanges;
    for (const auto& slot : symmetry.slots()) add_exchanges(slot, symmetry.order(), exchanges);
    GroupElement identity;
    identity.image.resize(static_cast<std::size_t>(symmetry.order()));
    std::iota(identity.image.begin(), identity.image.end(), 0);
    std::vector<GroupElement> result{identity};
    std::set<GroupElement> known{identity};
    for (std::size_t i = 0; i < result.size(); ++i)
        for (const auto& e : exchanges) {
            const auto g = result[i];
            GroupElement next{{}, g.negative != e.negative, g.conjugate != e.conjugate};
            for (int d : e.image) next.image.push_back(g.image[static_cast<std::size_t>(d)]);
            if (known.insert(next).second) result.push_back(next);
        }
    return result;
}

/// Which values symmetry allows for an element.
enum class Allowed { zero, real, imaginary, all };

/// The dimensions of two children of a hollow node, for each two: the tensor is zero where their indices are equal.
using EqualDimensions = std::vector<std::pair<std::vector<int>, std::vector<int>>>;
inline void add_hollow_pairs(const SymmetryNode& node, EqualDimensions& result) {
    for (std::size_t i = 0; i < node.children.size(); ++i) {
        add_hollow_pairs(node.children[i], result);
        for (std::size_t j = 0; j < i && node.kind == NodeKind::hollow; ++j)
            result.emplace_back(node.children[i].dimensions(), node.children[j].dimensions());
    }
}

/// The values v with v = (+-) v or (+-) conj(v) for each element of the group that maps x to itself; none but zero where an
/// element of the orbit is on the diagonal of a hollow node.
inline Allowed allowed_values(const Symmetry& symmetry, const std::vector<GroupElement>& group, const std::vector<std::int64_t>& x) {
    EqualDimensions pairs;
    for (const auto& slot : symmetry.slots()) add_hollow_pairs(slot, pairs);
    bool all = true, real = true, imaginary = true;
    for (const auto& g : group) {
        auto at = [&](int d) { return x[static_cast<std::size_t>(g.image[static_cast<std::size_t>(d)])]; };
        for (const auto& [a, b] : pairs)
            if (std::equal(a.begin(), a.end(), b.begin(), [&](int d, int e) { return at(d) == at(e); })) return Allowed::zero;
        bool fixed = true;
        for (std::size_t d = 0; d < x.size() && fixed; ++d) fixed = at(static_cast<int>(d)) == x[d];
        if (!fixed) continue;
        all = all && !g.negative && !g.conjugate;
        real = real && !g.negative;
        imaginary = imaginary && g.negative == g.conjugate;
    }
    return all ? Allowed::all : real ? Allowed::real : imaginary ? Allowed::imaginary : Allowed::zero;
}

inline bool zero_by_symmetry(const Symmetry& symmetry, const std::vector<GroupElement>& group, const std::vector<std::int64_t>& x) {
    return allowed_values(symmetry, group, x) == Allowed::zero;
}

}  // namespace arges::test
