/// What predictions of a table take.
#pragma once

#include "base/memory_tally.hpp"
#include "io/table/query_table.hpp"

#include <cstdint>
#include <vector>

namespace arges::decompose {

/// What memory for predictions depends on, beside the table.
struct PredictedModel {
    std::int64_t ranks = 1, components = 1;
    std::vector<std::int64_t> lengths{};  ///< of the modes
    std::vector<std::int64_t> rows{};     ///< by mode: that the model has
};

/// Memory of predict_table() on the rank that takes most, beside the model, an upper bound. Pure.
/// @param is_printed  there is no file for what is predicted, and rank 0 gets its text
MemoryTally prediction_memory(const PredictedModel& model, const io::QueryOutline& table, bool is_printed);

}  // namespace arges::decompose
