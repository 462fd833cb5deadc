#include "decompose/completion/predict_memory.hpp"

#include "base/math.hpp"
#include "io/table/id_table.hpp"
#include "partition/value_counts.hpp"

#include <algorithm>

namespace arges::decompose {

namespace {

constexpr std::int64_t number = sizeof(std::int64_t);
constexpr std::int64_t blocks = std::int64_t{3} << 20;  // of a file

/// Adds what brings the rows of a mode to the elements that need them.
void add_rows(MemoryTally& tally, const PredictedModel& model, std::size_t mode, std::int64_t elements, std::int64_t ids) {
    constexpr std::int64_t lists_of_row = 8, lists_of_owner = 6;  // numbers that are sent, sorted and matched for each
    const auto needed = std::min(ids, model.rows[mode]), owned = ceil_div(model.rows[mode], model.ranks);
    tally.pass(number * elements + partition::counting_memory(elements, model.lengths[mode], true).peak());
    tally.hold(elements * std::int64_t{sizeof(std::uint32_t)});
    tally.pass(number * (elements + lists_of_row * ids + lists_of_owner * owned));
    tally.hold(needed * number * (model.components + 4));
}

/// Adds what finds the elements and writes them.
/// @param ids by mode, different ones of this rank @param all of all ranks, 0 where they are written to a file
void add_elements(MemoryTally& tally, const PredictedModel& model, std::int64_t elements, const std::vector<std::int64_t>& ids,
                  std::int64_t bytes_of_row, std::int64_t all) {
    constexpr std::int64_t element_letters = 24;
    for (std::size_t m = 0; m < model.lengths.size(); ++m) add_rows(tally, model, m, elements, ids[m]);
    tally.hold(number * elements);
    tally.pass(blocks + (all > 0 ? 2 * (bytes_of_row + element_letters) * (elements + all) : 0));
}

}  // namespace

MemoryTally prediction_memory(const PredictedModel& model, const io::QueryOutline& table, bool is_printed) {
    const auto order = static_cast<std::int64_t>(model.lengths.size()), rows = table.rows_of_rank(model.ranks);
    MemoryTally tally;
    // Parsed with a column of values and the numbers of lines, one of them grown at a time; then by ids.
    std::int64_t tables = 0, ids = 0;
    std::vector<std::int64_t> by_mode;
    for (std::size_t m = 0; m < model.lengths.size(); ++m) {
        by_mode.push_back(table.ids_of_rank(m, model.ranks, model.lengths[m]));
        tables += io::IdTable::bytes(by_mode[m], table.id_bytes[m]);
        ids += by_mode[m];
    }
    tally.hold(number * rows * (order + 2) + tables);
    tally.pass(number * rows + blocks);
    tally.hold(2 * tables + number * ids + number * rows);
    tally.hold(-2 * number * rows);
    tally.hold(number * (ids + order * rows));
    tally.hold(-2 * tables - 2 * number * ids);
    add_elements(tally, model, rows, by_mode, table.bytes_of_row, is_printed ? table.rows : 0);
    return tally;
}

MemoryTally prediction_memory(const PredictedModel& model, std::int64_t lines, std::int64_t lines_of_rank, std::int64_t bytes_of_line,
                              bool is_printed) {
    MemoryTally tally;
    // Indices, a value and the number of each line, in lists that grow to twice of what they need.
    tally.hold(2 * number * lines_of_rank * (std::ssize(model.lengths) + 2));
    tally.pass(number * lines_of_rank + blocks);
    std::vector<std::int64_t> ids;
    for (auto length : model.lengths) ids.push_back(std::min(length, lines_of_rank));
    add_elements(tally, model, lines_of_rank, ids, bytes_of_line, is_printed ? lines : 0);
    return tally;
}

}  // namespace arges::decompose
