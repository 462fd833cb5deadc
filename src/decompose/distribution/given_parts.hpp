/// Parts of slices and nonzeros from partitions of hypergraphs, which are spread over the ranks, or from the files that other partitioners
/// write.
#pragma once

#include "comm/communicator.hpp"
#include "decompose/distribution/distribute.hpp"
#include "partition/hypergraph/hypergraph_models.hpp"
#include "partition/hypergraph/spread_hypergraph.hpp"
#include "sparse/nonzeros.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace arges::decompose {

/// All ranks' indices, on rank 0, by mode; elsewhere nothing. Collective.
std::vector<std::vector<std::int64_t>> gather_indices(const Communicator& comm, const sparse::NonzeroIndices& nonzeros);

/// Owners of the nonempty slices of all modes by a partition of the coarse-grain hypergraph, which all ranks make together. Collective.
std::vector<SliceOwners> slices_by_hypergraph(const Communicator& comm, const sparse::NonzeroIndices& nonzeros,
                                              partition::CoarseWeights weights, std::uint64_t seed);

/// The same from a file with a rank for each vertex of the coarse-grain hypergraph: the nonempty slices of mode 1, ascending, then those of
/// mode 2, and so on. Rank 0 reads it. Collective. @throws InvalidArgument on every rank for a wrong file
std::vector<SliceOwners> slices_from_file(const Communicator& comm, const sparse::NonzeroIndices& nonzeros, const std::string& path);

/// The rank of each of this rank's nonzeros by a partition of the fine-grain hypergraph, which all ranks make together. Collective.
std::vector<std::int32_t> nonzeros_by_hypergraph(const Communicator& comm, const sparse::NonzeroIndices& nonzeros, std::uint64_t seed);

/// The same from a file with a rank for each nonzero, those of rank 0 first. Rank 0 reads it. Collective.
/// @throws InvalidArgument on every rank for a wrong file
std::vector<std::int32_t> nonzeros_from_file(const Communicator& comm, const sparse::NonzeroIndices& nonzeros, const std::string& path);

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
