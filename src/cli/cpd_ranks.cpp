#include "cli/cpd_ranks.hpp"

#include "arges/error.hpp"
#include "base/text.hpp"
#include "cli/program.hpp"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace arges::cli {

namespace {

constexpr double consistent = 50, agreed = 0.8;

std::string number_or_dash(double value, const char* format) { return std::isnan(value) ? "-" : fmt::format(fmt::runtime(format), value); }

nlohmann::ordered_json number_or_null(double value) { return std::isnan(value) ? nlohmann::ordered_json() : nlohmann::ordered_json(value); }

}  // namespace

RankTrial rank_trial(int rank, double fit, const std::vector<CpStart>& starts, std::size_t best, double consistency) {
    constexpr double near = 1e-3;
    RankTrial trial{rank, fit, starts.size(), 0, 0, consistency, 0};
    for (std::size_t s = 0; s < starts.size(); ++s) {
        trial.seconds += starts[s].seconds;
        if (starts[s].stop_reason == StopReason::diverged || starts[s].fit < fit - near) continue;
        ++trial.near_best;
        if (s != best) trial.agreement += starts[s].score;
    }
    trial.agreement =
        trial.near_best > 1 ? trial.agreement / static_cast<double>(trial.near_best - 1) : std::numeric_limits<double>::quiet_NaN();
    return trial;
}

int recommended_rank(const std::vector<RankTrial>& trials) {
    int best = 0;
    for (const auto& trial : trials) {
        const bool is_found_once_of_many = trial.starts > 1 && trial.near_best < 2;
        if (trial.consistency >= consistent && !is_found_once_of_many && !(trial.agreement < agreed)) best = std::max(best, trial.rank);
    }
    return best;
}

void print_ranks(std::ostream& out, const std::vector<RankTrial>& trials) {
    constexpr double width = 24;
    double highest = 1e-300;
    for (const auto& trial : trials) highest = std::max(highest, trial.fit);
    std::vector<std::vector<std::string>> rows{{"rank", "fit", "near best", "agreement", "core %", "seconds", "plot of the fit"}};
    for (const auto& trial : trials)
        rows.push_back({std::to_string(trial.rank), fmt::format("{:.6f}", trial.fit),
                        fmt::format("{} of {}", trial.near_best, trial.starts), number_or_dash(trial.agreement, "{:.3f}"),
                        number_or_dash(trial.consistency, "{:.1f}"), fmt::format("{:.3f}", trial.seconds),
                        std::string(static_cast<std::size_t>(std::lround(width * std::max(0.0, trial.fit) / highest)), '#')});
    out << "\n" << table(rows, {false, false, false, false, false, false, true}, 1);
    const int best = recommended_rank(trials);
    out << (best > 0
                ? fmt::format(
                      "\nrank {} is the largest whose core is consistent ({:.0f} % or more) and whose best starts agree ({} or more)\n",
                      best, consistent, agreed)
                : fmt::format("\nno rank has a consistent core ({:.0f} % or more) and best starts that agree ({} or more)\n", consistent,
                              agreed))
        << std::flush;
}

nlohmann::ordered_json ranks_json(const std::vector<RankTrial>& trials) {
    auto list = nlohmann::ordered_json::array();
    for (const auto& trial : trials)
        list.push_back({{"rank", trial.rank},
                        {"fit", trial.fit},
                        {"starts", trial.starts},
                        {"near_best", trial.near_best},
                        {"agreement", number_or_null(trial.agreement)},
                        {"core_consistency", number_or_null(trial.consistency)},
                        {"seconds", trial.seconds}});
    const int best = recommended_rank(trials);
    return {{"ranks", list}, {"recommended", best > 0 ? nlohmann::ordered_json(best) : nlohmann::ordered_json()}};
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
