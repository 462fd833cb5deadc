/// Unfolding of a torus to prime dimensions, and grids for products. Pure.
#pragma once

#include "arges/torus.hpp"
#include "layout/layout.hpp"

#include <cstdint>
#include <vector>

namespace arges {

/// Prime factors in ascending order; 12 gives 2, 2, 3; 1 gives none.
std::vector<std::int64_t> prime_factors(std::int64_t n);

/// Each torus dimension split into prime factors, in order, so that ranks keep their neighbours: 4x3 gives {2, 2, 3}. Every
/// folding of the torus joins unfolded dimensions that follow each other, as an axis does that is given several of them.
RankGrid unfold(const Torus& torus);

/// Grids on which a product may run: the unfolded torus, then at most three of somewhat fewer ranks (at least nine tenths, or all but
/// one) with smaller or more prime factors; the other ranks are idle. 13 gives {13} and {2, 2, 3}; 8 gives {2, 2, 2} and {7}.
std::vector<RankGrid> grids_for_products(const Torus& torus);

/// The torus to use when none is given: ranks of one node innermost (`ranks_per_node` of them), then the nodes.
Torus detected_torus(std::int64_t ranks, std::int64_t ranks_per_node);

}  // namespace arges
