/// In which order the modes of a dense tensor are truncated.
#pragma once

#include "layout/layout.hpp"
#include "plan/machine_model.hpp"

#include <cstdint>
#include <vector>

namespace arges::decompose {

/// The cheapest order of the modes for ST-HOSVD, in modelled seconds of Gram matrices, eigenvectors, products, and moves of modes that are spread over ranks. Pure.
/// @param ranks by mode; 0: not known yet, then a quarter of the length is assumed
std::vector<int> cheapest_mode_order(const Layout& layout, const std::vector<std::int64_t>& ranks, std::int64_t element_bytes, const MachineModel& machine);

}  // namespace arges::decompose
