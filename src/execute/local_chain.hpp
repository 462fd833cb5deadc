/// Runs the local products of a plan, one after the other or tile by tile; and what they take beside its arrays.
#pragma once

#include "arges/element_kernels.hpp"
#include "base/workspace.hpp"
#include "local/fold.hpp"
#include "plan/product/chain_tiles.hpp"
#include "plan/product/product_plan.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace arges {

/// A block with its elements.
struct LocalPiece {
    local::OperandBlock block;
    std::byte* array = nullptr;
};

/// The chain of products of a plan on one rank, with the tiles in which it runs. Local.
class LocalChain {
public:
    /// Bytes of results between products that stay in the cache of a core.
    static constexpr std::int64_t cached_bytes = 512 << 10;

    /// @param length      by axis: indices that the rank has of it in a window, at most
    /// @param tile_bytes  of results between products that run tile by tile
    LocalChain(const ProductPlan& plan, std::vector<std::int64_t> length, std::int64_t tile_bytes);

    /// The last piece = alpha * (product of the others) + beta * that piece.
    /// @param operands  of the plan: the factors, then the result
    /// @param alpha, beta  single elements; null stands for one
    void run(const ElementKernels& kernels, const std::vector<LocalPiece>& operands, const void* alpha, const void* beta,
             Workspace& workspace) const;

    /// Bytes of workspace that run() takes at most.
    std::int64_t workspace_bytes() const;

private:
    struct Call;
    std::vector<std::int64_t> buffer_elements(const std::vector<std::int64_t>& length) const;
    void run_part(Call& call, const TiledProducts& part) const;
    void run_tile(Call& call, const TiledProducts& part, const std::vector<std::int64_t>& begin) const;

    std::int64_t element_bytes_;
    std::size_t factors_;
    std::size_t buffers_;
    std::vector<LocalProduct> chain_;
    std::vector<std::int64_t> length_;
    std::vector<TiledProducts> parts_;
};

/// Bytes that the products of a rank take, at most, for copies of parts of their operands, BLAS's included; from sizes and the threads of
/// this process.
std::int64_t copied_bytes(const ProductPlan& plan);

}  // namespace arges
