/// Distributes the nonzeros of a sparse tensor and the rows of its factor matrices.
#pragma once

#include "base/memory_tally.hpp"
#include "comm/communicator.hpp"
#include "decompose/distribution/row_exchange.hpp"
#include "decompose/distribution/sparse_share.hpp"
#include "partition/grid.hpp"
#include "partition/layers.hpp"
#include "partition/rows.hpp"
#include "sparse/nonzeros.hpp"

#include <cstdint>
#include <vector>

namespace arges::decompose {

/// The three ways of the papers.
enum class Grain : std::uint8_t {
    coarse,  ///< a rank has all nonzeros of its slices, for each mode other ones; rows are fetched, nothing is folded
             ///< (hypertensor-sc15, section 3.1)
    medium,  ///< a rank has a block of a Cartesian grid of layers (irregularity-aware-cpd-2023, section 2.3)
    fine     ///< every nonzero has a rank of its own (hypertensor-sc15, section 3.2)
};

/// The ranks that own slices.
struct SliceOwners {
    std::vector<std::int64_t> slices;  ///< those with nonzeros, ascending
    std::vector<std::int32_t> owner;
};

/// Everything that decides where things go; the same on all ranks but for `parts`.
struct DistributionPlan {
    Grain grain = Grain::medium;
    partition::Grid grid;                           ///< medium
    std::vector<partition::Boundaries> boundaries;  ///< medium: by mode, as many layers as the grid has; coarse: a layer for each rank
    std::vector<SliceOwners> owners;                ///< coarse: by mode, instead of boundaries
    bool rows_everywhere = false;                   ///< coarse: every rank gets all rows, as DFacTo's allgather gives them
    std::vector<std::int32_t> parts;                ///< fine: the rank of each of this rank's nonzeros
    partition::RowRule row_rule = partition::RowRule::holders;
};

/// Nonzeros that serve the MTTKRP of some modes.
template <class T>
struct NonzeroSet {
    std::vector<int> modes;
    sparse::LocalNonzeros<T> nonzeros;
};

/// What a rank has after the distribution.
template <class T>
struct Distributed {
    std::vector<NonzeroSet<T>> sets;  ///< one, or for coarse grain one for each mode
    std::vector<ModeRows> rows;       ///< by mode
    bool folds = true;                ///< results of MTTKRP are partial: they are folded to the owners of rows
};

/// Moves nonzeros and finds owners of rows. Rows of empty slices are owned by nobody. Nonzeros move column by column, and no
/// column is kept that has moved: give them up by std::move() where memory is short. Collective.
template <class T>
Distributed<T> distribute(const Communicator& comm, sparse::Nonzeros<T> nonzeros, const DistributionPlan& plan);

/// What a rank has after the distribution. Local.
/// @param before nonzeros that it had
template <class T>
SparseShare share_of(const Communicator& comm, const Distributed<T>& distributed, const std::vector<std::int64_t>& lengths,
                     std::int64_t before, int columns);

/// Memory of distribute(), an upper bound, with the nonzeros that it is given, and with the tensor's own where they are copies; what it
/// holds at the end is what the rank has then. Pure.
MemoryTally distribution_memory(const SparseShare& share);

}  // namespace arges::decompose
