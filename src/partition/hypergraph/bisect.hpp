/// Multilevel bisection of hypergraphs.
#pragma once

#include "partition/hypergraph/refine.hpp"

#include <cstdint>
#include <vector>

namespace arges::partition {

/// What bisect() is to find.
struct BisectionRequest {
    double share = 0.5;  ///< of the weight, for side 0
    SideLimits limits;
    int tries = 12;  ///< first bisections
    int cycles = 1;  ///< multilevel refinements of the result, up to a million pins
};

/// Coarsens, bisects the coarsest hypergraph and refines on the way back.
std::vector<std::uint8_t> bisect(const Hypergraph& hypergraph, const BisectionRequest& request, RandomNumbers& random, WorkBudget& work);

}  // namespace arges::partition
