/// The choice of a medium-grain distribution by predicted time. Pure.
#pragma once

#include "partition/statistics.hpp"
#include "partition/tensor_part.hpp"
#include "partition/value_counts.hpp"

#include <cstdint>
#include <vector>

namespace arges::partition {

/// What a rank pays for in one ALS iteration. The defaults are rounded from single-core measurements of MTTKRP and of the dense
/// work per row with 16 columns, and of messages between two ranks of a node, packing and waiting included; only their ratios
/// matter for the choice.
struct IterationCosts {
    double per_nonzero_column = 1e-9;  ///< seconds of MTTKRP in one mode for a nonzero and a column
    double per_row_column = 4e-9;      ///< seconds of solve, norm and Gram matrix for an owned row and a column
    double per_byte = 8e-10;           ///< seconds for a byte sent or received, packing included
    double per_message = 2e-6;         ///< seconds for a message sent
    double bytes_per_element = 8;
    double per_prepared = 5e-8;      ///< of a run, for a nonzero of this rank and a mode: it is read, moved and sorted
    double per_visit = 9e-9;         ///< of a choice, for a nonzero of this rank and a mode: hashes
    double per_count = 8e-9;         ///< for a nonzero of this rank and a mode that is cut, whose slices are counted in the end
    double per_look_up = 5e-8;       ///< for a sampled nonzero, a mode and a candidate, with what sending and sorting it takes
    double per_counted_rank = 1e-7;  ///< for a rank, a mode and a candidate
};

/// Predicted seconds of one ALS iteration: in each mode the products with nonzeros, the work on rows and the movement of rows
/// are done one after the other, and each waits for the rank that has most of it.
double iteration_seconds(const DistributionCounts& counts, int columns, const IterationCosts& costs = {});

/// How choose_medium() works.
struct ChoiceOptions {
    IterationCosts costs;
    RowRule rows = RowRule::holders;
    double excess = 0.1;            ///< as in assign_rows()
    std::vector<Grid> grids;        ///< those to choose from, of as many ranks; none: all
    std::vector<LayerRule> rules;   ///< those to choose from; none: all_policies()
    double near = 1.05;             ///< distributions are equally fast within this factor of the predicted time
    double look_ups = 4e6;          ///< of indices that counting all candidates in full may take; samples rank them where it takes more
    double iterations = 50;         ///< that the choice is for
    std::int64_t sample = 1 << 12;  ///< nonzeros for each mode in the smallest sample; the largest has 16 to 32 times as many
    std::int64_t largest = 0;       ///< nonzeros for each mode in the largest of two samples; 0: as look_ups and sample tell
};

/// Candidates that the largest sample ranks. Pure.
std::size_t finalists(std::int64_t ranks);

struct MediumChoice {
    MediumGrain distribution;
    double seconds = 0;                ///< of an iteration; 0: not known
    std::int64_t volume_rows_max = 0;  ///< rows that the busiest rank sends and receives in an iteration
    bool counted = false;              ///< from all nonzeros; else estimated from a sample
    std::int64_t sampled = -1;         ///< nonzeros that were looked at for each mode, at most; -1: most_sampled()
};

/// All grids, each with all policies in all modes, from the best to the worst: of those whose predicted times are within `near`
/// of the least, the one with the least largest volume comes first, since predictions are not better than that; the others
/// follow by time. Collective for the team that holds the tensor; the result is the same on all its ranks, and does not depend
/// on how many they are, nor on threads.
///
/// Where there is too much to count, a small sample ranks all candidates, a larger one the best of them, and one of a sixteenth
/// of the nonzeros (within bounds; all nonzeros of small tensors) the finalists, whose loads are counted in full. A sample has
/// the slices whose hashed index is small, with their nonzeros (no more than a thousand, or four for each rank, of a heavy
/// slice); all ranks of the team get it, and each counts some of the candidates. Grids with more layers than slices with nonzeros are left
/// out unless all have some; of policies that give a grid the same layers the first is kept.
/// @param tensor with slices that were counted from all nonzeros, or from a share of them: then layers and loads are those of the share
/// @param ranks for which a distribution is wanted; the team may have another number
/// @throws InvalidArgument for less than one rank or column, and for a grid of another number of ranks
std::vector<MediumChoice> choose_medium(const Team& team, const TensorPart& tensor, std::int64_t ranks, int columns,
                                        const ChoiceOptions& options = {});
/// The same for a tensor on one rank.
std::vector<MediumChoice> choose_medium(const IndexView& view, std::int64_t ranks, int columns, const ChoiceOptions& options = {});

/// Nonzeros for each mode in the largest sample of so many, with the usual options. Pure.
std::int64_t most_sampled(std::int64_t nonzeros, std::int64_t ranks);

}  // namespace arges::partition
