/// How the elements of one slot (a top-level node of a symmetry tree) are distributed over a process grid, and how many elements of the
/// full tensor each of them stands for. The torus dimensions of a slot, taken together, are one dimension of that grid: a rank has one
/// coordinate along it.
#pragma once

#include "base/divider.hpp"
#include "base/math.hpp"
#include "symmetry/packed_node.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace arges {

/// Where an element of a slot is stored, and how its value follows from what is stored there.
struct SlotLocation {
    std::int64_t coordinate = 0;                                           ///< 0 <= coordinate < grid_length()
    std::int64_t index = 0;                                                ///< local index at that coordinate
    bool negative = false, conjugate = false, zero = false, real = false;  ///< as in Canonical
    bool outside = false;                                                  ///< the element is not in the window of the layout
};

/// Distributes a slot in one of three ways.
///
/// *packed*: the packed index I of the whole slot is cyclic over the coordinates: coordinate = I mod p, local index = I / p. No padding.
///
/// *rows* (a node over two children only): the elements with the same larger child form a row of a triangle; rows are cyclic over
/// the coordinates: coordinate = c_1 mod p. A row is contiguous, so that products can read it where it is. No padding, but coordinates
/// differ by up to one row.
///
/// *blocks* (cyclops-2012, section 3): each dimension is cyclic with a phase; a coordinate holds residues r_d of the physical part of
/// the phases, and one packed block per combination of virtual residues. Example: antisym(a,b), extent 5, phase 2, a on two
/// coordinates, b virtual: coordinate 0 holds the blocks (0,0) and (0,1); block (0,1) holds a = 2a', b = 2b'+1 for a' <= b'; block (0,0)
/// pads its diagonal. For a leaf the two ways agree.
class SlotLayout {
public:
    /// Packed way over `grid_length` coordinates; only packed indices in [begin, end) are held (end < 0: all).
    static SlotLayout packed(const SymmetryNode& slot, std::span<const std::int64_t> extents, std::int64_t grid_length,
                             std::int64_t begin = 0, std::int64_t end = -1);
    /// Row way over `grid_length` coordinates; `slot` has two children.
    static SlotLayout rows(const SymmetryNode& slot, std::span<const std::int64_t> extents, std::int64_t grid_length);
    /// Block way: physical and virtual part of each dimension's phase, by position (order of the leaves). Only local indices in [begin,
    /// end), counted through the blocks of a coordinate with their padding, are held (end < 0: all): the same elements of all tensors with
    /// such a slot.
    /// @throws InvalidArgument if dimensions that the slot permutes differ in phase
    static SlotLayout blocks(const SymmetryNode& slot, std::span<const std::int64_t> extents, std::vector<std::int64_t> physical,
                             std::vector<std::int64_t> virtual_factor, std::int64_t begin = 0, std::int64_t end = -1);

    std::int64_t grid_length() const { return grid_length_; }
    int width() const { return width_; }
    bool is_blocks() const { return blocks_; }
    bool is_rows() const { return rows_; }
    /// Number of local indices at a coordinate, padding included.
    std::int64_t local_size(std::int64_t coordinate) const;
    /// Largest local_size().
    std::int64_t max_local_size() const;
    /// Row way: local index of the first element of the coordinate's row `t`, whose larger child is coordinate + t * grid_length().
    std::int64_t row_start(std::int64_t coordinate, std::int64_t t) const {
        return t * (coordinate + (node_.strict() ? 0 : 1)) + grid_length_ * (t * (t - 1) / 2);
    }
    /// Number of packed indices of the slot in the window; in the block way, of local indices.
    std::int64_t size() const { return end_ - begin_; }
    /// A window leaves out some of them.
    bool is_cut() const { return size() < (blocks_ ? virtual_blocks_ : 1) * node_.size(); }
    /// Virtual blocks per coordinate (1 in the packed way).
    std::int64_t virtual_blocks() const { return virtual_blocks_; }
    const std::vector<std::int64_t>& physical() const { return physical_; }
    const std::vector<std::int64_t>& virtual_factor() const { return virtual_; }
    const PackedNode& node() const { return node_; }
    std::int64_t begin() const { return begin_; }

    /// Finds an element; the tuple `x` (by position) is reordered to the stored representative.
    SlotLocation locate(std::int64_t* x) const;
    /// Finds an element of a layout that holds all packed indices; `x` stays as it is. Faster than locate().
    SlotLocation find(const std::int64_t* x) const;

    /// Calls f(local index, const int64* x) for each element stored at `coordinate`, by ascending local index; padding is left out.
    template <class F>
    void for_each(std::int64_t coordinate, F&& f) const {
        if (blocks_)
            for_each_in_blocks(coordinate, std::forward<F>(f));
        else if (rows_)
            for_each_in_rows(coordinate, std::forward<F>(f));
        else
            for_each_packed(coordinate, std::forward<F>(f));
    }

    /// Orbit size of a stored element (tuple as given by for_each).
    std::int64_t orbit_size(const std::int64_t* x) const;

    bool operator==(const SlotLayout& other) const;

private:
    SlotLayout(const SymmetryNode& slot, std::span<const std::int64_t> extents, std::span<const std::int64_t> local_extents,
               bool keep_equal);

    template <class F>
    void for_each_packed(std::int64_t coordinate, F&& f) const;
    template <class F>
    void for_each_in_rows(std::int64_t coordinate, F&& f) const;
    template <class F>
    void for_each_in_blocks(std::int64_t coordinate, F&& f) const;
    void advance(std::int64_t* child_index, std::int64_t step) const;

    SymmetryNode tree_;                  // leaves are positions
    PackedNode node_;                    // of the whole slot (packed) or of one block (blocks)
    std::vector<std::int64_t> extents_;  // by position
    int width_ = 1;
    bool blocks_ = false, rows_ = false;
    std::int64_t grid_length_ = 1, begin_ = 0, end_ = 0, virtual_blocks_ = 1;
    Divider by_grid_length_;
    std::vector<std::int64_t> physical_, virtual_;  // by position; empty in the packed way
};

inline void SlotLayout::advance(std::int64_t* c, std::int64_t step) const {
    const auto k = node_.children().size();
    if (k == 0) {
        c[0] += step;
        return;
    }
    // c_0 runs over [0, limit), limit = c_1 (+ 1 if equal children are stored); the carry goes to the next child.
    const std::int64_t extra = node_.strict() ? 0 : 1;
    c[0] += step;
    while (k > 1 && c[0] >= c[1] + extra) {
        c[0] -= c[1] + extra;
        std::size_t j = 1;
        ++c[1];
        while (j + 1 < k && c[j] >= c[j + 1] + extra) {
            c[j] = node_.strict() ? static_cast<std::int64_t>(j) : 0;
            ++c[++j];
        }
    }
}

template <class F>
void SlotLayout::for_each_packed(std::int64_t coordinate, F&& f) const {
    const auto first = begin_ + ((coordinate - begin_) % grid_length_ + grid_length_) % grid_length_;
    if (first >= end_) return;
    std::array<std::int64_t, max_slot_order> child_index{}, unpacked, x{};
    unpacked.fill(-1);
    const auto& children = node_.children();
    const bool plain_children = children.empty() || children[0].kind() == NodeKind::leaf;
    if (children.empty())
        child_index[0] = first;
    else
        node_.separate(first, child_index.data());
    std::int64_t local = 0;
    for (auto index = first; index < end_; index += grid_length_, ++local) {
        if (plain_children) {
            f(local, static_cast<const std::int64_t*>(child_index.data()));
        } else {
            for (std::size_t j = 0, position = 0; j < children.size(); ++j) {
                if (unpacked[j] != child_index[j]) children[j].unpack(child_index[j], x.data() + position);
                unpacked[j] = child_index[j];
                position += static_cast<std::size_t>(children[j].width());
            }
            f(local, static_cast<const std::int64_t*>(x.data()));
        }
        if (index + grid_length_ < end_) advance(child_index.data(), grid_length_);
    }
}

template <class F>
void SlotLayout::for_each_in_rows(std::int64_t coordinate, F&& f) const {
    const auto& children = node_.children();
    const auto split = children[0].width();
    const std::int64_t extra = node_.strict() ? 0 : 1;
    std::array<std::int64_t, max_slot_order> x{};
    std::int64_t local = 0;
    for (auto row = coordinate; row < children[0].size(); row += grid_length_) {
        children[1].unpack(row, x.data() + split);
        for (std::int64_t c = 0; c < row + extra; ++c, ++local) {
            children[0].unpack(c, x.data());
            f(local, static_cast<const std::int64_t*>(x.data()));
        }
    }
}

template <class F>
void SlotLayout::for_each_in_blocks(std::int64_t coordinate, F&& f) const {
    std::array<std::int64_t, max_slot_order> residue{}, local{}, x{};
    const std::size_t w = width_;
    const auto block_size = node_.size();
    for (std::int64_t v = begin_ / std::max<std::int64_t>(1, block_size); v * block_size < end_; ++v) {
        auto rest_coordinate = coordinate, rest_virtual = v;
        for (std::size_t d = 0; d < w; ++d) {
            residue[d] = rest_coordinate % physical_[d] + physical_[d] * (rest_virtual % virtual_[d]);
            rest_coordinate /= physical_[d];
            rest_virtual /= virtual_[d];
        }
        const auto last = std::min(block_size, end_ - v * block_size);
        for (auto packed_index = std::max<std::int64_t>(0, begin_ - v * block_size); packed_index < last; ++packed_index) {
            node_.unpack(packed_index, local.data());
            bool inside = true;
            for (std::size_t d = 0; d < w; ++d) {
                x[d] = local[d] * physical_[d] * virtual_[d] + residue[d];
                inside = inside && x[d] < extents_[d];
            }
            if (inside && node_.owns(local.data(), residue.data()))
                f(v * block_size + packed_index - begin_, static_cast<const std::int64_t*>(x.data()));
        }
    }
}

/// True if every local index of a slot stands for one element: nothing is exchanged, and there is no padding.
bool has_single_orbits(const SlotLayout& slot);

/// Orbit sizes of the local indices of a slot at a coordinate; zero for padding.
/// Example: sym(a,b) of extent 2 on one coordinate stores (0,0), (0,1), (1,1): sizes 1, 2, 1.
std::vector<double> orbit_sizes(const SlotLayout& slot, std::int64_t coordinate);

/// Local indices of a slot, at a coordinate, whose elements are real by symmetry; ascending.
/// Example: hermitian(a,b) of extent 2 on one coordinate: 0 and 2, which are (0,0) and (1,1).
std::vector<std::int64_t> real_indices(const SlotLayout& slot, std::int64_t coordinate);

}  // namespace arges
