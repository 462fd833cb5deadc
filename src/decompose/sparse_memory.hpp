/// Memory of decompositions of sparse tensors, put together from what their steps take.
///
/// A forecast is made twice from the same functions. Before a file is read, sizes are those that its header or samples of its text let
/// expect (expected_share()); when the nonzeros have been distributed, before formats and factors are made, they are those of each rank
/// (distribute_tensor()).
#pragma once

#include "arges/complete.hpp"
#include "arges/cpd.hpp"
#include "arges/tucker.hpp"
#include "base/memory_tally.hpp"
#include "decompose/distribution/sparse_share.hpp"

#include <string>

namespace arges::decompose {

/// Memory of choosing a distribution and bringing nonzeros into it. Pure.
MemoryTally distributing_memory(const SparseShare& share, const std::string& distribution, bool from_file);

/// Memory of cp_decompose() of a sparse tensor on a rank, its nonzeros included, an upper bound; what it holds at the end is the model.
/// Pure.
MemoryTally cp_memory(const SparseShare& share, const CpOptions& options, int threads);

/// Memory of tucker_decompose() of a sparse tensor on a rank, its nonzeros included, an upper bound. Pure.
MemoryTally tucker_memory(const SparseShare& share, const TuckerOptions& options, int threads);

/// Memory of complete() on a rank, its elements included, an upper bound. Pure.
/// @param held_out elements on the rank that are held out
MemoryTally completion_memory(const SparseShare& share, const CompletionOptions& options, std::int64_t held_out, int threads);

}  // namespace arges::decompose
