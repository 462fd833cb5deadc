/// `arges cpd --ranks 2:10`: decompositions of several ranks, side by side.
#pragma once

#include "arges/cpd.hpp"

#include <nlohmann/json_fwd.hpp>

#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace arges::cli {

/// What is known of a decomposition of one rank.
struct RankTrial {
    int rank = 0;
    double fit = 0;
    std::size_t starts = 0, near_best = 0;  ///< of the latter the fit is within 0.001 of the best
    double agreement = 0;    ///< mean score of the best start with the others that are near; not a number where there are none
    double consistency = 0;  ///< of the core, in percent; not a number where the core would be too large
    double seconds = 0;      ///< of all iterations
};

/// From the starts of a decomposition. Pure.
RankTrial rank_trial(int rank, double fit, const std::vector<CpStart>& starts, std::size_t best, double consistency);

/// The largest rank whose core is consistent to 50 % at least, and whose best starts agree to 0.8 at least where there are several; 0:
/// none. Pure.
int recommended_rank(const std::vector<RankTrial>& trials);

/// A table, a plot of the fit, and the recommendation.
void print_ranks(std::ostream& out, const std::vector<RankTrial>& trials);
/// The same as an object.
nlohmann::ordered_json ranks_json(const std::vector<RankTrial>& trials);

/// From "2:10". @throws InvalidArgument for anything else, or for ranks beyond 1 to 1024
std::pair<int, int> parse_rank_range(const std::string& text);

}  // namespace arges::cli
