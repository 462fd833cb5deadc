#include "io/table/table_parse.hpp"

#include "arges/error.hpp"
#include "base/math.hpp"
#include "base/text.hpp"
#include "io/file/text_lines.hpp"

#include <algorithm>

namespace arges::io {

namespace {

constexpr std::int64_t most_bins = 10'000'000;

std::string fields_text(std::size_t count) { return std::to_string(count) + (count == 1 ? " field" : " fields"); }

}  // namespace

TableParser::TableParser(const std::string& path, const TableLayout& layout, const ElementText& text, bool skips_empty, bool keep_lines)
    : LineParser(layout.modes.size(), text, keep_lines), path_(path), layout_(layout), skips_empty_(skips_empty),
      row_(layout.delimiter, layout.quote), tables_(layout.modes.size()), waiting_(layout.modes.size()),
      bins_(layout.modes.size(), {INT64_MAX, INT64_MIN}) {}

std::int64_t TableParser::other_bytes() const {
    constexpr std::int64_t copies = 4;  // sorted, sent, merged
    std::int64_t bytes = 0;
    for (const auto& table : tables_) bytes += copies * table.bytes();
    return bytes;
}

void TableParser::parse(std::string_view block, std::int64_t lines, std::int64_t first_line) {
    if (error_.line != LineError::none) return;
    make_room(lines);
    block_ = block;
    const char* at = block.data();
    const char* const end = at + block.size();
    for (auto line = first_line; at < end;) {
        if (!row_.cut(at, end)) {
            fail(line, row_.wrong_field(), row_.wrong());
            return;
        }
        if (!add(line)) return;
        line += 1 + row_.inner_lines();
    }
    for (std::size_t m = 0; m < order_; ++m) number_waiting(m);
}

bool TableParser::fail(std::int64_t line, std::size_t field, const std::string& message) {
    error_ = {line, layout_.column_text(field) + ": " + message};
    return false;
}

bool TableParser::has_empty() const {
    const auto is_empty = [&](std::size_t field) { return row_.fields()[field].empty(); };
    return (layout_.value >= 0 && is_empty(layout_.value)) ||
           std::any_of(layout_.modes.begin(), layout_.modes.end(), [&](const auto& mode) { return is_empty(mode.field); });
}

/// False after an error.
bool TableParser::add(std::int64_t line) {
    const auto& fields = row_.fields();
    if (fields.size() != layout_.names.size()) {
        if (fields.size() == 1 && fields[0].empty()) return true;  // a blank line
        error_ = {line, fields_text(fields.size()) + " where the first line has " + std::to_string(layout_.names.size()) +
                            "; complete the row, or put a field that has the delimiter in it between quotes"};
        return false;
    }
    if (skips_empty_ && has_empty()) {
        ++skipped_;
        return true;
    }
    for (std::size_t m = 0; m < order_; ++m)
        if (!add_index(line, m)) return false;
    if (!add_value(line)) return false;
    if (keep_lines_) lines_.push_back(line);
    ++used_;
    return true;
}

bool TableParser::add_index(std::int64_t line, std::size_t mode) {
    const auto& column = layout_.modes[mode];
    const auto field = row_.fields()[column.field];
    if (column.unit.kind == TimeUnit::Kind::none) {
        add_id(mode, field);
        return true;
    }
    auto& index = nonzeros_.indices[mode][used_];
    const auto time = parse_time(field);
    if (!time) return fail(line, column.field, no_time(field));
    index = bin_of(column.unit, *time);
    auto& [first, last] = bins_[mode];
    first = std::min(first, index);
    last = std::max(last, index);
    return true;
}

void TableParser::add_id(std::size_t mode, std::string_view id) {
    constexpr std::size_t most = 64;
    auto& waiting = waiting_[mode];
    const bool stays = id.data() >= block_.data() && id.data() < block_.data() + block_.size();
    if (!stays) {  // a field with doubled quotes
        nonzeros_.indices[mode][used_] = tables_[mode].number(id);
        return;
    }
    const auto hash = IdTable::hash_of(id);
    tables_[mode].prefetch(hash);
    waiting.push_back({id, hash, used_});
    if (waiting.size() == most) number_waiting(mode);
}

void TableParser::number_waiting(std::size_t mode) {
    for (const auto& one : waiting_[mode]) nonzeros_.indices[mode][one.row] = tables_[mode].number(one.id, one.hash);
    waiting_[mode].clear();
}

bool TableParser::add_value(std::int64_t line) {
    auto* const element = next_value();
    copy_element(element, kernels_.one, kernels_.size);
    if (layout_.value < 0) return true;
    const auto field = row_.fields()[layout_.value];
    const auto wrong = [&](const std::string& message) { return fail(line, layout_.value, message); };
    if (field.empty()) return wrong("the value is missing; fill it in, or leave out rows with empty fields (--skip-empty)");
    switch (text_.read(field, 0, element)) {
    case ValueKind::fine: return true;
    case ValueKind::not_a_number:
        return wrong(quoted(field) + " is not a number; " +
                     (field.find(',') != std::string_view::npos ? "write it with a point, and without other signs"
                                                                : "correct it, or name another column of values (--value)"));
    case ValueKind::not_finite: return wrong(quoted(field) + " is not finite; leave out the row, or give it a number");
    case ValueKind::too_large: return wrong(quoted(field) + " is too large; correct it");
    }
    return true;
}

/// Counts bins from the first one that a time lies in.
void TableParser::settle_bins(const Communicator& comm, std::size_t mode) {
    const auto& unit = layout_.modes[mode].unit;
    const auto first = comm.minimum(bins_[mode].first), last = comm.maximum(bins_[mode].second);
    auto& ids = mode_ids_[mode];
    ids.count = last < first ? 0 : last - first + 1;
    if (ids.count > most_bins)
        throw InvalidArgument(path_ + ": " + layout_.column_text(layout_.modes[mode].field) + ": its times from " + bin_text(unit, first) +
                              " to " + bin_text(unit, last) + " lie in " + with_commas(ids.count) + " bins, and " + with_commas(most_bins) +
                              " are the most; use larger ones, or correct the time that lies apart");
    comm.agree([&] {
        for (std::int64_t i = 0; i < used_; ++i) nonzeros_.indices[mode][i] -= first;
        const auto begin = part_begin(ids.count, comm.rank(), comm.size()), end = part_begin(ids.count, comm.rank() + 1, comm.size());
        for (auto bin = begin; bin < end; ++bin) ids.mine.push_back(bin_text(unit, first + bin));
    });
}

std::string no_time(std::string_view field) {
    return field.empty() ? "the time is missing; fill it in, or leave out rows with empty fields (--skip-empty)"
                         : quoted(field) + " is no time; write it as 2024-01-31T12:30:00, or in seconds since 1970";
}

void TableParser::settle(const Communicator& comm) {
    for (std::size_t m = 0; m < order_; ++m) {
        const auto& column = layout_.modes[m];
        auto& ids = mode_ids_.emplace_back();
        ids.name = column.name;
        if (column.unit.is_bins()) {
            settle_bins(comm, m);
        } else if (column.unit.is_cyclic()) {
            ids.count = cycle_length(column.unit);
            for (std::int64_t part = 0; comm.rank() == 0 && part < ids.count; ++part) ids.mine.push_back(bin_text(column.unit, part));
        } else {
            auto shared = shared_ids(comm, tables_[m]);
            tables_[m] = IdTable();
            for (std::int64_t i = 0; i < used_; ++i) {
                auto& index = nonzeros_.indices[m][i];
                index = shared.numbers[index];
            }
            ids.count = shared.count;
            ids.mine = std::move(shared.mine);
        }
    }
}

}  // namespace arges::io
