/// From a sparse tensor to its nonzeros on the ranks that work on them.
#pragma once

#include "decompose/distribution/choose_distribution.hpp"
#include "interface/sparse_state.hpp"

namespace arges::decompose {

/// Nonzeros where they are worked on, and how that was found.
template <class T>
struct DistributedTensor {
    ChosenDistribution chosen;
    Distributed<T> nonzeros;
    SparseShare share;  ///< of this rank, exact
};

/// Chooses a distribution for a tensor and moves its nonzeros; `gives_up`: the tensor keeps none. Collective.
/// @throws as choose_distribution()
template <class T>
DistributedTensor<T> distribute_tensor(SparseState& source, bool gives_up, const DistributionRequest& request);

}  // namespace arges::decompose
