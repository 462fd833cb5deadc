#include "cli/cpd_ranks.hpp"

#include "arges/error.hpp"
#include "base/text.hpp"
#include "cli/program.hpp"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace arges::cli {

namespace {

std::string number_or_dash(double value, const char* format) { return std::isnan(value) ? "-" : fmt::format(fmt::runtime(format), value); }

nlohmann::ordered_json number_or_null(double value) { return std::isnan(value) ? nlohmann::ordered_json() : nlohmann::ordered_json(value); }

}  // namespace

void print_ranks(std::ostream& out, const CpRanks& ranks) {
    constexpr double width = 24;
    double highest = 1e-300;
    bool has_held_out = false;
    for (const auto& trial : ranks.trials) {
        highest = std::max(highest, trial.fit);
        has_held_out = has_held_out || !std::isnan(trial.held_out_rmse);
    }
    std::vector<std::vector<std::string>> rows{{"rank", "fit", "near best", "agreement", "core %"}};
    if (has_held_out) rows.back().emplace_back("held-out RMSE");
    rows.back().insert(rows.back().end(), {"seconds", "plot of the fit"});
    for (const auto& trial : ranks.trials) {
        rows.push_back({std::to_string(trial.rank), fmt::format("{:.6f}", trial.fit),
                        fmt::format("{} of {}", trial.near_best, trial.starts), number_or_dash(trial.agreement, "{:.3f}"),
                        number_or_dash(trial.consistency, "{:.1f}")});
        if (has_held_out)
            rows.back().push_back(
                std::isnan(trial.held_out_rmse) ? "-" : fmt::format("{:.6g} +- {:.1g}", trial.held_out_rmse, trial.held_out_spread));
        rows.back().push_back(fmt::format("{:.3f}", trial.seconds));
        rows.back().emplace_back(static_cast<std::size_t>(std::lround(width * std::max(0.0, trial.fit) / highest)), '#');
    }
    std::vector<bool> left(rows[0].size(), false);
    left.back() = true;
    out << "\n" << table(rows, left, 1);
    const std::string reason = has_held_out ? "the held-out error, cores and starts speak for" : "cores and starts speak for";
    out << (ranks.recommended > 0 ? fmt::format("\nrank {}: {} it\n", ranks.recommended, reason)
                                  : "\nno rank has a consistent core (50 % or more) and best starts that agree (0.8 or more)\n")
        << std::flush;
}

nlohmann::ordered_json ranks_json(const CpRanks& ranks) {
    auto list = nlohmann::ordered_json::array();
    for (const auto& trial : ranks.trials)
        list.push_back({{"rank", trial.rank},
                        {"fit", trial.fit},
                        {"starts", trial.starts},
                        {"near_best", trial.near_best},
                        {"agreement", number_or_null(trial.agreement)},
                        {"core_consistency", number_or_null(trial.consistency)},
                        {"held_out_rmse", number_or_null(trial.held_out_rmse)},
                        {"held_out_spread", number_or_null(trial.held_out_spread)},
                        {"seconds", trial.seconds}});
    return {{"ranks", list}, {"recommended", ranks.recommended > 0 ? nlohmann::ordered_json(ranks.recommended) : nlohmann::ordered_json()}};
}

std::pair<int, int> parse_rank_range(const std::string& text) {
    constexpr int most = 1024;
    const auto colon = text.find(':');
    const auto number = [&](const std::string& part) {
        if (part.empty() || part.size() > 4 || part.find_first_not_of("0123456789") != std::string::npos) return 0;
        return std::stoi(part);
    };
    const int first = number(text.substr(0, colon)), last = colon == std::string::npos ? 0 : number(text.substr(colon + 1));
    if (first < 1 || last < first || last > most) throw InvalidArgument("'" + text + "' must be two ranks, as 2:10");
    return {first, last};
}

}  // namespace arges::cli
