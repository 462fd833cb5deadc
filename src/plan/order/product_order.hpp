/// In which order the factors of a product are multiplied pair by pair.
#pragma once

#include "plan/product/product_steps.hpp"

#include <vector>

namespace arges {

/// The order of least modelled seconds, each pair on its best grid of all ranks, layouts left aside. Groups of labels that stay packed
/// in every factor that has them count with their packed size, and results that do not fit into the memory limit are charged for it.
/// Step s makes node nodes.size() + s.
PairOrder product_order(const std::vector<ProductNode>& nodes, const Product& spec, const PlanOptions& options);

}  // namespace arges
