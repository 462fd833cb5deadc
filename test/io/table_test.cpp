// Tables against a slow oracle: random columns, written with random delimiters, quotes and ends of lines.
#include "arges/table_io.hpp"
#include "io/sparse_files.hpp"
#include "io/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

namespace arges::test {
namespace {

enum class Fields { words, whole, reals, hours, days, months, weekdays, hour_of_day };

/// A column that makes a mode: its fields as text, and of times the number of the bin from any first one.
struct RandomColumn {
    Fields kind;
    std::string asked;
    std::vector<std::string> fields{};
    std::vector<std::int64_t> bins{};
};

std::string two(std::int64_t n) { return (n < 10 ? "0" : "") + std::to_string(n); }

/// Between 2023-11 and 2024-03, which has a 29th of February. Days of months before that: 0, 30, 61, 92, 121.
void add_time(RandomColumn& column, Random& random) {
    static const std::vector<std::pair<std::string, std::int64_t>> months{
        {"2023-11", 30}, {"2023-12", 31}, {"2024-01", 31}, {"2024-02", 29}};
    const auto month = random.below(4);
    const auto day = random.below(months[month].second), hour = random.below(24), minute = random.below(60);
    std::int64_t days = 0;  // since 2023-11-01, a Wednesday, 19662 days behind 1970-01-01
    for (std::int64_t m = 0; m < month; ++m) days += months[m].second;
    days += day;
    switch (column.kind) {
    case Fields::hours: column.bins.push_back(days * 24 + hour); break;
    case Fields::days: column.bins.push_back(days); break;
    case Fields::months: column.bins.push_back(month); break;
    case Fields::weekdays: column.bins.push_back((days + 2) % 7); break;
    default: column.bins.push_back(hour);
    }
    const auto seconds = (19662 + days) * 86400 + hour * 3600 + minute * 60;
    const auto date = months[month].first + "-" + two(day + 1);
    switch (random.below(5)) {
    case 0: column.fields.push_back(std::to_string(seconds)); break;
    case 1: column.fields.push_back(std::to_string(seconds) + "500"); break;
    case 2: column.fields.push_back(date + "T" + two(hour) + ":" + two(minute) + ":59.9Z"); break;
    case 3: column.fields.push_back(date + " " + two(hour) + ":" + two(minute) + "+00:00"); break;
    default: column.fields.push_back(date + "T" + two(hour) + ":" + two(minute) + ":07");
    }
}

void add_field(RandomColumn& column, Random& random) {
    static const std::vector<std::string> odd{"",       "a,b;c\td|e", "say \"so\"",  "\"",  "two\nlines", "CRLF\r\nin it",
                                              "Zürich", "x y",        "back\\slash", "007", "7",          "-",
                                              "\n",     "e5",         "\"quoted\""};
    if (column.kind >= Fields::hours) return add_time(column, random);
    if (column.kind == Fields::whole) return column.fields.push_back(std::to_string(random.below(40) - 9));
    if (column.kind == Fields::reals) return column.fields.push_back(std::to_string(random.below(30) - 9) + ".25");
    const bool is_odd = random.below(3) == 0;
    column.fields.push_back(is_odd ? odd[random.below(std::ssize(odd))] : "user" + std::to_string(random.below(30)));
}

struct RandomTable {
    std::string text;
    TableOptions options;
    std::vector<std::vector<std::string>> ids;                          ///< by mode
    std::map<std::vector<std::int64_t>, std::vector<double>> elements;  ///< values in the order of rows
    std::vector<std::vector<std::int64_t>> order;                       ///< elements as they come first
};

/// Numbers the fields of a column.
std::vector<std::int64_t> numbered(const RandomColumn& column, std::vector<std::string>& ids) {
    static const std::vector<std::string> weekdays{"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"};
    if (column.kind == Fields::weekdays) return ids = weekdays, column.bins;
    if (column.kind == Fields::hour_of_day) {
        for (int h = 0; h < 24; ++h) ids.push_back(two(h));
        return column.bins;
    }
    auto bins = column.bins;
    if (column.kind >= Fields::hours) {
        const auto first = *std::min_element(bins.begin(), bins.end()), last = *std::max_element(bins.begin(), bins.end());
        ids.resize(last - first + 1);  // their names are tested elsewhere
        for (auto& bin : bins) bin -= first;
        return bins;
    }
    const std::set<std::string> all(column.fields.begin(), column.fields.end());
    ids.assign(all.begin(), all.end());
    if (column.kind != Fields::words)
        std::stable_sort(ids.begin(), ids.end(), [](const auto& a, const auto& b) { return std::stod(a) < std::stod(b); });
    for (const auto& field : column.fields) bins.push_back(std::find(ids.begin(), ids.end(), field) - ids.begin());
    return bins;
}

std::string written(const std::string& field, char delimiter, Random& random) {
    const bool needs = field.find_first_of("\"\r\n") != std::string::npos || field.find(delimiter) != std::string::npos;
    if (!needs && random.below(4) > 0) return field;
    std::string text = "\"";
    for (char c : field) text.append(c == '"' ? 2 : 1, c);
    return text + "\"";
}

RandomTable random_table(std::uint64_t seed) {
    Random random(seed);
    RandomTable table;
    const auto order = 1 + random.below(3), rows = 1 + random.below(400);
    const char delimiter = ",;\t|"[random.below(4)];
    const std::string end = random.below(2) == 0 ? "\n" : "\r\n";
    const bool has_names = random.below(3) > 0, has_value = random.below(3) > 0, has_mark = random.below(4) == 0;
    static const std::vector<std::string> units{"", "", "", ":1h", ":1d", ":1mo", ":weekday", ":hour"};
    std::vector<RandomColumn> columns;
    for (std::int64_t m = 0; m < order; ++m) {
        const auto kind = random.below(8);
        const auto name = has_names && random.below(2) == 0 ? "c" + std::to_string(m) : std::to_string(m + 2);
        columns.push_back({static_cast<Fields>(kind), name + units[kind]});
        table.options.columns.push_back(columns.back().asked);
    }
    const auto value_name = has_names ? "amount" : std::to_string(order + 2);
    if (has_value) table.options.value = value_name;
    table.options.header = has_names ? TableHeader::yes : TableHeader::no;
    if (random.below(2) == 0) table.options.delimiter = delimiter == '\t' ? "tab" : std::string(1, delimiter);
    static const std::vector<Duplicates> policies{Duplicates::sum, Duplicates::mean, Duplicates::keep_first, Duplicates::keep_last};
    table.options.duplicates = policies[random.below(4)];
    std::ostringstream text;
    if (has_mark) text << "\xef\xbb\xbf";
    if (has_names) {
        text << "unused";
        for (std::int64_t m = 0; m < order; ++m) text << delimiter << written("c" + std::to_string(m), delimiter, random);
        text << delimiter << "amount" << end;
    }
    std::vector<double> values;
    for (std::int64_t r = 0; r < rows; ++r) {
        text << random.below(1000000);
        for (auto& column : columns) {
            add_field(column, random);
            text << delimiter << written(column.fields.back(), delimiter, random);
        }
        const auto value = random.below(200) - 100;
        values.push_back(has_value ? static_cast<double>(value) / 4 : 1);
        text << delimiter << static_cast<double>(value) / 4 << (r + 1 < rows || random.below(2) == 0 ? end : "");
    }
    table.text = text.str();
    std::vector<std::vector<std::int64_t>> indices;
    for (const auto& column : columns) indices.push_back(numbered(column, table.ids.emplace_back()));
    for (std::int64_t r = 0; r < rows; ++r) {
        std::vector<std::int64_t> where;
        for (const auto& column : indices) where.push_back(column[r]);
        auto& all = table.elements[where];
        if (all.empty()) table.order.push_back(where);
        all.push_back(values[r]);
    }
    return table;
}

double joined_value(const std::vector<double>& values, Duplicates duplicates) {
    double sum = 0;
    for (double v : values) sum += v;
    switch (duplicates) {
    case Duplicates::sum: return sum;
    case Duplicates::mean: return sum / static_cast<double>(values.size());
    case Duplicates::keep_first: return values.front();
    default: return values.back();
    }
}

TEST(Table, random_ones_are_as_an_oracle_has_them) {
    const World world;
    const TemporaryFolder folder(world);
    for (std::uint64_t seed = 0; seed < 150; ++seed) {
        SCOPED_TRACE(seed);
        const auto table = random_table(seed);
        const auto path = seed % 3 == 0 ? folder.write("x.csv.gz", zipped(table.text)) : folder.write("x.csv", table.text);
        TableReport report;
        std::vector<ModeIds> ids;
        const SparseTensor<double> tensor(read_table(ElementType::float64, world, path, table.options, report, ids));
        const auto all = tensor.gather(true);  // the last index is the fastest, as in the map
        ASSERT_EQ(all.values.size(), table.elements.size());
        std::size_t i = 0;
        for (const auto& [where, values] : table.elements) {
            for (std::size_t m = 0; m < where.size(); ++m) ASSERT_EQ(all.indices[m][i], where[m]);
            ASSERT_DOUBLE_EQ(all.values[i], joined_value(values, table.options.duplicates));
            ++i;
        }
        write_ids(world, ids, folder / "x.ids");
        std::vector<std::vector<std::int64_t>> wanted;
        for (const auto& mode : ids) {
            wanted.emplace_back(mode.count);
            for (std::int64_t k = 0; k < mode.count; ++k) wanted.back()[k] = mode.count - 1 - k;
        }
        auto read = read_ids(world, folder / "x.ids", wanted);
        for (std::size_t m = 0; m < read.size(); ++m) {
            ASSERT_EQ(read[m].size(), table.ids[m].size());
            std::reverse(read[m].begin(), read[m].end());
            if (!table.ids[m].back().empty()) {
                ASSERT_EQ(read[m], table.ids[m]);
            }
        }
        write_sparse(tensor, folder / "x.tns", IndexBase::zero);
        std::istringstream lines(TemporaryFolder::read(folder / "x.tns"));
        for (const auto& where : table.order) {
            for (auto index : where) {
                std::int64_t found = -1;
                lines >> found;
                ASSERT_EQ(found, index);  // as they come first in the table
            }
            double value = 0;
            lines >> value;
        }
    }
}

TEST(Table, names_bins_of_times) {
    const World world;
    const TemporaryFolder folder(world);
    const auto path = folder.write("t.csv", "t,n\n2024-02-28T22:10:00+02:00,1\n2024-03-01 01:00,1\n1709251200,1\n1709251199123,1\n");
    const auto names = [&](const std::string& column) {
        TableOptions options;
        options.columns = {column};
        TableReport report;
        std::vector<ModeIds> ids;
        read_table(ElementType::float64, world, path, options, report, ids);
        write_ids(world, ids, folder / "t.ids");
        return read_ids(world, folder / "t.ids", {{0, ids[0].count - 1}})[0];
    };
    using Names = std::vector<std::string>;
    EXPECT_EQ(names("t:1h"), (Names{"2024-02-28T20:00", "2024-03-01T01:00"}));
    EXPECT_EQ(names("t:15min"), (Names{"2024-02-28T20:00", "2024-03-01T01:00"}));
    EXPECT_EQ(names("t:30s"), (Names{"2024-02-28T20:10:00", "2024-03-01T01:00:00"}));
    EXPECT_EQ(names("t:1d"), (Names{"2024-02-28", "2024-03-01"}));
    EXPECT_EQ(names("t:1w"), (Names{"2024-02-26", "2024-02-26"}));
    EXPECT_EQ(names("t:1mo"), (Names{"2024-02", "2024-03"}));
    EXPECT_EQ(names("t:1y"), (Names{"2024", "2024"}));
    EXPECT_EQ(names("t:weekday"), (Names{"Monday", "Sunday"}));
    EXPECT_EQ(names("1:month"), (Names{"January", "December"}));
    EXPECT_EQ(names("t:day"), (Names{"01", "31"}));
    EXPECT_EQ(names("t:minute"), (Names{"00", "59"}));
}

struct WrongTable {
    std::string text, message;
    TableOptions options{};
};

TEST(Table, wrong_ones_are_told_with_line_and_column) {
    const World world;
    const TemporaryFolder folder(world);
    TableOptions usual;
    usual.columns = {"user", "item", "time:1h"};
    usual.value = "amount";
    const auto with = [&](auto&& change) {
        auto options = usual;
        change(options);
        return options;
    };
    const std::string names = "user,item,time,amount\n", row = "ann,tea,2024-01-31,1\n", rows = row + row + row;
    const std::vector<WrongTable> wrong{
        {names + row + "bob,tea,2024-01-31\n", "w.csv, line 3: 3 fields where the first line has 4; complete the row", usual},
        {names + rows + "bob,tea,2024-01-31,1,2\n" + row, "w.csv, line 5: 5 fields where the first line has 4", usual},
        {names + rows + "bob,tea,2024-01-31,much\n", "w.csv, line 5: column 4 (amount): 'much' is not a number; correct it", usual},
        {names + rows + "bob,tea,2024-01-31,\"3,5\"\n", "w.csv, line 5: column 4 (amount): '3,5' is not a number; write it with a point",
         usual},
        {names + rows + "bob,tea,2024-01-31,nan\n", "column 4 (amount): 'nan' is not finite", usual},
        {names + rows + "bob,tea,2024-01-31,1e999\n", "column 4 (amount): '1e999' is too large", usual},
        {names + rows + "bob,tea,2024-01-31,\n", "column 4 (amount): the value is missing; fill it in, or leave out", usual},
        {names + rows + "bob,tea,,1\n", "line 5: column 3 (time): the time is missing", usual},
        {names + rows + "bob,tea,2024-02-30,1\n", "line 5: column 3 (time): '2024-02-30' is no time; write it as 2024-01-31T12:30:00",
         usual},
        {names + rows + "bob,tea,31.1.2024,1\n", "'31.1.2024' is no time", usual},
        {names + rows + "bo\"b,tea,2024-01-31,1\n" + rows, "line 5: column 1 (user): a quote stands within a field", usual},
        {names + rows + "\"bob\"by,tea,2024-01-31,1\n", "line 5: column 1 (user): something follows the quote", usual},
        {names + rows + "\"bob,tea,2024-01-31,1\n" + rows, "line 5: column 1 (user): a quote is not closed", usual},
        {names + row + "bob,tea,1,1\n", "its times from 1970-01-01T00:00:01 to 2024-01-31T00:00:00 lie in 1,706,659,200 bins",
         with([](auto& o) { o.columns[2] = "time:1s"; })},
        {names, "w.csv: there is no row behind the names of the columns", usual},
        {names + "ann,,2024-01-31,1\n", "there is no row without empty fields", with([](auto& o) { o.skips_empty = true; })},
        {names + rows, "there is no column 'usr'; did you mean user?", with([](auto& o) { o.columns[0] = "usr"; })},
        {names + rows, "there is no column 'zzz'; there are user, item, time, amount", with([](auto& o) { o.columns[0] = "zzz"; })},
        {names + rows, "there is no column 5, the first line has 4 fields", with([](auto& o) { o.columns[0] = "5"; })},
        {names + rows, "column time:1m: '1m' is no unit of time; use bins of 30s", with([](auto& o) { o.columns[2] = "time:1m"; })},
        {names + rows, "'ab' is no delimiter; give one character, or tab", with([](auto& o) { o.delimiter = "ab"; })},
        {names + rows, "there is no column 'user'; there are user,item,time,amount; say which character",
         with([](auto& o) { o.delimiter = ";"; })},
        {"user,user,time,amount\n" + rows, "two columns are called 'user'; give the number", usual},
        {rows, "do not tell whether the first line (ann, tea, 2024-01-31, 1) has their names", with([](auto& o) {
             o.columns = {"1"};
             o.value = "";
         })},
        {names + row + "bob,tea,2024-01-31,1\n" + row,
         "w.csv, line 4: a second value for element (ann, tea, 2024-01-31T00:00), which line 2 has; remove one",
         with([](auto& o) { o.duplicates = Duplicates::refuse; })},
        {"%PDF-1.7\n" + rows, "w.csv: the file is a PDF document; tables are read from text", usual},
        {"PAR1\n" + rows, "the file is a Parquet file; write it as a table in text", usual},
        {"\n\n", "w.csv: there is no row in the table", usual},
        {names + rows, "no columns are given that make modes", TableOptions()},
    };
    const Communicator comm(world.communicator());
    for (const auto& [text, message, options] : wrong) {
        const auto path = folder.write("w.csv", text);
        std::string found = "no exception";
        try {
            TableReport report;
            std::vector<ModeIds> ids;
            read_table(ElementType::float64, world, path, options, report, ids);
        } catch (const InvalidArgument& error) {
            found = error.what();
        }
        EXPECT_NE(found.find(message), std::string::npos) << found << "\n" << message;
        const auto hash = static_cast<std::int64_t>(std::hash<std::string>()(found) >> 1);
        EXPECT_EQ(comm.maximum(hash), comm.minimum(hash)) << found;
    }
}

/// Whether there are names, numbers for columns, quotes that are none, rows that are left out.
TEST(Table, options_say_how_to_read) {
    const World world;
    const TemporaryFolder folder(world);
    const auto read = [&](const std::string& text, const TableOptions& options) {
        TableReport report;
        std::vector<ModeIds> ids;
        const auto path = folder.write("o.csv", text);
        const SparseTensor<double> tensor(read_table(ElementType::float64, world, path, options, report, ids));
        const auto ends = read_ids(world, (write_ids(world, ids, folder / "o.ids"), folder / "o.ids"), {{0}})[0];
        return std::to_string(report.has_header) + " " + report.delimiter + " " + std::to_string(report.entries) + " " +
               std::to_string(report.skipped) + " " + ends[0] + " " + std::to_string(static_cast<int>(tensor.sum()));
    };
    TableOptions numbers{.columns = {"1"}, .value = "2"};
    EXPECT_EQ(read("a;3\nb;4\n", numbers), "0 ; 2 0 a 7");
    EXPECT_EQ(read("who\thow\nb\t4\n", numbers), "1 tab 1 0 b 4");
    numbers.has_quotes = false;
    EXPECT_EQ(read("5\" pipe | 3\r\n\r\n8\" pipe | 4 \r\n", numbers), "0 | 2 0 5\" pipe 7");
    TableOptions named{.columns = {"who"}, .value = "how"};
    named.skips_empty = true;
    EXPECT_EQ(read("who,how,else\n,3,\nb,,1\nc,2,\n", named), "1 , 1 2 c 2");
    EXPECT_EQ(read("a:b,who\nx,1\n", {.columns = {"a:b"}}), "1 , 1 0 x 1");
}

std::string message_of_wrong_ids(const World& world, const std::string& path) {
    try {
        ids_outline(world, path);
    } catch (const InvalidArgument& error) {
        return error.what();
    }
    return "no exception";
}

TEST(Table, ids_go_with_tensors) {
    const World world;
    const TemporaryFolder folder(world);
    const auto from = folder.write("a.ids", "# arges ids 1\nmode 1 3 who: a\nann\nb\\nob\n\nmode 2 2 t\n1\\\\\n2\n");
    const auto outline = ids_outline(world, from);
    ASSERT_EQ(outline.size(), 2);
    EXPECT_EQ(outline[0].name, "who: a");
    EXPECT_EQ(outline[0].count, 3);
    EXPECT_EQ(read_ids(world, from, {{2, 1, 1}, {0}}), (std::vector<std::vector<std::string>>{{"", "b\nob", "b\nob"}, {"1\\"}}));
    copy_ids(world, from, folder / "b.ids");
    EXPECT_EQ(TemporaryFolder::read(folder / "b.ids"), TemporaryFolder::read(from));
    std::vector<std::vector<std::int64_t>> kept(2);
    if (world.rank() == 0) kept = {{0}, {1}};
    if (world.rank() == world.size() - 1) kept[0].push_back(2);
    select_ids(world, from, kept, folder / "c.ids");
    EXPECT_EQ(TemporaryFolder::read(folder / "c.ids"), "# arges ids 1\nmode 1 2 who: a\nann\n\nmode 2 1 t\n2\n");
    copy_ids(world, folder / "none.ids", folder / "b.ids");
    EXPECT_TRUE(ids_outline(world, folder / "b.ids").empty());
    for (const auto& [text, message] :
         std::vector<std::pair<std::string, std::string>>{{"ids\n", "the first line is not '# arges ids 1'"},
                                                          {"# arges ids 1\nmode 2 1 x\na\n", "'mode 2 1 x' stands where mode 1 begins"},
                                                          {"# arges ids 1\nmode 1 2 x\na\n", "the file ends within mode 1"}}) {
        const auto path = folder.write("w.ids", text);
        EXPECT_EQ(message_of_wrong_ids(world, path).find(message), (path + ": ").size()) << message;
    }
}

/// Rank 0 hears how far the table is, also where it inflates what the others parse.
TEST(Table, tells_how_far_it_is_read) {
    const World world;
    const TemporaryFolder folder(world);
    std::string text = "who,what\n";
    for (int i = 0; i < 800000; ++i) text += "user" + std::to_string(i % 1000) + ",item" + std::to_string(7 * i % 513) + "\n";
    for (const auto& path : {folder.write("x.csv", text), folder.write("x.csv.gz", zipped(text))}) {
        std::vector<double> heard;
        TableOptions options;
        options.columns = {"who", "what"};
        options.progress = [&](double done) { heard.push_back(done); };
        TableReport report;
        std::vector<ModeIds> ids;
        read_table(ElementType::float64, world, path, options, report, ids);
        if (world.rank() > 0) continue;
        ASSERT_GE(heard.size(), 2U) << path;
        EXPECT_LT(heard.front(), 0.9) << path;
        EXPECT_GT(heard.back(), 0.95) << path;
        EXPECT_LE(*std::max_element(heard.begin(), heard.end()), 1) << path;
    }
}

}  // namespace
}  // namespace arges::test
