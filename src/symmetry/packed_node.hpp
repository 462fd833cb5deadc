/// Packed indices of the elements that a symmetry node leaves distinct.
#pragma once

#include "arges/symmetry.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace arges {

/// Where the canonical representative of an element is, and how the element's value follows from it.
struct Canonical {
    std::int64_t index = 0;  ///< packed index of the representative
    bool negative = false;   ///< element = -representative
    bool conjugate = false;  ///< element = conj(representative)
    bool zero = false;       ///< the element is zero by symmetry: an antisymmetric or hollow node has equal children
    bool real = false;       ///< the element is real by symmetry: a hermitian node has equal children; not set where it is zero
};

/// A node of a symmetry tree compiled for given extents. Its dimensions are numbered by *position*: the order of the leaves
/// in the tree, so that each child covers a contiguous range of positions.
///
/// A node over k children of packed size m stores sorted child indices c_0 <= c_1 <= ... and numbers them by
/// sum_j choose(c_j + j, j + 1) (choose(c_j, j + 1) where equal children are not stored).
/// Example, sym over two leaves of extent 3: (0,0) (0,1) (1,1) (0,2) (1,2) (2,2) have the indices 0 to 5.
class PackedNode {
public:
    /// @param node       the node
    /// @param extents    extent of each dimension of the tensor that the leaves refer to
    /// @param keep_equal store equal children of antisymmetric and hollow nodes too: needed where indices are
    ///                   cut to local ones, so that equal local indices may be different elements
    PackedNode(const SymmetryNode& node, std::span<const std::int64_t> extents, bool keep_equal);

    /// Number of packed indices.
    std::int64_t size() const { return size_; }
    /// Number of positions.
    int width() const { return width_; }
    NodeKind kind() const { return kind_; }
    const std::vector<PackedNode>& children() const { return children_; }
    bool strict() const { return strict_; }

    /// Sorts `local` (index by position) into the canonical order, and `residue` with it. Children are compared by packed
    /// index, then by residues. `residue` may be null: all equal.
    Canonical canonicalize(std::int64_t* local, std::int64_t* residue) const;
    /// canonicalize() without residues, of a tuple that stays as it is. @param child_index  gets the sorted packed indices of the children,
    /// if there are any
    Canonical find(const std::int64_t* local, std::int64_t* child_index) const;
    /// Packed index of a canonical tuple.
    std::int64_t pack(const std::int64_t* local) const;
    /// Writes the canonical tuple of a packed index.
    void unpack(std::int64_t index, std::int64_t* local) const;
    /// False if the canonical tuple with these residues is not a stored element: a second copy of an orbit, or a zero.
    bool owns(const std::int64_t* local, const std::int64_t* residue) const;
    /// Number of distinct elements in the orbit of a canonical tuple; sym(a,b): 1 on the diagonal, else 2.
    std::int64_t orbit_size(const std::int64_t* local, const std::int64_t* residue) const;

    /// Packed index of sorted child indices.
    std::int64_t combine(const std::int64_t* child_indices) const;
    /// Sorted child indices of a packed index.
    void separate(std::int64_t index, std::int64_t* child_indices) const;

private:
    Canonical sort_children(std::int64_t* local, std::int64_t* residue, std::int64_t* child_index) const;
    int compare_residues(const std::int64_t* residue, int i, int j) const;

    NodeKind kind_ = NodeKind::leaf;
    bool strict_ = false;
    int width_ = 1;
    std::int64_t size_ = 0;
    std::vector<PackedNode> children_;
};

/// Largest number of dimensions of one slot.
inline constexpr int max_slot_order = 64;

}  // namespace arges
