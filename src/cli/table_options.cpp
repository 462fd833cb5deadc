#include "cli/table_options.hpp"

#include "cli/subcommand.hpp"
#include "cli/world_options.hpp"

namespace arges::cli {

void TableCommand::declare(CLI::App& app, const char* value) {
    app.add_option(
           "--columns", options.columns,
           "table: columns that make modes, by names or by numbers from 1; behind a colon what is made of times: 1h, 15min, 1d, 1w, "
           "1mo (bins), or hour, weekday, day, month, minute; e.g. user,item,time:1h")
        ->delimiter(',');
    app.add_option("--value", options.value, value);
    app.add_option("--delimiter", options.delimiter, "table: what is between columns, one character or tab; found if not given");
    app.add_option("--header", header_, "table: whether the first line has the names of the columns: auto, yes or no")
        ->check(one_of({"auto", "yes", "no"}))
        ->capture_default_str();
    app.add_option("--quotes", quotes_, "table: whether fields may stand between quotes: yes or no")
        ->check(one_of({"yes", "no"}))
        ->capture_default_str();
    app.add_flag("--skip-empty", options.skips_empty, "table: leave out rows with an empty field in these columns");
}

TableOptions TableCommand::read_options() const {
    auto all = options;
    all.header = header_ == "auto" ? TableHeader::detect : header_ == "yes" ? TableHeader::yes : TableHeader::no;
    all.has_quotes = quotes_ == "yes";
    return all;
}

void TableCommand::refuse(const CLI::App& app, const std::string& file) {
    refuse_options(app, {"--columns", "--value", "--delimiter", "--header", "--quotes", "--skip-empty"},
                   file + " is no table; name the columns of one with --columns");
}

}  // namespace arges::cli
