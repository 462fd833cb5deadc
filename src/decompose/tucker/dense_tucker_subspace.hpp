/// The leading left singular vectors of a matricization: of its Gram matrix, or by QR factorization, right to the machine precision.
#pragma once

#include "arges/tensor.hpp"
#include "decompose/cp/gram_solver.hpp"
#include "interface/world/world_state.hpp"

#include <cstdint>
#include <vector>

namespace arges::decompose {

/// How many singular vectors are kept: at most `most`, and as few as leave no more than `allowed` of the sum of the squares; at
/// least one.
struct RankRule {
    std::int64_t most = 1;
    double allowed = -1;  ///< negative: none
};

/// Leading left singular vectors, on every rank.
template <class T>
struct Subspace {
    std::vector<T> u;  ///< length x rank, column after column; the largest element of a column is positive
    std::int64_t rank = 0;
    double kept = 0;                 ///< sum of the squares of the singular values that belong to them
    double discarded = 0;            ///< sum of the others
    std::int64_t planned_bytes = 0;  ///< that this rank sends to find and to share them

    Subspace() = default;
    /// As many as the rule keeps of singular values, whose squares are falling; u is to be filled.
    Subspace(const std::vector<double>& squares, const RankRule& rule, std::int64_t length);

    /// Makes the element of largest magnitude of each column positive.
    void fix_signs();
    /// Gives every rank the first one's u. Collective.
    void share(const WorldState& world);

    std::int64_t length() const { return rank == 0 ? 0 : std::ssize(u) / rank; }
};

/// From the lower triangle of the Gram matrix of the matricization, which the first rank has and which is lost. That rank
/// computes, the others get what is kept. Collective.
template <class T>
Subspace<T> subspace_of_gram(const World& world, Gram gram, std::int64_t length, const RankRule& rule);

/// Leading left singular vectors by TSQR of the longer side of the matricization (linalg/dense.hpp) and the SVD of its
/// triangle, which the first rank computes. There are at most as many vectors as the matricization has columns. A matricization
/// that is not longer than wide is read where it lies; a longer one is moved to where its rows are spread over the ranks.
/// Collective.
/// @param tensor has plain blocks, in which the mode is whole
template <class T>
Subspace<T> subspace_by_qr(const Tensor<T>& tensor, int mode, const RankRule& rule);

}  // namespace arges::decompose
