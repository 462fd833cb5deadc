/// Sparse tensors by coordinates, on one rank.
#pragma once

#include <cstdint>
#include <vector>

namespace arges::sparse {

/// Where nonzeros are: indices in the whole tensor, zero-based, in any order. A coordinate may occur once.
struct NonzeroIndices {
    std::vector<std::int64_t> lengths;               ///< of the tensor, by mode
    std::vector<std::vector<std::int64_t>> indices;  ///< by mode, one for each nonzero

    int order() const { return lengths.size(); }
    std::int64_t count() const { return indices.empty() ? 0 : std::ssize(indices.front()); }
};

/// Nonzeros with their coordinates.
template <class T>
struct Nonzeros : NonzeroIndices {
    std::vector<T> values;
    std::vector<T> weights{};  ///< of their residuals; none: all count once

    std::int64_t count() const { return std::ssize(values); }
    double weight(std::int64_t x) const { return weights.empty() ? 1 : static_cast<double>(weights[x]); }
};

/// Nonzeros with indices into the rows that a rank has of each factor matrix.
template <class T>
struct LocalNonzeros {
    std::vector<std::int64_t> rows;                   ///< by mode, below 2^32
    std::vector<std::vector<std::uint32_t>> indices;  ///< by mode, one for each nonzero
    std::vector<T> values;
    std::vector<T> weights{};  ///< as of Nonzeros

    int order() const { return rows.size(); }
    std::int64_t count() const { return std::ssize(values); }
    double weight(std::int64_t x) const { return weights.empty() ? 1 : static_cast<double>(weights[x]); }
};

}  // namespace arges::sparse
