#include "io/table/query_table.hpp"

#include "arges/error.hpp"
#include "base/math.hpp"
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

/// What rows ask for, by mode: ids, and of times by field the number of its id.
struct AskedIds {
    std::vector<IdTable> ids{};
    std::vector<std::vector<std::int64_t>> numbers{};
};

/// @param places  lines of the rows
/// @param error   gets the first field that is no time where there must be one
AskedIds asked_ids(const QueryRows& rows, const std::vector<std::int64_t>& places, LineError& error) {
    AskedIds asked;
    for (std::size_t m = 0; m < rows.layout.modes.size(); ++m) {
        const auto& column = rows.layout.modes[m];
        const auto& fields = rows.fields[m];
        const bool has_times = column.unit.kind != TimeUnit::Kind::none;
        auto& ids = asked.ids.emplace_back(has_times ? IdTable() : fields);
        auto& numbers = asked.numbers.emplace_back(has_times ? ids_of_times(fields, column.unit, ids) : std::vector<std::int64_t>());
        const auto& own = rows.numbers[m];
        const auto wrong = has_times ? std::find_if(own.begin(), own.end(), [&](auto f) { return numbers[f] < 0; }) : own.end();
        if (wrong == own.end()) continue;
        const auto line = places[wrong - own.begin()];
        if (line < error.line) error = {line, rows.layout.column_text(column.field) + ": " + no_time(fields.id(*wrong))};
    }
    return asked;
}

/// Collective.
void find_indices(const Communicator& comm, const AskedIds& asked, const FindIds& find, QueryRows& rows) {
    const auto found = find(asked.ids);
    comm.agree([&] {
        rows.indices = rows.numbers;
        for (std::size_t m = 0; m < found.size(); ++m)
            for (auto& index : rows.indices[m]) index = found[m][asked.numbers[m].empty() ? index : asked.numbers[m][index]];
    });
}

/// Local.
void sample_rows(TableSource& source, const std::vector<std::string>& names, TableOptions options, QueryOutline& outline) {
    options.columns = columns_of(source.name(), names, options.columns);
    auto layout = table_layout(source.name(), source.beginning(), options);
    for (auto& mode : layout.modes) mode.unit = {};
    TableParser parser(source.name(), layout, element_text(ElementType::float64), options.skips_empty, false);
    const auto text = source.beginning().substr(layout.header.bytes);
    parser.parse(text, std::count(text.begin(), text.end(), '\n'), 1);
    outline.sampled = parser.count() + parser.skipped();
    if (outline.sampled == 0) return;
    outline.bytes_of_row = std::ssize(text) / outline.sampled + 1;
    for (std::size_t m = 0; m < layout.modes.size(); ++m) {
        const auto& ids = parser.ids_of(m);
        std::int64_t letters = 0;
        for (std::int64_t x = 0; x < ids.count(); ++x) letters += std::ssize(ids.id(x));
        outline.ids.push_back(ids.count());
        outline.id_bytes.push_back(letters / std::max<std::int64_t>(1, ids.count()) + 1);
    }
    const auto bytes = outline.is_stream ? source.stream_from(0)->expected_bytes() : static_cast<double>(source.bytes());
    outline.rows =
        std::max(outline.sampled,
                 static_cast<std::int64_t>(bytes / static_cast<double>(std::ssize(text)) * static_cast<double>(outline.sampled)) + 1);
}

}  // namespace

QueryOutline query_outline(const Communicator& comm, const std::string& path, const std::vector<std::string>& names, TableOptions options) {
    TableSource source(comm, path);
    QueryOutline outline;
    outline.is_stream = source.plain_file() == nullptr;
    return from_first_rank(comm, [&] {
        try {
            sample_rows(source, names, std::move(options), outline);
        } catch (const InvalidArgument&) {
            outline.rows = 0;  // read_query_table() says what is wrong
        }
        return outline;
    });
}

QueryRows read_query_table(const Communicator& comm, const std::string& path, const FindIds& find, const std::vector<std::string>& names,
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
    AskedIds asked;
    comm.agree([&] {
        const auto places = parser.take_lines();
        auto nonzeros = parser.take();
        rows.numbers = std::move(nonzeros.indices);
        for (std::size_t m = 0; m < rows.layout.modes.size(); ++m) rows.fields.push_back(parser.ids_of(m));
        asked = asked_ids(rows, places, error);
        if (rows.layout.value >= 0) {
            rows.values.resize(rows.count());
            if (rows.count() > 0) std::memcpy(rows.values.data(), nonzeros.values.data(), rows.values.size() * sizeof(double));
        }
    });
    if (error.line != LineError::none) error.line += before;
    throw_first(comm, source.name(), error);
    find_indices(comm, asked, find, rows);
    return rows;
}

QueryRows query_rows(const Communicator& comm, const std::string& title, const std::vector<std::vector<std::string>>& all,
                     const FindIds& find, const std::vector<std::string>& names) {
    QueryRows rows;
    AskedIds asked;
    LineError error;
    comm.agree([&] {
        rows.lines = std::ssize(all);
        rows.layout.has_header = true;
        rows.layout.names = names;
        for (std::size_t m = 0; m < names.size(); ++m) {
            const auto unit = unit_of(names[m]);
            rows.layout.modes.push_back({m, names[m], unit.empty() ? TimeUnit() : parse_time_unit(unit)});
        }
        rows.fields.resize(names.size());
        rows.numbers.resize(names.size());
        std::vector<std::int64_t> places;
        for (auto x = part_begin(rows.lines, comm.rank(), comm.size()); x < part_begin(rows.lines, comm.rank() + 1, comm.size()); ++x) {
            places.push_back(x + 1);
            for (std::size_t m = 0; m < names.size(); ++m) rows.numbers[m].push_back(rows.fields[m].number(all[x][m]));
        }
        asked = asked_ids(rows, places, error);
    });
    throw_first(comm, title, error);
    find_indices(comm, asked, find, rows);
    return rows;
}

}  // namespace arges::io
