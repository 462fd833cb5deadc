/// The leading left singular vectors of a matricization.
#pragma once

#include "arges/tucker.hpp"
#include "comm/communicator.hpp"
#include "decompose/gram_solver.hpp"

#include <cstdint>
#include <vector>

namespace arges::decompose {

/// How many singular vectors are kept: at most `most`, and as few as leave no more than `allowed` of the sum of the squares; at least one.
struct RankRule {
    std::int64_t most = 1;
    double allowed = -1;  ///< negative: none
};

/// Leading left singular vectors, on every rank.
template <class T>
struct Subspace {
    std::vector<T> u;          ///< length x rank, column after column; the largest element of a column is positive
    std::int64_t rank = 0;
    double kept = 0;           ///< sum of the squares of the singular values that belong to them
    double discarded = 0;      ///< sum of the others
};

/// From the Gram matrix of the matricization. One rank computes, the others get what is kept. Collective.
template <class T>
Subspace<T> subspace_of_gram(const Communicator& comm, Gram gram, std::int64_t length, const RankRule& rule);

/// By the SVD of the matricization, which begins with its QR factorization. There are at most as many vectors as the matricization has columns. Collective.
template <class T>
Subspace<T> subspace_by_svd(const Tensor<T>& tensor, int mode, const RankRule& rule);

}  // namespace arges::decompose
