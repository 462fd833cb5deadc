// Whether a slice of a symmetric tensor may be written: each permutation of its symmetry must map the slice onto itself or outside.
#include "interface/dense/tensor_shares.hpp"

#include "arges/error.hpp"
#include "symmetry/canonical_form.hpp"
#include "symmetry/permutation_group.hpp"

#include <algorithm>

namespace arges {

namespace {

/// Permutations that relate elements of a slot; for huge groups the exchanges of two children of a node.
void relating(const SymmetryNode& node, int order, std::vector<SignedPermutation>& result) {
    if (group_size(node) <= max_group_size) {
        const auto all = group_of(node, order);
        result.insert(result.end(), all.begin() + 1, all.end());
        return;
    }
    for (const auto& child : node.children) relating(child, order, result);
    for (std::size_t i = 0; i < node.children.size() && node.kind != NodeKind::product; ++i)
        for (std::size_t j = i + 1; j < node.children.size(); ++j) {
            const auto pair = group_of(SymmetryNode{node.kind, -1, {node.children[i], node.children[j]}}, order);
            result.push_back(pair.back());
        }
}

/// An index that the permutation maps to itself, with no more equal entries than that takes.
std::vector<std::int64_t> fixed_by(const SignedPermutation& g) {
    std::vector<std::int64_t> index(g.image.size());
    for (std::size_t d = 0; d < index.size(); ++d) {
        index[d] = d;
        for (std::size_t e = g.image[d]; e != d; e = static_cast<std::size_t>(g.image[e]))
            index[d] = std::min(index[d], static_cast<std::int64_t>(e));
    }
    return index;
}

}  // namespace

void check_ranges(const std::string& title, const std::vector<std::int64_t>& extents, const Ranges& ranges) {
    if (ranges.begin.size() != extents.size() || ranges.end.size() != extents.size())
        throw InvalidArgument(title + ": a slice of " + std::to_string(ranges.begin.size()) + " and " + std::to_string(ranges.end.size()) +
                              " bounds for a tensor of order " + std::to_string(extents.size()) +
                              "; give a begin and an end per dimension");
    for (std::size_t d = 0; d < extents.size(); ++d)
        if (ranges.begin[d] < 0 || ranges.begin[d] > ranges.end[d] || ranges.end[d] > extents[d])
            throw InvalidArgument(title + ": the slice [" + std::to_string(ranges.begin[d]) + ", " + std::to_string(ranges.end[d]) +
                                  ") is not within dimension " + std::to_string(d) + " of extent " + std::to_string(extents[d]));
}

void check_part(const std::string& title, const Symmetry& symmetry, const Symmetry& part, const Ranges& ranges) {
    std::vector<SignedPermutation> group;
    for (const auto& slot : symmetry.slots())
        if (slot.kind != NodeKind::leaf) relating(slot, part.order(), group);
    for (const auto& g : group) {
        bool same = true, apart = false;
        int moved = -1;
        for (int d = 0; d < part.order(); ++d) {
            const int other = g.image[d];
            same = same && ranges.equal(d, other);
            apart = apart || ranges.disjoint(d, other);
            if (moved < 0 && other != d) moved = d;
        }
        if (apart) continue;
        SignedPermutation there = g;
        if (same && contains(part, there) && there == g) {
            const auto fixed = fixed_by(g);
            if (!canonical_form(symmetry, fixed).zero || canonical_form(part, fixed).zero) continue;
            throw InvalidArgument(title + ": set_slice over the diagonal of a hollow group, where the part does not vanish by "
                                          "structure; give the part the same symmetry");
        }
        throw InvalidArgument(title + ": set_slice over dimensions " + std::to_string(moved) + " and " + std::to_string(g.image[moved]) +
                              " that are related by symmetry; give them the same range and the part the same symmetry, or "
                              "ranges that do not overlap");
    }
}

}  // namespace arges
