/// Partition files of this library: all that the choice of a distribution has found, for further runs with the same tensor.
///
/// The first line says of which tensor and for how many ranks it is, the second names the distribution, as "medium 4x1x1 nnz". Where layers
/// are cut, a line for each mode has their boundaries. All these start with %. Where each nonzero or each nonempty slice has a rank of its
/// own, lines as in the files of other partitioners follow.
#pragma once

#include "decompose/distribution/choose_distribution.hpp"

#include <optional>
#include <string>

namespace arges::decompose {

/// Writes a file that gets its name, and takes the place of an older one, when it is complete. Collective.
/// @throws InvalidArgument on every rank if it cannot be written
void save_partition(const Communicator& comm, const sparse::NonzeroIndices& nonzeros, const ChosenDistribution& chosen,
                    const std::string& path);

/// What save_partition() has written, but for the rule of rows; nothing if the file is another partitioner's. Rank 0 reads it. Collective.
/// @throws InvalidArgument on every rank if it cannot be read, is damaged, or is for another tensor or number of ranks
std::optional<ChosenDistribution> saved_partition(const Communicator& comm, const sparse::NonzeroIndices& nonzeros,
                                                  const std::string& path);

}  // namespace arges::decompose
