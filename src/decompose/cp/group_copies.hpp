/// Copies of a tensor, one for each group of ranks, and what they take.
#pragma once

#include "arges/sparse_tensor.hpp"
#include "arges/tensor.hpp"
#include "decompose/cp/starts_in_groups.hpp"
#include "layout/layout.hpp"

#include <cstdint>
#include <vector>

namespace arges::decompose {

/// Bytes on this rank.
struct CopyMemory {
    std::int64_t original = 0;  ///< of the tensor
    std::int64_t copying = 0;   ///< while it is copied, itself and the copy included, an upper bound
    std::int64_t expected = 0;  ///< of the decomposition of the copy, by an estimate for sparse tensors
};
/// Of a sparse tensor with so many nonzeros, of which this rank has `here`. Pure.
/// @param ranks  of the world and of a group @param options  of a group, with as many starts as it makes
CopyMemory copy_memory(const std::vector<std::int64_t>& lengths, std::int64_t nonzeros, std::int64_t here, std::int64_t value_bytes,
                       std::int64_t ranks, std::int64_t ranks_of_group, const CpOptions& options);
/// Of a dense tensor with this layout and that of its copy. Pure.
CopyMemory copy_memory(const Layout& whole, const Layout& copy, std::int64_t rank_in_group, std::int64_t value_bytes,
                       const CpOptions& options);
/// Of a tensor. Local.
template <class T>
CopyMemory copy_memory(const SparseTensor<T>& tensor, const RankGroups& groups, const CpOptions& options);
template <class T>
CopyMemory copy_memory(const Tensor<T>& tensor, const RankGroups& groups, const CpOptions& options);

/// The copy of this rank's group, without symmetry. Collective over the tensor's world.
/// @param gives_up  the tensor loses its nonzeros @throws OutOfMemory on every rank
template <class T>
SparseTensor<T> copy_of_group(const SparseTensor<T>& tensor, bool gives_up, const RankGroups& groups);
template <class T>
Tensor<T> copy_of_group(const Tensor<T>& tensor, bool gives_up, const RankGroups& groups);

}  // namespace arges::decompose
