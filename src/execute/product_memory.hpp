/// What the local products of a plan take beside its arrays.
#pragma once

#include "plan/product/product_plan.hpp"

#include <cstdint>

namespace arges {

/// Bytes that the products of a rank take, at most, for copies of parts of their operands, BLAS's included; from sizes and the threads of
/// this process.
std::int64_t copied_bytes(const ProductPlan& plan);

}  // namespace arges
