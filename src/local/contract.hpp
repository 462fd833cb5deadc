/// Contraction of two strided operands on one rank.
#pragma once

#include "arges/element_kernels.hpp"
#include "local/scalar.hpp"

#include <cstdint>
#include <span>

namespace arges::local {

/// Copies of operands that contract() makes stay below this at any time.
inline constexpr std::int64_t max_workspace_bytes = 32 << 20;

/// Nanoseconds of one thread in double precision, by which contract() chooses its way. Only their ratios matter.
struct ContractionCosts {
    double matrix_product = 0.04;  ///< per multiplication of a product of large matrices
    double vector_loop = 0.12;     ///< per multiplication of loops whose operands stay in the cache
    double packed_element = 1.2;   ///< per element that is copied in another order first
};

/// Takes these costs in this process from now on. Local; the same on all ranks, which else round sums differently; no other thread
/// contracts meanwhile.
void set_contraction_costs(const ContractionCosts& costs);

/// C = alpha * sum over k of A * B + beta * C; for beta = 0 what C held is not read.
///
/// Example, a matrix product of column-major A (4 x 2) and B (2 x 3): m = {{4, 1, 0, 1}}, n = {{3,
/// 0, 2, 4}}, k = {{2, 4, 1, 0}}. Strides are positive and the axes of a group come in any order; A
/// and B may have stride 0, which repeats elements. Elements of C are distinct, and C does not
/// overlap A or B. An axis of size 0 leaves beta * C. The same call with the same number of threads
/// gives bitwise the same result.
/// @throws OutOfMemory
template <class T>
void contract(const FoldedContraction& f, T alpha, const T* a, const T* b, T beta, T* c);

/// Bytes that contract() takes on this process's threads beside its operands, at most: for copies of operands, and for what BLAS copies.
/// Operands may be of less than these sizes. Local.
template <class T>
std::int64_t contract_memory(const FoldedContraction& f);

/// C[m, batch] = alpha * sum over k of A[m, k, batch] + beta * C; strides of B and axes n are
/// ignored.
/// @throws OutOfMemory
template <class T>
void reduce(const FoldedContraction& f, T alpha, const T* a, T beta, T* c);

/// Multiplies every element by weights[i], i being its index along `axis`.
template <class T>
void scale_along(std::span<const std::int64_t> sizes, std::span<const std::int64_t> strides, int axis, std::span<const real_of<T>> weights,
                 T* data);

}  // namespace arges::local
