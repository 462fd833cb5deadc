/// What `arges stats` says of values.
#pragma once

#include "arges/value_statistics.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace arges::cli {

/// Lines of numbers, and a histogram with a bar for each bin.
std::string values_text(const ValueStatistics& values);

/// The same as an object.
nlohmann::ordered_json values_json(const ValueStatistics& values);

}  // namespace arges::cli
