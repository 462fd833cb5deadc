/// Sums of two sparse tensors: elements that either has.
#pragma once

#include "arges/element_kernels.hpp"
#include "execute/sparse_move.hpp"
#include "sparse/coordinates.hpp"

#include <memory>

namespace arges {

/// Where the nonzeros of a + b are, found once; then values are moved and added.
class SparseUnion {
public:
    /// Collective. @param comm null for one rank  @param to where the nonzeros of the sum lie  @param lengths of the modes
    SparseUnion(const Communicator* comm, const IndexSpans& a, const IndexSpans& b, const SparseLayout& to,
                std::span<const std::int64_t> lengths, const RequireBytes& require);

    /// The sum has the nonzeros of a, in the same places and order. The same on all ranks.
    bool has_pattern_of_first() const { return has_pattern_of_first_; }
    /// The indices of the sum on this rank, given away.
    IndexColumns take_indices() { return std::move(indices_); }
    /// Values of the sum. Collective.
    Buffer<std::byte> values(const ElementKernels& kernels, const std::byte* a, const std::byte* b) const;
    /// Bytes of indices that were sent from this rank, and of values that each run sends.
    std::int64_t inspected_bytes() const { return inspected_bytes_; }
    std::int64_t sent_bytes(std::int64_t element_bytes) const;
    /// Memory of the lists, in bytes.
    std::int64_t list_bytes() const;

private:
    const Communicator* comm_;
    SparseMove a_, b_;
    sparse::Runs runs_;
    IndexColumns indices_;
    bool has_pattern_of_first_ = false;
    std::int64_t inspected_bytes_ = 0;
};

}  // namespace arges
