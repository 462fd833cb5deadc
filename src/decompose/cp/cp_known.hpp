/// CP decompositions of the known elements of a tensor, and those with losses.
#pragma once

#include "decompose/cp/cp_driver.hpp"
#include "decompose/distribution/sparse_share.hpp"
#include "decompose/known_weights.hpp"
#include "interface/dense/tensor_state.hpp"
#include "interface/sparse/sparse_state.hpp"

namespace arges::decompose {

/// Of a sparse tensor, whose nonzeros it takes if `gives_up`. Collective. @throws as cp_decompose()
/// @param weights are given up; null: none
template <class T>
CpResult<T> decompose_elements(SparseState& source, bool gives_up, KnownWeights<T>* weights, const CpTask<T>& task);

/// Of a dense tensor. Collective. @throws as cp_decompose()
/// @param weights null: none
template <class T>
CpResult<T> decompose_block(const Tensor<T>& tensor, const Tensor<T>* weights, const CpTask<T>& task);

/// Memory of decompose_elements(), its elements included, an upper bound; what it holds at the end is the model. Pure.
/// @param on_device  a device makes the sums over rows
MemoryTally element_cp_memory(const SparseShare& share, const CpOptions& options, int threads, bool on_device = false);

/// What "auto" stands for in CpOptions::distribution. Pure.
std::string element_distribution(const CpOptions& options, std::int64_t ranks);

}  // namespace arges::decompose
