/// `arges cpd --ranks 2:10`: decompositions of several ranks, side by side.
#pragma once

#include "arges/cp_ranks.hpp"

#include <nlohmann/json_fwd.hpp>

#include <ostream>
#include <string>
#include <utility>

namespace arges::cli {

/// A table, a plot of the fit, and the recommendation.
void print_ranks(std::ostream& out, const CpRanks& ranks);
/// The same as an object.
nlohmann::ordered_json ranks_json(const CpRanks& ranks);

/// From "2:10". @throws InvalidArgument for anything else, or for ranks beyond 1 to 1024
std::pair<int, int> parse_rank_range(const std::string& text);

}  // namespace arges::cli
