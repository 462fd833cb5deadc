/// Moves a tensor between its ranks and contiguous slabs of its elements in the order of a file.
#pragma once

#include "interface/dense/tensor_state.hpp"
#include "io/dense/packed_order.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace arges::io {

/// Positions [first, first + count) of a file, and their elements.
struct Slab {
    std::int64_t first = 0;
    std::byte* elements = nullptr;
    std::int64_t count = 0;
    std::int64_t bytes = 0;  ///< of all elements
};

/// Rank r handles positions part_begin(size, r, ranks) and up to the next rank's, slab after slab. The two sides of a message
/// both derive which elements it holds and in which order, so no keys are sent: the tensor's side sends a range of its
/// local array, the other one deals it out along the slab. Memory on a rank: four times `slab_bytes` at most, twice in
/// the order of memory. A tensor whose groups lie in blocks is copied as a whole, and its negative zeros become positive ones.
class SlabExchange {
public:
    static constexpr std::int64_t default_slab_bytes = std::int64_t{1} << 25;

    /// Slabs for which so many free bytes do, of the usual size at most. Pure.
    static std::int64_t slab_bytes_within(std::int64_t free) {
        constexpr std::int64_t least = std::int64_t{1} << 16, buffers = 5;  // with what a caller reads into
        return std::clamp(free / buffers, least, default_slab_bytes);
    }
    /// Memory of store() and load() on a rank, beside the tensor, whose groups lie packed. Pure.
    static std::int64_t memory(std::int64_t elements, std::int64_t ranks, bool is_local_order, std::int64_t element_bytes,
                               std::int64_t slab_bytes = default_slab_bytes) {
        const auto longest = std::min(std::max<std::int64_t>(1, slab_bytes / element_bytes), (elements + ranks - 1) / ranks);
        return longest * element_bytes * (is_local_order ? 2 : 4);
    }

    explicit SlabExchange(SlotOrder order, std::int64_t slab_bytes = default_slab_bytes) : order_(order), slab_bytes_(slab_bytes) {}

    /// Calls take(slab) for this rank's slabs by ascending position, as often on each rank: the last ones may be empty.
    /// Collective, so that `take` may be; what it throws on one rank is thrown on all.
    void store(const TensorState& tensor, const std::function<void(const Slab&)>& take) const;
    /// Calls give(slab) likewise, which fills in the elements, and moves them to the tensor. Collective.
    void load(TensorState& tensor, const std::function<void(const Slab&)>& give) const;

private:
    SlotOrder order_;
    std::int64_t slab_bytes_;
};

}  // namespace arges::io
