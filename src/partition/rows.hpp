/// Who owns which rows of a factor matrix. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace arges::partition {

/// How the rows of a layer are given to its ranks. Rows of empty slices are owned by nobody.
enum class RowRule : std::uint8_t {
    even,    ///< consecutive rows in equal numbers (irregularity-aware-cpd-2023, section 2.3), held by the owner or not
    claim,   ///< SPLATT's greedy claims
    holders  ///< to a rank that has nonzeros of the row, balanced: as HyperTensor does, but in the other order, and with a cap
};
std::string to_string(RowRule rule);
/// @throws InvalidArgument for a name that to_string() does not give; the message lists those that there are
RowRule parse_row_rule(const std::string& text);

/// The rows that the ranks of a layer have nonzeros in.
struct LayerRows {
    std::int64_t begin = 0, end = 0;              ///< rows of the layer
    std::vector<std::vector<std::int64_t>> held;  ///< by rank in the layer, ascending
};

/// Owners of the rows that some rank holds; all others have none.
struct RowOwners {
    std::vector<std::int64_t> rows;  ///< ascending
    std::vector<int> owner;          ///< rank in the layer
};

/// Gives the rows of a layer to its ranks.
/// - even: rank q has the rows from begin + floor(q * length / ranks) on; empty rows count in the lengths and are left
///   out after.
/// - claim: a row that one rank holds goes to it. For the others, the rank with the least shared rows (held at the start plus
///   claimed) claims as many of the first unclaimed rows that it holds as bring it level with the next; if it finds none, the
///   next rank in turn must claim, held rows first, then any. Exactly SPLATT's for layers without empty rows.
/// - holders: rows of one holder go to it, the others by increasing number of holders to the holder with the fewest rows. A
///   rank takes no more than ceil((1 + excess) * rows / ranks); rows whose holders are all full go to the rank with the fewest
///   rows, at the cost of sending one row more. Ties go to the lower rank, and the lowest rows come first. HyperTensor
///   (hypertensor-sc15, section 3.2) visits rows by decreasing number of holders; docs/distributions.md compares.
///
/// Takes O(h log ranks) steps for h rows held by all ranks together.
/// @param excess of `holders`, at least 0; infinity for no cap
/// @throws InvalidArgument for a layer without ranks, held rows that are not in the layer or not ascending, or a negative
/// excess
RowOwners assign_rows(const LayerRows& layer, RowRule rule, double excess = 0.1);

/// The same rows by row: all rows of a layer that some rank holds, each with its holders in any order.
struct RowHolders {
    std::int64_t begin = 0, end = 0;     ///< rows of the layer
    std::int64_t ranks = 0;              ///< of the layer
    std::vector<std::int64_t> rows;      ///< held by some rank, ascending
    std::vector<std::int64_t> start{0};  ///< row r has the holders [start[r], start[r + 1])
    std::vector<int> holders;            ///< distinct for a row
    std::int64_t connectivity(std::size_t row) const { return start[row + 1] - start[row]; }
};

/// assign_rows() for rows that are given by row: the owner of each. Takes what it is given for right.
std::vector<int> owners_of_rows(const RowHolders& layer, RowRule rule, double excess = 0.1);

}  // namespace arges::partition
