/// The choice of a medium-grain distribution by predicted time. Pure.
#pragma once

#include "partition/index_view.hpp"
#include "partition/statistics.hpp"

#include <cstdint>
#include <vector>

namespace arges::partition {

/// What a rank pays for in one ALS iteration. The defaults are rounded from single-core measurements of MTTKRP and of the dense
/// work per row with 16 columns, and of messages between two ranks of a node, packing and waiting included; only their ratios matter for the choice.
struct IterationCosts {
    double per_nonzero_column = 1e-9;  ///< seconds of MTTKRP in one mode for a nonzero and a column
    double per_row_column = 4e-9;      ///< seconds of solve, norm and Gram matrix for an owned row and a column
    double per_byte = 8e-10;           ///< seconds for a byte sent or received, packing included
    double per_message = 2e-6;         ///< seconds for a message sent
    double bytes_per_element = 8;
};

/// Predicted seconds of one ALS iteration: in each mode the products with nonzeros, the work on rows and the movement of rows are done one after
/// the other, and each waits for the rank that has most of it.
double iteration_seconds(const DistributionCounts& counts, int columns, const IterationCosts& costs = {});

/// How choose_medium() works.
struct ChoiceOptions {
    IterationCosts costs;
    RowRule rows = RowRule::holders;
    double excess = 0.1;      ///< as in assign_rows()
    int counted_in_full = 6;  ///< candidates that are counted from all nonzeros, if samples must rank them first
    double look_ups = 2e7;    ///< of indices that counting all candidates may take; samples rank them where it takes more
};

struct MediumChoice {
    MediumGrain distribution;
    double seconds = 0;    ///< of an iteration
    bool counted = false;  ///< from all nonzeros; else estimated from a sample
};

/// All grids, each with the policies nnz, set, ordered-1, ordered-2 and max-min in all modes, from the best to the worst. Those
/// that are counted in full come first, then those estimated from the larger sample. The same input gives the same ranking,
/// whatever the number of threads.
///
/// Where there is too much to count, a small sample ranks all candidates, a larger one the best of them, and the first are
/// counted in full as long as their estimates are near the best count. A sample has those slices whose hashed index is small,
/// with all their nonzeros (with several thousand of a heavy slice), and every so many-th nonzero of the tensor for the loads.
/// Grids with more layers than slices with nonzeros are left out unless all have some; of policies that give a grid the same
/// layers the first is kept.
/// @throws InvalidArgument for less than one rank or column
std::vector<MediumChoice> choose_medium(const SliceTable& table, std::int64_t ranks, int columns,
                                        const ChoiceOptions& options = {});
std::vector<MediumChoice> choose_medium(const IndexView& view, std::int64_t ranks, int columns,
                                        const ChoiceOptions& options = {});

}  // namespace arges::partition
