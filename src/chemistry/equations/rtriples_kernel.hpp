/// One triple of occupied orbitals of the closed-shell (T), on one rank.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace arges::chemistry {

/// Three occupied orbitals i, j, k (0, 1, 2) and virtual orbitals in three ranges A >= B >= C (0, 1, 2), of which each is equal to
/// its neighbour or above it. Letters and formulas: rtriples.cpp.
struct TripleBlock {
    using Ranges = std::array<std::size_t, 3>;
    /// Even permutations of three, then odd ones.
    static constexpr std::array<Ranges, 6> orders{{{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}, {0, 2, 1}, {1, 0, 2}}};

    std::int64_t virtuals = 0;               ///< number of virtual orbitals
    std::int64_t summed = 0;                 ///< orbitals d and l that connected triples are summed over
    std::array<std::int64_t, 3> begin{};     ///< of the ranges
    std::array<std::int64_t, 3> length{};    ///< of the ranges
    std::array<double, 3> occupied{};        ///< orbital energies of i, j, k
    const double* energies = nullptr;        ///< of all virtual orbitals
    std::array<const double*, 3> singles{};  ///< t_i^a over all a, of i, j and k
    /// left[x][p][q]: L(x; d or l, a, b) with a and b in the ranges p and q, p != q where the ranges are different.
    std::array<std::array<std::array<const double*, 3>, 3>, 3> left{};
    /// right[x][y]: R(xy; row, c) over all c, with `summed` rows of connected and `virtuals` of disconnected triples.
    std::array<std::array<const double*, 3>, 3> right{};

    /// Number of a range: that of the first one equal to it.
    std::size_t range(std::size_t p) const;
    /// The ranges in an order, equal ones with the same number.
    Ranges ranges_of(std::size_t order) const;
    /// The first order of the ranges that gives these.
    std::size_t first_of(const Ranges& ranges) const;
    /// Elements of the triples over one order of the ranges.
    std::int64_t cube() const { return length[0] * length[1] * length[2]; }
    /// Elements of the connected triples over all orders of the ranges.
    std::int64_t connected_elements() const;
    /// Bytes that energy() takes beside, at most: BLAS copies panels of operands. @param length  of the longest range
    static std::int64_t blas_memory(std::int64_t summed, std::int64_t length);
    /// The part of the energy, times 3, with these ranges in any order. Threaded; the result does not depend on the number of
    /// threads.
    /// @param work  connected_elements() numbers of working memory
    double energy(double* work) const;
};

}  // namespace arges::chemistry
