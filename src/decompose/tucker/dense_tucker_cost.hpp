/// What the steps of Tucker decompositions of dense tensors cost, and what follows from it.
#pragma once

#include "arges/tucker.hpp"
#include "layout/layout.hpp"
#include "plan/product/machine_model.hpp"

#include <cstdint>
#include <vector>

namespace arges::decompose {

/// The cheapest order of the modes for ST-HOSVD, in modelled seconds of Gram matrices, eigenvectors, products, and moves of
/// modes that are spread over ranks. Pure.
/// @param ranks by mode; 0: not known yet, then a quarter of the length is assumed
std::vector<int> cheapest_mode_order(const Layout& layout, const std::vector<std::int64_t>& ranks, std::int64_t element_bytes,
                                     const MachineModel& machine);

/// The kernel with fewer flops for a matricization of length x width, each weighed by how fast it is computed. Gram matrices
/// win unless the matricization is much longer than wide. Pure.
TuckerKernel cheaper_kernel(std::int64_t length, std::int64_t width, std::int64_t ranks);

}  // namespace arges::decompose
