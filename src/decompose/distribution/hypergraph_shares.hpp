/// The hypergraphs of a sparse tensor whose nonzeros lie on all ranks, spread over the ranks.
#pragma once

#include "comm/communicator.hpp"
#include "partition/hypergraph/hypergraph_models.hpp"
#include "partition/hypergraph/spread_hypergraph.hpp"
#include "sparse/nonzeros.hpp"

#include <cstdint>
#include <vector>

namespace arges::decompose {

/// A rank's part of fine_grain_hypergraph(): its nonzeros are its vertices, behind those of the ranks before. Collective.
/// @throws InvalidArgument for 2^32 nonzeros or more on one rank
partition::HypergraphShare fine_grain_share(const Communicator& comm, const sparse::NonzeroIndices& nonzeros);

/// A rank's part of coarse_grain_hypergraph(): some of the nonempty slices of each mode.
struct CoarseGrainShare {
    partition::HypergraphShare share;
    std::vector<std::vector<std::int64_t>> slices;  ///< by mode, in the order of the vertices
};

/// Slices are spread as nonempty_slices() spreads them. Of nonzeros only the different pairs of their indices move. Collective.
CoarseGrainShare coarse_grain_share(const Communicator& comm, const sparse::NonzeroIndices& nonzeros, partition::CoarseWeights weights);

}  // namespace arges::decompose
