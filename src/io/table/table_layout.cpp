#include "io/table/table_layout.hpp"

#include "arges/error.hpp"
#include "base/read_number.hpp"
#include "base/spelling.hpp"
#include "base/text.hpp"
#include "io/file/text_number.hpp"
#include "io/table/row_fields.hpp"

#include <algorithm>
#include <optional>

namespace arges::io {

namespace {

constexpr std::string_view mark = "\xef\xbb\xbf";  // of UTF-8
constexpr std::int64_t most_bins_of_names = 40;

/// The one of the usual delimiters that the first line has most of.
char found_delimiter(std::string_view line, bool has_quotes) {
    std::pair<std::ptrdiff_t, char> best{0, ','};
    for (char sign : {',', '\t', ';', '|'}) {
        std::ptrdiff_t count = 0;
        bool is_inside = false;
        for (char c : line) {
            if (c == '"' && has_quotes) is_inside = !is_inside;
            if (c == sign && !is_inside) ++count;
        }
        if (count > best.first) best = {count, sign};
    }
    return best.second;
}

char given_delimiter(const std::string& path, const std::string& text) {
    if (text == "tab" || text == "\\t") return '\t';
    if (text.size() != 1 || text == "\n" || text == "\"" || text == "\r")
        throw InvalidArgument(path + ": '" + text + "' is no delimiter; give one character, or tab");
    return text[0];
}

bool is_number(const std::string& text) {
    double value = 0;
    return careful_value(text, value) == ValueKind::fine;
}

/// A column that is asked for: what stands before the colon, and the unit behind it.
struct AskedColumn {
    std::string name;
    std::string unit;
};

/// A name that has a colon itself is one, too.
AskedColumn asked(const std::string& text, const std::vector<std::string>& names) {
    const auto colon = text.rfind(':');
    if (colon == std::string::npos || std::find(names.begin(), names.end(), text) != names.end()) return {text, ""};
    return {text.substr(0, colon), text.substr(colon + 1)};
}

std::optional<std::size_t> number_of(const std::string& name) {
    std::size_t number = 0;
    return read_number(name, number) ? std::optional(number) : std::nullopt;
}

/// The field of a column. @param names  none: columns have numbers only
std::size_t field_of(const std::string& path, const std::string& name, const std::vector<std::string>& names, std::size_t fields) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found != names.end()) {
        if (std::find(found + 1, names.end(), name) != names.end())
            throw InvalidArgument(path + ": two columns are called '" + name + "'; give the number of the one that is meant, from 1");
        return static_cast<std::size_t>(found - names.begin());
    }
    const auto number = number_of(name);
    if (number && *number >= 1 && *number <= fields) return *number - 1;
    if (number)
        throw InvalidArgument(path + ": there is no column " + name + ", the first line has " + std::to_string(fields) +
                              (fields == 1 ? " field" : " fields") +
                              "; columns are numbered from 1, or say which character is between them "
                              "(--delimiter)");
    const auto nearest = nearest_word(name, names);
    std::vector<std::string> shown(names.begin(), names.begin() + std::min<std::ptrdiff_t>(std::ssize(names), most_bins_of_names));
    throw InvalidArgument(path + ": there is no column '" + name + "'" +
                          (names.empty()     ? "; without a line of names, columns are called by their numbers, from 1"
                           : nearest.empty() ? "; there are " + joined(shown) + (names.size() > shown.size() ? ", ..." : "") +
                                                   (names.size() == 1 ? "; say which character is between columns (--delimiter)" : "")
                                             : "; did you mean " + nearest + "?"));
}

/// Whether the first row has names, see TableHeader.
bool has_names(const std::string& path, const FirstRows& first, const TableOptions& options) {
    if (options.header != TableHeader::detect) return options.header == TableHeader::yes;
    const auto& row = first.rows[0];
    bool is_known = false;
    const auto is_called_by_number = [&](const std::string& text, bool is_value) {
        const auto column = asked(text, {});
        const auto number = number_of(column.name);
        if (!number) return false;
        if (*number < 1 || *number > row.size() || (!is_value && column.unit.empty())) return true;
        const auto& field = row[*number - 1];
        const bool fits = is_value ? is_number(field) : parse_time(field).has_value();
        is_known = is_known || fits;
        return fits;
    };
    for (const auto& column : options.columns)
        if (!is_called_by_number(column, false)) return true;
    if (!options.value.empty() && !is_called_by_number(options.value, true)) return true;
    if (!is_known)
        throw InvalidArgument(path + ": columns that are called by numbers do not tell whether the first line (" + joined(row) +
                              ") has their names; say so (--header yes or no)");
    return false;
}

}  // namespace

std::string TableLayout::column_text(std::size_t field) const {
    const auto number = std::to_string(field + 1);
    return "column " + number + (has_header && field < names.size() ? " (" + names[field] + ")" : "");
}

FirstRows first_rows(const std::string& path, std::string_view beginning, const TableOptions& options) {
    FirstRows result;
    const char* const begin = beginning.data();
    const char* const end = begin + beginning.size();
    const char* at = begin + (beginning.starts_with(mark) ? mark.size() : 0);
    const std::string_view text(at, static_cast<std::size_t>(end - at));
    const auto line = text.substr(0, text.find('\n', text.find_first_not_of("\r\n")));
    const char delimiter = options.delimiter.empty() ? found_delimiter(line, options.has_quotes) : given_delimiter(path, options.delimiter);
    result.delimiter = delimiter == '\t' ? "tab" : std::string(1, delimiter);
    RowFields row(delimiter, options.has_quotes ? '"' : '\0');
    result.before = result.first = {0, at - begin};
    for (std::int64_t lines = 0; at < end && result.rows.size() < 2;) {
        if (!row.cut(at, end)) {
            if (!result.rows.empty()) break;  // the one who reads it says so
            throw InvalidArgument(path + ", line " + std::to_string(lines + 1) + ": column " + std::to_string(row.wrong_field() + 1) +
                                  ": " + row.wrong());
        }
        lines += 1 + row.inner_lines();
        const bool is_blank = row.fields().size() == 1 && row.fields()[0].empty();
        if (is_blank && result.rows.empty()) result.before = {lines, at - begin};
        if (is_blank) continue;
        if (result.rows.empty()) result.first = {lines, at - begin};
        result.rows.emplace_back(row.fields().begin(), row.fields().end());
    }
    if (result.rows.empty()) throw InvalidArgument(path + ": there is no row in the table; check how it was made");
    return result;
}

TableLayout table_layout(const std::string& path, std::string_view beginning, const TableOptions& options) {
    const auto first = first_rows(path, beginning, options);
    TableLayout layout;
    layout.delimiter = first.delimiter == "tab" ? '\t' : first.delimiter[0];
    layout.quote = options.has_quotes ? '"' : '\0';
    layout.has_header = has_names(path, first, options);
    layout.header = layout.has_header ? first.first : first.before;
    const auto& row = first.rows[0];
    const auto names = layout.has_header ? row : std::vector<std::string>();
    layout.names = names;
    for (std::size_t f = names.size(); f < row.size(); ++f) layout.names.push_back(std::to_string(f + 1));
    for (const auto& text : options.columns) {
        const auto column = asked(text, names);
        const auto field = field_of(path, column.name, names, row.size());
        const auto name = layout.has_header ? names[field] : std::to_string(field + 1);
        try {
            layout.modes.push_back({field, name + (column.unit.empty() ? "" : ":" + column.unit),
                                    column.unit.empty() ? TimeUnit() : parse_time_unit(column.unit)});
        } catch (const InvalidArgument& error) {
            throw InvalidArgument("column " + text + ": " + error.what());
        }
    }
    if (!options.value.empty()) layout.value = static_cast<std::int64_t>(field_of(path, options.value, names, row.size()));
    return layout;
}

}  // namespace arges::io
