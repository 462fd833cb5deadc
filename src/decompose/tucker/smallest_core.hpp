/// Ranks of a Tucker decomposition for an error: the smallest leading part of a core that leaves little enough (the energies of all leading
/// parts are prefix sums over the squares of the core: Ballard, Klinvex, Kolda, TuckerMPI, ACM Trans. Math. Softw. 46, 2020).
#pragma once

#include "arges/tensor.hpp"

#include <cstdint>
#include <vector>

namespace arges::decompose {

/// Sums of the squares of a core over the cells of a grid. Cell c of a mode has the indices ends[c - 1] <= i < ends[c].
struct CoreCells {
    std::vector<std::vector<std::int64_t>> ends;  ///< by mode, rising, the last one is the length
    std::vector<double> squares;                  ///< first mode fastest
};

/// A leading part of a core, and what is cut with it.
struct LeadingCore {
    std::vector<std::int64_t> ranks;
    std::vector<double> cut;  ///< by mode: sum of the squares beyond the rank, within the ranks of the modes before
    std::int64_t planned_bytes = 0;

    double outside() const;
};

/// Of all leading parts that end with cells and leave at most `allowed` outside, the one with the fewest elements; the whole where there is
/// none. Nothing is subtracted, so that sums are right however small they are. Pure.
LeadingCore smallest_leading_core(const CoreCells& cells, double allowed);

/// The same of all leading parts of a core, by grids that become finer around the best. Collective.
template <class T>
LeadingCore smallest_leading_core(const Tensor<T>& core, double allowed);

/// By mode: sums of the squares of the slices of a core. Collective.
template <class T>
std::vector<std::vector<double>> slice_squares(const Tensor<T>& core);
/// Bytes that slice_squares() sends from a rank. Pure.
std::int64_t slice_squares_bytes(std::int64_t ranks, std::int64_t rank, const std::vector<std::int64_t>& lengths);

/// The leading part of a core, spread like it. No communication.
/// @param core has plain blocks
template <class T>
Tensor<T> leading_part(const Tensor<T>& core, const std::vector<std::int64_t>& ranks);

/// Memory of smallest_leading_core() on a rank, an upper bound. Pure.
std::int64_t smallest_core_memory(const std::vector<std::int64_t>& lengths);

}  // namespace arges::decompose
