/// What predictions of the rows of a table, and of the lines of a text, take.
#pragma once

#include "arges/cpd.hpp"
#include "base/memory_tally.hpp"
#include "comm/communicator.hpp"
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

/// Of a model. Collective.
template <class T>
PredictedModel shape_of(const Communicator& comm, const CpModel<T>& model) {
    PredictedModel shape{comm.size(), model.rank(), model.lengths(), {}};
    for (int m = 0; m < model.order(); ++m) shape.rows.push_back(comm.sum(std::ssize(model.rows(m))));
    return shape;
}

/// Memory of predict_table() on the rank that takes most, beside the model, an upper bound. Pure.
/// @param is_printed  there is no file for what is predicted, and rank 0 gets its text
MemoryTally prediction_memory(const PredictedModel& model, const io::QueryOutline& table, bool is_printed);

/// Likewise of predict_file(). Pure. @param lines_of_rank  that a rank reads, of all lines
MemoryTally prediction_memory(const PredictedModel& model, std::int64_t lines, std::int64_t lines_of_rank, std::int64_t bytes_of_line,
                              bool is_printed);

}  // namespace arges::decompose
