#include "cli/conversions.hpp"

#include "base/memory_tally.hpp"
#include "base/read_number.hpp"
#include "base/stopwatch.hpp"
#include "base/text.hpp"
#include "cli/ids.hpp"
#include "cli/program.hpp"
#include "cli/sparse_options.hpp"
#include "cli/world_options.hpp"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace arges::cli {

namespace {

/// The same on every rank.
struct WrittenTable {
    TableReport report{};
    std::string ids{};                             ///< file
    std::vector<std::vector<std::string>> ends{};  ///< by mode: first and last id
    double density = 0, read_seconds = 0, write_seconds = 0;
    std::int64_t ranks = 1, bytes_written = 0, peak_memory_bytes = 0;
};

std::string modes_text(const WrittenTable& done) {
    const auto& report = done.report;
    std::vector<std::vector<std::string>> rows{{"mode", "column", "ids", "first", "last", "empty slices"}};
    for (std::size_t m = 0; m < report.lengths.size(); ++m)
        rows.push_back({std::to_string(m + 1), report.columns[m], with_commas(report.lengths[m]), shown_id(done.ends[m].front()),
                        shown_id(done.ends[m].back()), with_commas(report.lengths[m] - report.nonempty_slices[m])});
    return table(rows, {false, true, false, true, true, false}, 2);
}

void print_tables(std::ostream& out, const TableConversion& conversion, const WrittenTable& done) {
    const auto& report = done.report;
    const auto row = [&out](const char* name, const std::string& text) { out << fmt::format("{:<12} {}\n", name, text); };
    row("read", fmt::format("{}, {}, {}, {:.3f} s ({:.0f} MB/s) on {} {}", conversion.input, report.form, format_bytes(report.bytes),
                            done.read_seconds, static_cast<double>(report.bytes) / done.read_seconds / 1e6, done.ranks,
                            done.ranks == 1 ? "rank" : "ranks"));
    row("columns", fmt::format("delimiter {}, {}", report.delimiter, report.has_header ? "names in the first line" : "no line of names"));
    row("rows",
        with_commas(report.entries) + (report.skipped > 0 ? ", and " + with_commas(report.skipped) + " with empty fields left out" : ""));
    row("values", conversion.options.value.empty() ? "1 for each row" : conversion.options.value);
    row("duplicates", with_commas(report.duplicates) + " merged: " +
                          (conversion.options.value.empty() && conversion.duplicates == "sum" ? "count" : conversion.duplicates));
    row("nonzeros", fmt::format("{}, density {}", with_commas(report.entries - report.duplicates), scientific(done.density)));
    row("written", fmt::format("{}, {}, {:.3f} s", conversion.output, format_bytes(done.bytes_written), done.write_seconds));
    row("ids", fmt::format("{}, {}", done.ids, format_bytes(file_bytes(done.ids))));
    row("memory", format_bytes(done.peak_memory_bytes) + ", largest process");
    out << '\n' << modes_text(done) << std::flush;
}

void print_json(std::ostream& out, const TableConversion& conversion, const WrittenTable& done) {
    const auto& report = done.report;
    nlohmann::ordered_json object;
    object["input"] = conversion.input;
    object["output"] = conversion.output;
    object["ids"] = done.ids;
    object.update(report_json(report));
    object["delimiter"] = report.delimiter;
    object["header"] = report.has_header;
    object["columns"] = report.columns;
    object["value"] = conversion.options.value;
    object["skipped"] = report.skipped;
    object["duplicates_merged"] = conversion.duplicates;
    object["density"] = done.density;
    object["bytes_written"] = done.bytes_written;
    object["read_seconds"] = done.read_seconds;
    object["write_seconds"] = done.write_seconds;
    object["peak_memory_bytes"] = done.peak_memory_bytes;
    object["ranks"] = done.ranks;
    out << object.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << std::endl;
}

bool is_number(const std::string& text) {
    double value = 0;
    return read_number(text, value);
}

/// A time that is no small number, which ids and values are.
bool is_likely_time(const std::string& text, const std::string& name) {
    return is_time(text) && (!is_number(text) || name.find("time") != std::string::npos || name.find("date") != std::string::npos);
}

/// "id", "user_id", "userId", but not "paid".
bool is_id(const std::string& name) {
    return name == "id" || name.ends_with("_id") || name.ends_with("-id") || name.ends_with(" id") || name.ends_with("Id") ||
           name.ends_with("ID");
}

/// Between quotes where a shell would see more than one word.
std::string word(const std::string& text) {
    const bool is_plain =
        text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.,:/+") == std::string::npos;
    return is_plain && !text.empty() ? text : "'" + text + "'";
}

}  // namespace

std::string conversion_line(const World& world, const std::string& file) {
    const auto outline = table_outline(world, file);
    auto names = outline.names;
    const auto& row = outline.row;
    for (std::size_t c = 0; c < names.size(); ++c)
        if (names[c].empty() || names[c].find(',') != std::string::npos || is_number(names[c])) names[c] = std::to_string(c + 1);
    const bool has_rows = row.size() == names.size();
    const auto last = names.size() - 1;
    const auto& last_name = names.back();
    const bool has_value =
        names.size() > 2 && has_rows && is_number(row[last]) && !is_likely_time(row[last], last_name) && !is_id(last_name);
    std::vector<std::string> columns;
    for (std::size_t c = 0; c < names.size() - (has_value ? 1 : 0); ++c)
        columns.push_back(
            names[c] + (has_rows && is_likely_time(row[c], names[c]) ? (row[c].size() == 10 && !is_number(row[c]) ? ":1d" : ":1h") : ""));
    auto base = file.ends_with(".gz") ? file.substr(0, file.size() - 3) : file;
    base.resize(base.size() - 4);  // .csv or .tsv
    return "arges convert " + word(file) + " " + word(base + ".atns") + " --columns " + word(joined(columns, ",")) +
           (has_value ? " --value " + word(last_name) : "");
}

void convert_table(const World& world, const TableConversion& conversion, bool json, std::ostream& out) {
    Stopwatch watch;
    WrittenTable done{.ids = ids_path(conversion.output), .ranks = world.size()};
    std::vector<ModeIds> ids;
    const auto tensor = read_table(conversion.is_single ? ElementType::float32 : ElementType::float64, world, conversion.input,
                                   conversion.options, done.report, ids);
    done.density = tensor.density();
    done.read_seconds = watch.lap();
    write_ids(world, ids, done.ids);
    write_sparse(tensor, conversion.output, conversion.base);
    done.write_seconds = watch.lap();
    std::vector<std::vector<std::int64_t>> ends;
    for (auto length : done.report.lengths) ends.push_back({0, length - 1});
    done.ends = read_ids(world, done.ids, ends);
    done.bytes_written = file_bytes(conversion.output);
    done.peak_memory_bytes = world.maximum(peak_process_memory());
    json ? print_json(out, conversion, done) : print_tables(out, conversion, done);
}

}  // namespace arges::cli
