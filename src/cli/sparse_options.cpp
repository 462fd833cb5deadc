#include "cli/sparse_options.hpp"

#include "arges/error.hpp"
#include "arges/forecast.hpp"
#include "arges/known_elements.hpp"
#include "arges/table_io.hpp"
#include "arges/tensor_io.hpp"
#include "base/text.hpp"
#include "cli/conversions.hpp"
#include "cli/program.hpp"
#include "cli/progress.hpp"
#include "cli/subcommand.hpp"
#include "cli/world_options.hpp"

#include <nlohmann/json.hpp>

#include <charconv>
#include <map>

namespace arges::cli {

CLI::Option* declare_weights(CLI::App& app, std::string& file, const std::string& of) {
    return app.add_option("--weights,--mask", file,
                          "tensor of the weights of the elements' " + of + ", as FILE; elements without one, or with 0, are unknown");
}

std::string weights_text(const std::string& file) { return "weights of " + file + "; elements without a weight are unknown\n"; }

void declare_base(CLI::App& app, std::string& base) {
    app.add_option("--base", base, "what text files call the first index: one, zero, or detect (zero if an index 0 occurs)")
        ->check(one_of({"detect", "zero", "one"}, {"0", "1"}))
        ->capture_default_str();
}

IndexBase index_base_of(const std::string& base) {
    if (base == "detect") return IndexBase::detect;
    return base == "zero" || base == "0" ? IndexBase::zero : IndexBase::one;
}

void FileCommand::declare(CLI::App& of, const char* tables, const char* otherwise, bool counts) {
    app = &of;
    duplicates_ = otherwise;
    of.add_flag("--json", json, std::string("print one JSON object instead of ") + tables);
    declare_base(of, base_);
    of.add_option("--lengths", lengths_, "lengths that the tensor must have, e.g. 400x500x60; text may use smaller indices only")
        ->check(accepted_by([](const std::string& text) { parse_lengths(text); }, "LENGTHS"));
    std::vector<std::string> policies{"refuse", "sum", "mean", "first", "last"};
    if (counts) policies.emplace_back("count");
    of.add_option("--duplicates", duplicates_,
                  std::string("several values for one element: refuse, sum, mean, or take the first or the last") +
                      (counts ? "; of tables also count, whatever the values" : ""))
        ->check(one_of(policies))
        ->capture_default_str();
    of.add_option("--type", type_, "of the values: double or float; if not given, float for files of float32, else double")
        ->check(one_of({"double", "float"}));
    world.declare(of);
}

void FileCommand::declare_drop(CLI::App& of) {
    of.add_option("--drop", dropped_,
                  "dense: elements that are not stored: zero (zeros), nan (those that are NaN; zeros are stored), or none (all are stored)")
        ->check(one_of({"zero", "nan", "none"}))
        ->capture_default_str();
}

AnyTensor FileCommand::read_stored(const World& at, ElementType type, bool is_dense, ReadReport& report) const {
    if (!is_dense) {
        StepLine steps(at, progress);
        auto options = read_options();
        options.progress = [&](double done) { steps.show("reading " + file, done); };
        return read_sparse(type, at, file, options, report);
    }
    static const std::map<std::string, MissingElements> kinds{
        {"zero", MissingElements::zeros}, {"nan", MissingElements::nan}, {"none", MissingElements::none}};
    return read_known_elements(type, at, file, kinds.at(dropped_), report);
}

SparseReadOptions FileCommand::read_options() const {
    SparseReadOptions options;
    options.base = index_base_of(base_);
    if (!lengths_.empty()) options.lengths = parse_lengths(lengths_);
    static const std::map<std::string, Duplicates> policies{{"refuse", Duplicates::refuse},    {"sum", Duplicates::sum},
                                                            {"count", Duplicates::sum},        {"mean", Duplicates::mean},
                                                            {"first", Duplicates::keep_first}, {"last", Duplicates::keep_last}};
    options.duplicates = policies.at(duplicates_);
    return options;
}

std::string FileCommand::duplicates_text(const ReadReport& report) const {
    return report.duplicates > 0 ? " (" + with_commas(report.duplicates) + " duplicates merged: " + duplicates_ + ")" : "";
}

/// Says how to make a tensor of it.
void FileCommand::refuse_table(const World& at) const {
    if (is_table_name(file)) throw InvalidArgument(file + ": this is a table; make a tensor of it: " + conversion_line(at, file));
}

bool FileCommand::is_dense(const World& at, std::initializer_list<const char*> for_sparse,
                           std::initializer_list<const char*> for_dense) const {
    refuse_table(at);
    const bool is_dense = is_tensor_file(at, file);
    if (is_dense)
        refuse_options(*app, for_sparse, file + " is a dense tensor, and this is for sparse ones");
    else
        refuse_options(*app, for_dense, file + " is a sparse tensor, and this is for dense ones");
    return is_dense;
}

bool FileCommand::is_single(const World& at, bool is_dense) const {
    refuse_table(at);
    if (is_dense) {
        refuse_options(*app, {"--base", "--lengths", "--duplicates"}, file + " is a dense tensor, and this is for sparse ones");
        return type_.empty() ? tensor_file_info(at, file).element == "float32" : type_ == "float";
    }
    const SparseFileForecast found(at, file, ElementType::float64);
    if (found.is_exact()) refuse_options(*app, {"--base"}, file + " is in a form that says how indices count");
    if (found.is_distinct()) refuse_options(*app, {"--duplicates"}, file + " is a file in which no element occurs twice");
    return type_.empty() ? found.is_single() : type_ == "float";
}

std::vector<std::int64_t> parse_lengths(const std::string& text) {
    std::vector<std::int64_t> lengths;
    const char* at = text.data();
    const char* const end = at + text.size();
    for (bool more = true; more;) {
        const auto [behind, code] = std::from_chars(at, end, lengths.emplace_back());
        more = behind != end;
        if (code != std::errc() || lengths.back() < 0 || (more && *behind != 'x' && *behind != ','))
            throw InvalidArgument("'" + text + "' must be lengths such as 400x500x60");
        at = behind + 1;
    }
    return lengths;
}

std::string lengths_text(const std::vector<std::int64_t>& lengths) {
    std::string text;
    for (auto n : lengths) text += (text.empty() ? "" : " x ") + with_commas(n);
    return text;
}

std::string modes_table(const ReadReport& report) {
    std::vector<std::vector<std::string>> rows{{"mode", "length", "nonempty slices", "empty slices"}};
    for (std::size_t m = 0; m < report.lengths.size(); ++m)
        rows.push_back({std::to_string(m + 1), with_commas(report.lengths[m]), with_commas(report.nonempty_slices[m]),
                        with_commas(report.lengths[m] - report.nonempty_slices[m])});
    return table(rows, {false, false, false, false});
}

nlohmann::ordered_json report_json(const ReadReport& report) {
    nlohmann::ordered_json object;
    object["form"] = report.form;
    object["bytes"] = report.bytes;
    object["lines"] = report.lines;
    object["index_base"] = report.index_base;
    object["entries"] = report.entries;
    object["duplicates"] = report.duplicates;
    object["nonzeros"] = report.entries - report.duplicates;
    object["lengths"] = report.lengths;
    object["nonempty_slices"] = report.nonempty_slices;
    return object;
}

}  // namespace arges::cli
