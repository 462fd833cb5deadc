// The group of a symmetry tree: all its elements as products of permutations of children, and
// membership by matching children level by level.
#include "symmetry/permutation_group.hpp"

#include "arges/error.hpp"

#include <algorithm>
#include <numeric>

namespace arges {

namespace {

SignedPermutation identity(int order) {
    SignedPermutation result;
    result.image.resize(order);
    std::iota(result.image.begin(), result.image.end(), 0);
    return result;
}

/// First `second`, then `first` on what it gives: (first * second).image[d] = second.image[first.image[d]].
SignedPermutation compose(const SignedPermutation& first, const SignedPermutation& second) {
    SignedPermutation result;
    for (int d : first.image) result.image.push_back(second.image[d]);
    result.negative = first.negative != second.negative;
    result.conjugate = first.conjugate != second.conjugate;
    return result;
}

bool odd(const std::vector<int>& permutation) {
    int inversions = 0;
    for (std::size_t i = 0; i < permutation.size(); ++i)
        for (std::size_t j = i + 1; j < permutation.size(); ++j) inversions += permutation[i] > permutation[j] ? 1 : 0;
    return inversions % 2 != 0;
}

/// The permutations of whole children of a node.
std::vector<SignedPermutation> child_permutations(const SymmetryNode& node, int order) {
    std::vector<int> arrangement(node.children.size());
    std::iota(arrangement.begin(), arrangement.end(), 0);
    std::vector<SignedPermutation> result;
    do {
        auto element = identity(order);
        for (std::size_t c = 0; c < arrangement.size(); ++c) {
            const auto to = node.children[c].dimensions();
            const auto from = node.children[arrangement[c]].dimensions();
            for (std::size_t l = 0; l < to.size(); ++l) element.image[to[l]] = from[l];
        }
        element.negative = node.kind == NodeKind::antisymmetric && odd(arrangement);
        element.conjugate = node.kind == NodeKind::hermitian && odd(arrangement);
        result.push_back(std::move(element));
    } while (std::next_permutation(arrangement.begin(), arrangement.end()));
    return result;
}

std::vector<SignedPermutation> all_products(const std::vector<SignedPermutation>& a, const std::vector<SignedPermutation>& b) {
    std::vector<SignedPermutation> result;
    result.reserve(a.size() * b.size());
    for (const auto& second : b)
        for (const auto& first : a) result.push_back(compose(first, second));
    return result;
}

/// Index, in sorted order by smallest image, to compare a permuted child with the children it may become.
bool maps_to(const SymmetryNode& from, const SymmetryNode& to, SignedPermutation& p);

/// Matches the children of `from` one to one to those of `to`; `match[c]` is the child of `to` that child c becomes.
bool match_children(const SymmetryNode& from, const SymmetryNode& to, SignedPermutation& p, std::vector<int>& match) {
    std::vector<bool> taken(to.children.size(), false);
    for (const auto& child : from.children) {
        bool found = false;
        for (std::size_t c = 0; c < to.children.size() && !found; ++c) {
            if (taken[c]) continue;
            auto attempt = p;
            if (!maps_to(child, to.children[c], attempt)) continue;
            p = attempt;
            taken[c] = found = true;
            match.push_back(c);
        }
        if (!found) return false;
    }
    return true;
}

bool maps_to(const SymmetryNode& from, const SymmetryNode& to, SignedPermutation& p) {
    if (from.kind != to.kind || from.children.size() != to.children.size()) return false;
    if (from.kind == NodeKind::leaf) return p.image[from.dimension] == to.dimension;
    std::vector<int> match;
    if (from.kind == NodeKind::product) {
        for (std::size_t c = 0; c < from.children.size(); ++c)
            if (!maps_to(from.children[c], to.children[c], p)) return false;
        return true;
    }
    if (!match_children(from, to, p, match)) return false;
    p.negative ^= from.kind == NodeKind::antisymmetric && odd(match);
    p.conjugate ^= from.kind == NodeKind::hermitian && odd(match);
    return true;
}

}  // namespace

std::int64_t group_size(const SymmetryNode& node) {
    if (node.kind == NodeKind::leaf) return 1;
    std::int64_t size = 1;
    for (std::size_t c = 0; c < node.children.size(); ++c) {
        size *= group_size(node.children[c]);
        if (node.kind != NodeKind::product) size *= static_cast<std::int64_t>(c) + 1;
        if (size > max_group_size) return size;
    }
    return size;
}

std::vector<SignedPermutation> group_of(const SymmetryNode& node, int order) {
    if (group_size(node) > max_group_size)
        throw Unsupported("symmetry: a group of more than " + std::to_string(max_group_size) +
                          " permutations; use canonical(...) where the result is known to have the symmetry");
    std::vector<SignedPermutation> result{identity(order)};
    for (const auto& child : node.children) result = all_products(result, group_of(child, order));
    if (node.kind != NodeKind::leaf && node.kind != NodeKind::product) result = all_products(result, child_permutations(node, order));
    return result;
}

std::vector<SignedPermutation> group_of(const Symmetry& symmetry) { return group_of(product(symmetry.slots()), symmetry.order()); }

bool contains(const Symmetry& symmetry, SignedPermutation& permutation) {
    permutation.negative = permutation.conjugate = false;
    // Slots are independent of each other: each must be mapped onto itself.
    for (const auto& slot : symmetry.slots())
        if (!maps_to(slot, slot, permutation)) return false;
    return true;
}

}  // namespace arges
