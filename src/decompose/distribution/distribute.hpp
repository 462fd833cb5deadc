/// Distributes the nonzeros of a sparse tensor and the rows of its factor matrices.
#pragma once

#include "base/memory_tally.hpp"
#include "comm/communicator.hpp"
#include "decompose/distribution/row_exchange.hpp"
#include "decompose/distribution/sparse_share.hpp"
#include "interface/sparse/sparse_tensor_exchange.hpp"
#include "partition/grid.hpp"
#include "partition/layers.hpp"
#include "partition/rows.hpp"
#include "sparse/nonzeros.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
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
    bool empty_slices = false;                      ///< coarse, with rows everywhere: rows of empty slices, too
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

/// What a rank has after the distribution but for the values.
struct PlacedIndices {
    struct Set {
        std::vector<int> modes;
        std::vector<std::int64_t> rows;                   ///< as in LocalNonzeros
        std::vector<std::vector<std::uint32_t>> indices;  ///< likewise
    };
    std::vector<Set> sets;
    std::vector<ModeRows> rows;
};
/// Moves indices and finds owners of rows. For each set move_values() takes the values where its nonzeros go; those of the last set need
/// not be kept. Collective.
PlacedIndices place_nonzeros(const Communicator& comm, sparse::NonzeroIndices nonzeros, const DistributionPlan& plan,
                             const std::function<void(std::span<const std::int32_t> to, bool is_last)>& move_values);

/// Moves nonzeros and finds owners of rows. Rows of empty slices are owned by nobody. Nonzeros move column by column, and no
/// column is kept that has moved: give them up by std::move() where memory is short. Collective.
/// @param has_weights nonzeros have weights, on all ranks
template <class T>
Distributed<T> distribute(const Communicator& comm, sparse::Nonzeros<T> nonzeros, const DistributionPlan& plan, bool has_weights = false) {
    Distributed<T> result;
    result.folds = plan.grain != Grain::coarse;
    auto placed = place_nonzeros(comm, std::move(static_cast<sparse::NonzeroIndices&>(nonzeros)), plan, [&](auto to, bool is_last) {
        const auto move = [&](std::vector<T>& column) {
            std::vector<T> copy;
            comm.agree([&] { copy = is_last ? std::move(column) : column; });
            return route_column(comm, to, std::move(copy));
        };
        comm.agree([&] { result.sets.emplace_back(); });
        result.sets.back().nonzeros.values = move(nonzeros.values);
        if (has_weights) result.sets.back().nonzeros.weights = move(nonzeros.weights);
    });
    for (std::size_t s = 0; s < placed.sets.size(); ++s) {
        result.sets[s].modes = std::move(placed.sets[s].modes);
        result.sets[s].nonzeros.rows = std::move(placed.sets[s].rows);
        result.sets[s].nonzeros.indices = std::move(placed.sets[s].indices);
    }
    result.rows = std::move(placed.rows);
    return result;
}

/// Memory of distribute(), an upper bound, with the nonzeros that it is given, and with the tensor's own where they are copies; what it
/// holds at the end is what the rank has then. Pure.
MemoryTally distribution_memory(const SparseShare& share);

}  // namespace arges::decompose
