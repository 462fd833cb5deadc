/// Matricizations of dense tensors: Gram matrices and products with one mode, on blocks in which that mode is whole; and what the
/// steps of Tucker decompositions cost.
#pragma once

#include "arges/machine.hpp"
#include "arges/tucker.hpp"
#include "base/buffer.hpp"
#include "decompose/cp/gram_solver.hpp"
#include "interface/dense/tensor_state.hpp"
#include "layout/layout.hpp"
#include "local/blas.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace arges::decompose {

/// A block of a tensor as a three-dimensional array with one mode in the middle.
struct MiddleMode {
    std::int64_t before = 1, length = 1, behind = 1;

    /// @param sizes of the block by mode
    MiddleMode(const std::vector<std::int64_t>& sizes, int mode);
};

/// The Gram matrix of a block's matricization, its lower triangle. Threads sum panels of their own, whose sums are added in their
/// order. Local. @param longest_stride that BLAS takes, lowered by tests @throws OutOfMemory
template <class T>
Gram gram_of_block(const T* block, const MiddleMode& at, std::int64_t longest_stride = local::max_blas_stride);

/// A layout in which a mode is not spread: its torus dimensions go to modes that are long enough, first to those in `settled`.
/// Where there are none, ranks along a torus dimension hold copies. Pure.
Layout layout_with_whole_mode(const Layout& layout, int mode, std::span<const int> settled);

/// A layout in which only this mode is spread, over as many torus dimensions as it has indices for; along the others ranks hold
/// copies. Pure.
Layout layout_with_spread_mode(const Layout& layout, int mode);

/// A plain layout spread alike, with another length of a mode, which is whole. Pure.
Layout layout_with_length(const Layout& layout, int mode, std::int64_t length);

/// The same elements on another layout, and the bytes that this rank sends for it, as planned. Collective.
std::pair<std::shared_ptr<TensorState>, std::int64_t> state_on(const TensorState& from, Layout layout);

/// A tensor on another layout, and the bytes that this rank sends for it, as planned.
template <class T>
struct MovedTensor {
    Tensor<T> tensor;
    std::int64_t planned_bytes = 0;
};

/// The same elements on another layout. Collective.
/// @param tensor has plain blocks, as the layout
template <class T>
MovedTensor<T> moved_to(const Tensor<T>& tensor, Layout layout) {
    auto [state, bytes] = state_on(*tensor.state(), std::move(layout));
    return {Tensor<T>(std::move(state)), bytes};
}

/// The same elements on the layout of another tensor, which has plain blocks; no copy if they are there. Collective.
template <class T>
MovedTensor<T> on_layout_of(const Tensor<T>& tensor, const Tensor<T>& other) {
    const auto& layout = other.state()->layout;
    if (tensor.state()->layout == layout) return {Tensor<T>(tensor.state()), 0};
    return moved_to(with_plain_blocks(tensor), layout);
}

/// The same elements with a mode that is whole in every block; no copy if it is already. Collective.
/// @param tensor has plain blocks
template <class T>
MovedTensor<T> with_whole_mode(const Tensor<T>& tensor, int mode, std::span<const int> settled) {
    const auto& layout = tensor.state()->shape();
    if (layout.slot(mode).grid_length() == 1) return {Tensor<T>(tensor.state()), 0};
    return moved_to(tensor, layout_with_whole_mode(layout, mode, settled));
}

/// Sum of the squares of all elements. Collective.
template <class T>
double norm_squared(const Tensor<T>& tensor);

/// The lower triangle of X_(mode) X_(mode)^T, on the first rank, by symmetric products of the blocks; the mode is whole. Float
/// elements are summed in float only over a few thousand terms. On other ranks the values mean nothing. Collective.
template <class T>
Gram mode_gram(const Tensor<T>& tensor, int mode);

/// Bytes that mode_gram() sends from a rank. Pure.
std::int64_t gram_bytes(std::int64_t ranks, std::int64_t rank, std::int64_t length);

/// The tensor whose index of `mode`, which is whole, is multiplied with U^T. No communication.
/// @param u length x columns, column after column
std::shared_ptr<TensorState> mode_product(const TensorState& tensor, int mode, const void* u, std::int64_t columns);

/// This rank's elements of a Tucker model on a layout, which has plain blocks. Local. @throws OutOfMemory
/// @param core     its elements, the first mode fastest @param ranks its lengths
/// @param factors  by mode, length x columns, column after column
template <class T>
Buffer<T> model_block(std::span<const T> core, const std::vector<std::int64_t>& ranks, const std::vector<const T*>& factors,
                      const Layout& layout, std::int64_t rank);
/// Memory that it takes, the result included, an upper bound. Pure.
std::int64_t model_block_memory(std::int64_t element_bytes, const std::vector<std::int64_t>& ranks, const Layout& layout,
                                std::int64_t rank);

/// The cheapest order of the modes for ST-HOSVD, in modelled seconds of Gram matrices, eigenvectors, products, and moves of
/// modes that are spread over ranks. Pure.
/// @param ranks by mode; 0: not known yet, then a quarter of the length is assumed
std::vector<int> cheapest_mode_order(const Layout& layout, const std::vector<std::int64_t>& ranks, std::int64_t element_bytes,
                                     const MachineModel& machine);

/// The kernel with fewer flops for a matricization of length x width, each weighed by how fast it is computed. Gram matrices
/// win unless the matricization is much longer than wide. Pure.
TuckerKernel cheaper_kernel(std::int64_t length, std::int64_t width, std::int64_t ranks);

}  // namespace arges::decompose
