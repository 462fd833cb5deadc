/// What the operands of a product's steps are called in explanations.
#pragma once

#include "plan/product/plan_product.hpp"

#include <map>
#include <string>
#include <vector>

namespace arges {

/// The movement of a step that makes the part of a tensor that is symmetric or antisymmetric in its pairs (plan/pair_split), else null.
/// Only such a movement goes to an intermediate.
const Movement* part_movement(const PlannedStep& step);
/// Is it the antisymmetric one?
bool is_antisymmetric_part(const Movement& part);

/// Names by number: factors and output have their own, A+ and A- are the symmetric and the antisymmetric part of A, other
/// intermediates are counted.
std::map<int, std::string> operand_names(const std::vector<PlannedStep>& steps, const Product& spec);

}  // namespace arges
