#include "cli/value_tables.hpp"

#include "base/text.hpp"
#include "cli/program.hpp"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <map>

namespace arges::cli {

namespace {

/// A bar of so many letters at most; what is there has a letter at least.
std::string bar(std::int64_t count, std::int64_t most) {
    constexpr double width = 50;
    if (count == 0) return {};
    return std::string(static_cast<std::size_t>(std::max(1.0, std::round(width * static_cast<double>(count) / static_cast<double>(most)))),
                       '#');
}

std::string bin_name(const ValueBin& bin, bool is_last) {
    if (bin.low == bin.high) return fmt::format("{:.6g}", bin.low);
    return fmt::format("{:.4g} to {}{:.4g}", bin.low, is_last ? "" : "below ", bin.high);
}

std::string histogram(const ValueStatistics& values) {
    std::int64_t most = 1;
    for (const auto& bin : values.bins) most = std::max(most, bin.count);
    std::vector<std::vector<std::string>> rows{{values.scale == BinScale::values  ? "value"
                                                : values.scale == BinScale::equal ? "values"
                                                                                  : "values, equal ratios",
                                                "count", "share", ""}};
    for (const auto& bin : values.bins)
        rows.push_back({bin_name(bin, &bin == &values.bins.back()), with_commas(bin.count),
                        percent(static_cast<double>(bin.count) / static_cast<double>(values.count)), bar(bin.count, most)});
    return table(rows, {true, false, false, true});
}

}  // namespace

std::string values_text(const ValueStatistics& values) {
    if (values.count == 0 && values.not_finite == 0) return "no values\n";
    std::string text;
    const auto row = [&](const char* name, const std::string& what) { text += fmt::format("{:<18} {}\n", name, what); };
    if (values.not_finite > 0) row("not finite", with_commas(values.not_finite) + " values, which count nowhere else");
    if (values.count == 0) return text;
    row("values", fmt::format("{:.6g} to {:.6g}", values.least, values.largest));
    row("mean, deviation", fmt::format("{:.6g}, {:.6g}", values.mean, values.deviation));
    row("negative", with_commas(values.negative));
    row("zero", with_commas(values.zeros) + " of those that are stored");
    row("whole numbers", values.whole == values.count ? "all" : with_commas(values.whole));
    row("different values",
        values.different > most_different_values ? "more than " + with_commas(most_different_values) : with_commas(values.different));
    return text + "\n" + histogram(values);
}

nlohmann::ordered_json values_json(const ValueStatistics& values) {
    static const std::map<BinScale, const char*> scales{
        {BinScale::values, "values"}, {BinScale::equal, "equal"}, {BinScale::logarithmic, "logarithmic"}};
    nlohmann::ordered_json object{
        {"count", values.count}, {"not_finite", values.not_finite}, {"minimum", values.least},     {"maximum", values.largest},
        {"mean", values.mean},   {"deviation", values.deviation},   {"negative", values.negative}, {"zeros", values.zeros},
        {"whole", values.whole}};
    object["different"] = values.different > most_different_values ? nlohmann::ordered_json() : nlohmann::ordered_json(values.different);
    object["scale"] = scales.at(values.scale);
    object["histogram"] = nlohmann::ordered_json::array();
    for (const auto& bin : values.bins) object["histogram"].push_back({{"from", bin.low}, {"to", bin.high}, {"count", bin.count}});
    return object;
}

}  // namespace arges::cli
