/// Products of a dense block with the Khatri-Rao product of factors, which share what they have in common.
#pragma once

#include "base/buffer.hpp"
#include "base/memory_tally.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace arges::decompose {

/// A dense array on one rank, first mode fastest; it may have a column index behind its modes, which is slowest.
template <class T>
struct ModeArray {
    const T* data = nullptr;
    std::vector<int> modes;           ///< that it has, ascending
    std::vector<std::int64_t> sizes;  ///< of all modes of the tensor, whether it has them or not
    bool has_columns = false;

    std::int64_t count() const;  ///< elements of a column
};

/// result (the modes that `array` has but for those in `summed`, then columns) = sum over the indices of the modes in `summed`
/// of array times the elements of their factors. Example: modes 0, 1, 2, summed = {2}: result(i, j, r) = sum over k of array(i,
/// j, k) C(k, r).
/// @param factors by mode: sizes[m] x columns, column after column
/// @param weights scratch for the Khatri-Rao product of the factors of `summed`
template <class T>
void contract_modes(const ModeArray<T>& array, std::span<const int> summed, std::span<const T* const> factors, int columns,
                    Buffer<T>& weights, T* result);

/// MTTKRP of one block in all modes by a binary tree over the modes. A node is the block contracted with the factors of all
/// modes that it does not have; it is made from its parent, and kept until one of these factors changes. In a sweep of
/// alternating least squares only the two children of the root are made from the block itself (Phan, Tichavsky, Cichocki, IEEE
/// Trans. Signal Process. 61, 2013; Kaya, Robert, SIAM J. Sci. Comput. 41, 2019).
template <class T>
class DimensionTree {
public:
    /// @param block has all modes, of which there are at least two, and no columns
    DimensionTree(ModeArray<T> block, int columns);

    /// result = X_(mode) times the Khatri-Rao product of the other factors, sizes[mode] x columns, column after column.
    /// @param factors by mode, in the same form
    void multiply(int mode, std::span<const T* const> factors, T* result);
    /// A factor has new values.
    void factor_changes(int mode);
    /// Bytes of the nodes at present.
    std::int64_t bytes() const;
    /// Memory that the nodes take at most for a block of these sizes, with what a product copies. Pure.
    static MemoryTally memory(std::int64_t element_bytes, const std::vector<std::int64_t>& sizes, int columns);
    /// Products with the whole block so far.
    std::int64_t large_products() const { return large_products_; }

private:
    struct Node {
        int begin = 0, end = 0;  // modes
        int parent = -1, depth = 0;
    };
    std::vector<int> summed_modes(const Node& node) const;
    void add_node(int begin, int end, int parent);
    const T* node_values(int node, std::span<const T* const> factors);
    void make(int node, std::span<const T* const> factors, T* result);

    ModeArray<T> block_;
    int columns_;
    std::vector<Node> nodes_;
    std::vector<int> leaf_;          // by mode
    std::vector<Buffer<T>> values_;  // by depth: of one node there
    std::vector<int> present_;       // by depth: which one, or -1
    Buffer<T> weights_;
    std::int64_t large_products_ = 0;
};

}  // namespace arges::decompose
