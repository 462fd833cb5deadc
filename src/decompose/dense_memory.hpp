/// Memory of decompositions of dense tensors, put together from what their steps take.
///
/// Shape and layout of a dense tensor are known from the header of its file, so the forecast is made once, before the file is read.
#pragma once

#include "arges/cpd.hpp"
#include "arges/tucker.hpp"
#include "base/memory_tally.hpp"
#include "decompose/cp/cp_driver.hpp"
#include "layout/layout.hpp"

namespace arges::decompose {

/// Memory of cp_decompose() of a dense tensor with this layout, which has plain blocks, on a rank, the tensor included, an upper bound.
/// Pure.
MemoryTally dense_cp_memory(std::int64_t element_bytes, const Layout& layout, std::int64_t rank, const CpOptions& options, int threads);

/// Rows of its factors on a rank. Pure.
FactorRows dense_factor_rows(const Layout& layout, std::int64_t rank);

/// Memory of tucker_decompose() of a dense tensor with this layout, which has plain blocks, on this rank, the tensor included, an upper
/// bound. Where ranks follow from a tolerance, nothing may be cut. Statements of hooi are gone through in a dry run. Local.
MemoryTally dense_tucker_memory(const ElementKernels& elements, const World& world, const Layout& layout, const TuckerOptions& options,
                                int threads);

/// Memory of relative_error() beside the tensor and the model, an upper bound. Local.
std::int64_t error_memory(std::int64_t element_bytes, const World& world, const Layout& layout, const std::vector<std::int64_t>& ranks);

}  // namespace arges::decompose
