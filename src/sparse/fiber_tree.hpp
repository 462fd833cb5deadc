/// Nonzeros as a tree of compressed fibers.
#pragma once

#include "base/memory_tally.hpp"
#include "sparse/nonzeros.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace arges::sparse {

/// A compressed sparse fiber tree (Smith and Karypis, *Tensor-matrix products with a compressed sparse tensor*, 2015): level 0
/// has a node for each nonempty slice of the first mode, level 1 one for each nonempty (first, second) index pair, and so on.
/// Unlike there, a level stays a level only while its nodes have `least_fill` nonzeros or more on average; the modes below the
/// last level stand beside each nonzero (they are *flat*), since a node with one child costs more memory and time than an index.
/// The last mode is always flat. Example: (0,0,1), (0,0,2), (0,1,1), (3,0,0), least_fill = 1: level 0 is {0, 3} with children
/// [0,2), [2,3); level 1 is {0, 1, 0} with nonzeros [0,2), [2,3), [3,4); the third index is flat. With least_fill = 2 only level
/// 0 is left, with nonzeros [0,3), [3,4).
template <class T>
struct FiberTree {
    struct Level {
        std::vector<std::uint32_t> ids;    ///< index in the level's mode, one for each node
        std::vector<std::int64_t> starts;  ///< first child of each node (of the last level: first nonzero), and the end
        std::int64_t nodes() const { return std::ssize(starts) - 1; }
    };
    std::vector<int> modes;                        ///< root first; then the other levels; then the flat modes
    std::vector<Level> levels;                     ///< at least one
    std::vector<std::vector<std::uint32_t>> flat;  ///< index of each nonzero in modes[levels.size() + i]
    std::vector<T> values;
    std::vector<T> weights;  ///< as of LocalNonzeros, without padding
    std::int64_t count = 0;

    /// Arrays of nonzeros and nodes are this much longer, with zeros, so that prefetching needs no check.
    static constexpr std::size_t padding = 64;
    static constexpr double default_least_fill = 2.5;

    /// Sorts the nonzeros by `modes`, all of them in the order that is wanted.
    FiberTree(const LocalNonzeros<T>& nonzeros, std::vector<int> modes, double least_fill = default_least_fill);

    std::int64_t bytes() const;
    int depth() const { return levels.size(); }

    /// First nonzero below a node of level 0.
    std::int64_t first_nonzero(std::int64_t root) const {
        for (const auto& level : levels) root = level.starts[root];
        return root;
    }

    /// Nodes of each level and (last) nonzeros that lie on the paths to the nonzeros [begin, end).
    struct Range {
        std::vector<std::int64_t> begin, end;
    };
    Range range(std::int64_t begin, std::int64_t end) const;
    /// Part `part` of `parts` equal ones.
    Range part(int part, int parts) const { return range(count * part / parts, count * (part + 1) / parts); }
};

/// Memory of the constructor of a FiberTree, an upper bound; what it holds at the end is the tree. Levels are bounded by the nonzeros that
/// a node must have, and by the numbers of index tuples. Pure.
/// @param rows by mode @param modes as for the constructor
MemoryTally fiber_tree_memory(std::int64_t element_bytes, std::span<const std::int64_t> rows, std::span<const int> modes,
                              std::int64_t count);

/// `root` first, then the other modes, shortest first: short modes near the root give few nodes.
std::vector<int> modes_from(int root, std::span<const std::int64_t> rows);

}  // namespace arges::sparse
