/// The hypergraph models of sparse MTTKRP (hypertensor-sc15, sections 3.1 and 3.2): a partition's cut is the rows that are sent; and
/// coarse- and fine-grain distributions by partitions of them. Serial and pure: all indices lie in the memory of one rank.
#pragma once

#include "partition/hypergraph/hypergraph.hpp"
#include "partition/hypergraph/partition_hypergraph.hpp"
#include "partition/statistics.hpp"
#include "partition/value_counts.hpp"

#include <cstdint>
#include <vector>

namespace arges::partition {

/// Rows with nonzeros, by mode. Row `rows[m][i]` has number first[m] + i among the rows of all modes.
struct NonemptyRows {
    std::vector<std::vector<std::int64_t>> rows;       ///< by mode, ascending
    std::vector<std::int64_t> first;                   ///< order + 1 numbers; the last is the number of all rows
    std::vector<std::vector<std::uint32_t>> position;  ///< by mode, for each nonzero: the position of its row in rows[m]
};

/// @throws InvalidArgument if an index is outside its mode, or there are 2^32 nonzeros or more
NonemptyRows nonempty_rows(const IndexView& tensor);

/// Weights of the coarse-grain model.
enum class CoarseWeights : std::uint8_t {
    by_mode,  ///< a constraint for each mode: CP-ALS works on one mode after the other
    summed    ///< one constraint: CP-OPT works on all modes between two exchanges
};

/// The coarse-grain model. Vertex and net r for each row r of NonemptyRows; weight: nonzeros of the row's slice, in the
/// constraint of its mode; the net has the row itself and the rows of the other modes that it shares a nonzero with. Cut: rows
/// sent in an iteration. The pins of a net ascend.
Hypergraph coarse_grain_hypergraph(const IndexView& tensor, const NonemptyRows& rows, CoarseWeights weights = CoarseWeights::by_mode);

/// Choices of the fine-grain model.
struct FineGrainModel {
    bool row_vertices = false;  ///< a vertex for each row behind those of the nonzeros, and a constraint for each mode before
                                ///< that of the nonzeros; without: the practical form, nonzeros only, weight 1
    bool all_slices = false;    ///< a net for every slice, as SPLATT writes it; without: for nonempty slices only
};

/// The fine-grain model: a vertex for each nonzero, a net for each slice of all modes that has the slice's nonzeros (and the
/// row's vertex). With row vertices a nonzero weighs `order` in the last constraint and a row 1 in that of its mode; `all_slices`
/// then gives nets of empty slices no pin. Cut: rows sent in one of the two phases, fold or expand.
Hypergraph fine_grain_hypergraph(const IndexView& tensor, const NonemptyRows& rows, const FineGrainModel& model = {});

/// Memory that hypergraph partitions of one rank take at most for each nonzero and mode, in bytes.
inline constexpr std::int64_t hypergraph_bytes = 200;

/// How hypergraphs are partitioned for distributions: with 5 % imbalance.
PartitionOptions distribution_options(std::uint64_t seed);

/// Nonempty slices by a partition of the coarse-grain hypergraph (hypertensor-sc15, section 3.1), with 5 % imbalance.
/// @param rows    nonempty_rows() of the tensor
/// @param weights what is balanced: nonzeros of each mode, or of all modes together
CoarseGrain coarse_by_hypergraph(const IndexView& tensor, const NonemptyRows& rows, std::int64_t ranks,
                                 CoarseWeights weights = CoarseWeights::by_mode, std::uint64_t seed = PartitionOptions{}.seed);

/// Nonzeros by a partition of the fine-grain hypergraph (hypertensor-sc15, section 3.2), with 5 % imbalance.
/// @param rows nonempty_rows() of the tensor
FineGrain fine_by_hypergraph(const IndexView& tensor, const NonemptyRows& rows, std::int64_t ranks,
                             std::uint64_t seed = PartitionOptions{}.seed);

}  // namespace arges::partition
