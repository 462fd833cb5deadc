/// The indices of a sparse tensor's nonzeros, all in memory: what distributions are counted from. Values do not matter.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace arges::partition {

struct IndexView {
    std::vector<std::int64_t> lengths;                   ///< by mode
    std::vector<std::span<const std::int64_t>> indices;  ///< by mode, one for each nonzero, zero-based
    int order() const { return lengths.size(); }
    std::int64_t count() const { return indices.empty() ? 0 : std::ssize(indices[0]); }
};

}  // namespace arges::partition
