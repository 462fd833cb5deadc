/// The hypergraph models of sparse MTTKRP (hypertensor-sc15, sections 3.1 and 3.2): a partition's cut is the rows that are sent.
#pragma once

#include "partition/hypergraph/hypergraph.hpp"
#include "partition/index_view.hpp"

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

}  // namespace arges::partition
