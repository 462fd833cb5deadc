// Packed indices of symmetric groups: sorted children numbered by sums of binomial coefficients (the combinatorial number system: Knuth,
// The Art of Computer Programming 4A, section 7.2.1.3).
#include "symmetry/packed_node.hpp"

#include "base/math.hpp"

#include <algorithm>
#include <array>

namespace arges {

namespace {

/// choose(n, k) without overflow checks, for indices known to be in range.
std::int64_t small_choose(std::int64_t n, std::int64_t k) {
    if (k == 1) return n;
    if (k == 2) return n * (n - 1) / 2;
    if (n < k) return 0;
    Wide result = 1;
    for (std::int64_t i = 0; i < k; ++i) result = result * (n - i) / (i + 1);
    return result;
}

}  // namespace

PackedNode::PackedNode(const SymmetryNode& node, std::span<const std::int64_t> extents, bool keep_equal) : kind_(node.kind) {
    if (kind_ == NodeKind::leaf) {
        size_ = extents[node.dimension];
        return;
    }
    width_ = 0;
    size_ = 1;
    for (const auto& child : node.children) {
        children_.emplace_back(child, extents, keep_equal);
        width_ += children_.back().width_;
        if (kind_ == NodeKind::product) size_ = checked_product(size_, children_.back().size_);
    }
    if (kind_ == NodeKind::product) return;
    const auto k = std::ssize(children_);
    strict_ = !keep_equal && (kind_ == NodeKind::antisymmetric || kind_ == NodeKind::hollow);
    const auto m = children_[0].size_;
    size_ = m == 0 ? 0 : choose(strict_ ? m : m + k - 1, k);
}

std::int64_t PackedNode::combine(const std::int64_t* child_indices) const {
    std::int64_t index = 0;
    if (kind_ == NodeKind::product) {
        for (std::size_t j = children_.size(); j-- > 0;) index = index * children_[j].size_ + child_indices[j];
        return index;
    }
    for (std::size_t j = 0; j < children_.size(); ++j) {
        const auto shift = strict_ ? 0 : static_cast<std::int64_t>(j);
        index += small_choose(child_indices[j] + shift, static_cast<std::int64_t>(j) + 1);
    }
    return index;
}

void PackedNode::separate(std::int64_t index, std::int64_t* child_indices) const {
    if (kind_ == NodeKind::product) {
        for (std::size_t j = 0; j < children_.size(); ++j) {
            child_indices[j] = index % children_[j].size_;
            index /= children_[j].size_;
        }
        return;
    }
    for (std::size_t j = children_.size(); j-- > 0;) {
        const auto k = static_cast<std::int64_t>(j) + 1;
        const auto n = largest_choose(index, k);
        index -= small_choose(n, k);
        child_indices[j] = strict_ ? n : n - static_cast<std::int64_t>(j);
    }
}

std::int64_t PackedNode::pack(const std::int64_t* local) const {
    if (kind_ == NodeKind::leaf) return local[0];
    std::array<std::int64_t, max_slot_order> child_index;
    for (std::size_t j = 0; j < children_.size(); ++j) {
        child_index[j] = children_[j].pack(local);
        local += children_[j].width_;
    }
    return combine(child_index.data());
}

void PackedNode::unpack(std::int64_t index, std::int64_t* local) const {
    if (kind_ == NodeKind::leaf) {
        local[0] = index;
        return;
    }
    std::array<std::int64_t, max_slot_order> child_index;
    separate(index, child_index.data());
    for (std::size_t j = 0; j < children_.size(); ++j) {
        children_[j].unpack(child_index[j], local);
        local += children_[j].width_;
    }
}

int PackedNode::compare_residues(const std::int64_t* residue, int i, int j) const {
    if (residue == nullptr) return 0;
    const int w = children_[0].width_;
    for (int l = 0; l < w; ++l) {
        const auto a = residue[i * w + l], b = residue[j * w + l];
        if (a != b) return a < b ? -1 : 1;
    }
    return 0;
}

Canonical PackedNode::sort_children(std::int64_t* local, std::int64_t* residue, std::int64_t* child_index) const {
    Canonical result;
    const int k = static_cast<int>(children_.size()), w = children_[0].width_;
    auto swap_children = [&](int i, int j) {
        std::swap(child_index[i], child_index[j]);
        for (int l = 0; l < w; ++l) {
            std::swap(local[i * w + l], local[j * w + l]);
            if (residue != nullptr) std::swap(residue[i * w + l], residue[j * w + l]);
        }
    };
    bool odd = false, equal = false;
    for (int i = 1; i < k; ++i) {
        for (int j = i; j > 0; --j) {
            int order = child_index[j - 1] < child_index[j] ? -1 : child_index[j - 1] > child_index[j] ? 1 : 0;
            if (order == 0) order = compare_residues(residue, j - 1, j);
            equal = equal || order == 0;
            if (order <= 0) break;
            swap_children(j - 1, j);
            odd = !odd;
        }
    }
    result.negative = odd && kind_ == NodeKind::antisymmetric;
    result.conjugate = odd && kind_ == NodeKind::hermitian;
    result.zero = equal && (kind_ == NodeKind::antisymmetric || kind_ == NodeKind::hollow);
    result.real = equal && kind_ == NodeKind::hermitian;
    return result;
}

Canonical PackedNode::canonicalize(std::int64_t* local, std::int64_t* residue) const {
    if (kind_ == NodeKind::leaf) return {local[0]};
    std::array<std::int64_t, max_slot_order> child_index;
    Canonical below;
    int first = 0;
    for (std::size_t j = 0; j < children_.size(); ++j) {
        const auto child = children_[j].canonicalize(local + first, residue == nullptr ? nullptr : residue + first);
        child_index[j] = child.index;
        below.negative ^= child.negative;
        below.conjugate ^= child.conjugate;
        below.zero |= child.zero;
        below.real |= child.real;
        first += children_[j].width_;
    }
    if (kind_ != NodeKind::product && !below.zero) {
        const auto here = sort_children(local, residue, child_index.data());
        below.negative ^= here.negative;
        below.conjugate ^= here.conjugate;
        below.zero |= here.zero;
        below.real |= here.real;
    }
    below.index = below.zero ? 0 : combine(child_index.data());
    below.real = below.real && !below.zero;
    return below;
}

Canonical PackedNode::find(const std::int64_t* local, std::int64_t* child_index) const {
    if (kind_ == NodeKind::leaf) return {local[0]};
    Canonical result;
    std::array<std::int64_t, max_slot_order> below;
    bool odd = false, equal = false;
    for (std::size_t j = 0; j < children_.size(); ++j) {
        const auto child = children_[j].kind_ == NodeKind::leaf ? Canonical{local[0]} : children_[j].find(local, below.data());
        local += children_[j].width_;
        result.negative ^= child.negative;
        result.conjugate ^= child.conjugate;
        result.zero |= child.zero;
        result.real |= child.real;
        auto i = j;
        for (; kind_ != NodeKind::product && i > 0 && child_index[i - 1] >= child.index; --i) {
            equal = equal || child_index[i - 1] == child.index;
            if (child_index[i - 1] == child.index) break;
            child_index[i] = child_index[i - 1];
            odd = !odd;
        }
        child_index[i] = child.index;
    }
    result.negative ^= odd && kind_ == NodeKind::antisymmetric;
    result.conjugate ^= odd && kind_ == NodeKind::hermitian;
    result.zero |= equal && (kind_ == NodeKind::antisymmetric || kind_ == NodeKind::hollow);
    result.real = (result.real || (equal && kind_ == NodeKind::hermitian)) && !result.zero;
    if (result.zero) return result;
    result.index = kind_ != NodeKind::product && children_.size() == 2
                       ? child_index[0] + child_index[1] * (child_index[1] + (strict_ ? -1 : 1)) / 2
                       : combine(child_index);
    return result;
}

bool PackedNode::owns(const std::int64_t* local, const std::int64_t* residue) const {
    if (kind_ == NodeKind::leaf) return true;
    const int w = children_[0].width_;
    int first = 0;
    for (const auto& child : children_) {
        if (!child.owns(local + first, residue + first)) return false;
        first += child.width_;
    }
    if (kind_ == NodeKind::product) return true;
    const bool equal_allowed = kind_ == NodeKind::symmetric || kind_ == NodeKind::hermitian;
    for (int j = 1; j < static_cast<int>(children_.size()); ++j) {
        if (!std::equal(local + (j - 1) * w, local + j * w, local + j * w)) continue;
        const int order = compare_residues(residue, j - 1, j);
        if (order > 0 || (order == 0 && !equal_allowed)) return false;
    }
    return true;
}

std::int64_t PackedNode::orbit_size(const std::int64_t* local, const std::int64_t* residue) const {
    if (kind_ == NodeKind::leaf) return 1;
    std::int64_t size = 1;
    int first = 0;
    for (const auto& child : children_) {
        size *= child.orbit_size(local + first, residue == nullptr ? nullptr : residue + first);
        first += child.width_;
    }
    if (kind_ == NodeKind::product) return size;
    const int w = children_[0].width_;
    std::int64_t run = 1;  // length of the run of equal children that ends here
    for (int j = 1; j < static_cast<int>(children_.size()); ++j) {
        const bool equal = std::equal(local + (j - 1) * w, local + j * w, local + j * w) && compare_residues(residue, j - 1, j) == 0;
        run = equal ? run + 1 : 1;
        size = size * (j + 1) / run;
    }
    return size;
}

}  // namespace arges
