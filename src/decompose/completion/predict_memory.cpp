#include "decompose/completion/predict_memory.hpp"

#include "base/math.hpp"
#include "io/table/id_table.hpp"
#include "partition/value_counts.hpp"

#include <algorithm>

namespace arges::decompose {

namespace {

constexpr std::int64_t number = sizeof(std::int64_t);

/// Adds what brings the rows of a mode to the elements that need them.
void add_rows(MemoryTally& tally, const PredictedModel& model, std::size_t mode, std::int64_t elements, std::int64_t ids) {
    constexpr std::int64_t lists_of_row = 8, lists_of_owner = 6;  // numbers that are sent, sorted and matched for each
    const auto needed = std::min(ids, model.rows[mode]), owned = ceil_div(model.rows[mode], model.ranks);
    tally.pass(number * elements + partition::counting_memory(elements, model.lengths[mode], true).peak());
    tally.hold(elements * std::int64_t{sizeof(std::uint32_t)});
    tally.pass(number * (elements + lists_of_row * ids + lists_of_owner * owned));
    tally.hold(needed * number * (model.components + 4));
}

}  // namespace

MemoryTally prediction_memory(const PredictedModel& model, const io::QueryOutline& table, bool is_printed) {
    constexpr std::int64_t blocks = std::int64_t{3} << 20, element_letters = 24;
    const auto order = static_cast<std::int64_t>(model.lengths.size()), rows = table.rows_of_rank(model.ranks);
    MemoryTally tally;
    // Parsed with a column of values and the numbers of lines, one of them grown at a time; then by ids.
    std::int64_t tables = 0, ids = 0;
    for (std::size_t m = 0; m < model.lengths.size(); ++m) {
        const auto count = table.ids_of_rank(m, model.ranks, model.lengths[m]);
        tables += io::IdTable::bytes(count, table.id_bytes[m]);
        ids += count;
    }
    tally.hold(number * rows * (order + 2) + tables);
    tally.pass(number * rows + blocks);
    tally.hold(2 * tables + number * ids + number * rows);
    tally.hold(-2 * number * rows);
    tally.hold(number * (ids + order * rows));
    tally.hold(-2 * tables - 2 * number * ids);
    for (std::size_t m = 0; m < model.lengths.size(); ++m)
        add_rows(tally, model, m, rows, table.ids_of_rank(m, model.ranks, model.lengths[m]));
    tally.hold(number * rows);
    const auto letters = table.bytes_of_row + element_letters;
    tally.pass(blocks + (is_printed ? 2 * letters * (rows + table.rows) : 0));
    return tally;
}

}  // namespace arges::decompose
