#include "io/table/query_table.hpp"

#include "arges/error.hpp"
#include "comm/values.hpp"
#include "io/file/element_text.hpp"
#include "io/file/text_number.hpp"
#include "io/table/table_parse.hpp"
#include "io/table/table_source.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

namespace arges::io {

namespace {

/// What stands behind the colon of a column or a mode, if it is a unit of time.
std::string unit_of(const std::string& name) {
    const auto colon = name.rfind(':');
    if (colon == std::string::npos) return "";
    try {
        parse_time_unit(name.substr(colon + 1));
    } catch (const InvalidArgument&) {
        return "";
    }
    return name.substr(colon + 1);
}

/// The columns that make the modes of the model.
std::vector<std::string> columns_of(const std::string& path, const std::vector<std::string>& names, std::vector<std::string> columns) {
    if (columns.empty()) return names;
    if (columns.size() != names.size())
        throw InvalidArgument(path + ": " + std::to_string(columns.size()) + " columns for the " + std::to_string(names.size()) +
                              " modes of the model; name one for each (--columns)");
    for (std::size_t m = 0; m < names.size(); ++m) {
        const auto unit = unit_of(names[m]), given = unit_of(columns[m]);
        if (given.empty() && !unit.empty()) columns[m] += ":" + unit;
        if (!given.empty() && given != unit)
            throw InvalidArgument("column " + columns[m] + ": mode " + names[m] + " of the model was made " +
                                  (unit.empty() ? "without a unit of time" : "with " + unit) + "; leave out what stands behind the colon");
    }
    return columns;
}

/// Parses this rank's part of the rows; of a stream rank 0 has all. Returns its lines. Collective.
std::int64_t parse_part(const Communicator& comm, TableSource& source, const TableLayout& layout, TableParser& parser, LineError& error) {
    constexpr std::size_t block_bytes = std::size_t{1} << 20;
    std::unique_ptr<ByteSource> bytes;
    if (source.plain_file() != nullptr)
        bytes = std::make_unique<FileLines>(FileLines::part_of(*source.plain_file(), layout.header.bytes, layout.quote));
    else
        comm.agree([&] {
            if (comm.rank() == 0) bytes = source.stream_from(layout.header.bytes);
        });
    std::int64_t lines = 0;
    comm.agree([&] {
        if (!bytes) return;
        LineBlocks blocks(*bytes, block_bytes, layout.quote);
        try {
            for (auto text = blocks.next(); !text.empty(); text = blocks.next())
                parser.parse(text, blocks.lines_of_block(), blocks.lines() - blocks.lines_of_block() + 1);
        } catch (const InvalidArgument& wrong) {
            error = {blocks.lines() + 1, wrong.what()};
        }
        lines = blocks.lines();
    });
    if (parser.error().line != LineError::none) error = parser.error();
    return lines;
}

/// By field of a column of times: the id of its bin; -1 where it is no time.
std::vector<std::int64_t> ids_of_times(const IdTable& fields, const TimeUnit& unit, IdTable& ids) {
    std::vector<std::int64_t> numbers;
    for (std::int64_t f = 0; f < fields.count(); ++f) {
        const auto time = parse_time(fields.id(f));
        numbers.push_back(time ? ids.number(bin_text(unit, bin_of(unit, *time))) : -1);
    }
    return numbers;
}

}  // namespace

QueryRows read_query_table(const Communicator& comm, const std::string& path, const std::string& ids, const std::vector<std::string>& names,
                           TableOptions options) {
    TableSource source(comm, path);
    QueryRows rows;
    rows.layout = from_first_rank(comm, [&] {
        options.columns = columns_of(source.name(), names, options.columns);
        return table_layout(source.name(), source.beginning(), options);
    });
    auto fields_only = rows.layout;
    for (auto& mode : fields_only.modes) mode.unit = {};
    TableParser parser(source.name(), fields_only, element_text(ElementType::float64), options.skips_empty, true);
    LineError error;
    const auto lines = parse_part(comm, source, rows.layout, parser, error);
    const auto before = rows.layout.header.lines + sum_before(comm, lines, &rows.lines);
    rows.lines += rows.layout.header.lines;
    rows.skipped = comm.sum(parser.skipped());
    std::vector<IdTable> asked;
    std::vector<std::vector<std::int64_t>> numbers;  // by mode and field: of what is asked for
    comm.agree([&] {
        const auto places = parser.take_lines();
        auto nonzeros = parser.take();
        rows.numbers = std::move(nonzeros.indices);
        for (std::size_t m = 0; m < rows.layout.modes.size(); ++m) {
            const auto& column = rows.layout.modes[m];
            const auto& fields = rows.fields.emplace_back(parser.ids_of(m));
            asked.push_back(column.unit.kind == TimeUnit::Kind::none ? fields : IdTable());
            if (column.unit.kind == TimeUnit::Kind::none) {
                numbers.emplace_back();
                continue;
            }
            numbers.push_back(ids_of_times(fields, column.unit, asked[m]));
            const auto wrong = std::find_if(rows.numbers[m].begin(), rows.numbers[m].end(), [&](auto f) { return numbers[m][f] < 0; });
            if (wrong == rows.numbers[m].end()) continue;
            const auto line = places[wrong - rows.numbers[m].begin()];
            if (line < error.line) error = {line, rows.layout.column_text(column.field) + ": " + no_time(fields.id(*wrong))};
        }
        if (rows.layout.value >= 0) {
            rows.values.resize(rows.count());
            if (rows.count() > 0) std::memcpy(rows.values.data(), nonzeros.values.data(), rows.values.size() * sizeof(double));
        }
    });
    if (error.line != LineError::none) error.line += before;
    throw_first(comm, source.name(), error);
    const auto found = indices_of_ids(comm, ids, asked);
    comm.agree([&] {
        rows.indices = rows.numbers;
        for (std::size_t m = 0; m < found.size(); ++m)
            for (auto& index : rows.indices[m]) index = found[m][numbers[m].empty() ? index : numbers[m][index]];
    });
    return rows;
}

}  // namespace arges::io
