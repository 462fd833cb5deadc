/// Plans as text.
#pragma once

#include "arges/expression.hpp"
#include "plan/contraction_plan.hpp"

#include <string>
#include <vector>

namespace arges {

/// One line for a movement that is a statement by itself.
std::string explain_movement(const ExchangeSpec& movement, const std::vector<std::string>& label_names,
                             std::int64_t element_bytes);

}  // namespace arges
