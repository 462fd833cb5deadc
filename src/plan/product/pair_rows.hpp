/// Plans in which an input with a pair node, such as (pq|rs), stays where it is and is read row by row.
#pragma once

#include "plan/product/product_plan.hpp"

#include <optional>

namespace arges {

/// The plan, if one of two inputs is a single node over two equal children that is stored by rows (or on one rank), and the product
/// breaks it up into its children or their factors.
/// @param mirror a relabelling that leaves the exact result as it is and exchanges the children of the pair node: then only half
///               of the products are computed, and the mirror image is added when the result is moved to the output
std::optional<ProductPlan> plan_by_rows(const Product& spec, const PlanOptions& options, const std::optional<LabelTerm>& mirror = {});

}  // namespace arges
