/// The nonzeros of a product of two sparse matrices, before their values (Gustavson, *Two fast algorithms for sparse matrices*, 1978).
#pragma once

#include "base/buffer.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace arges::sparse {

/// A matrix by rows without values; columns may repeat in a row where it is a factor.
struct RowPattern {
    std::span<const std::int64_t> start;     ///< of each row, and the end
    std::span<const std::uint32_t> columns;  ///< of the nonzeros

    std::int64_t rows() const { return std::ssize(start) - 1; }
};

/// The same with the memory for it; columns ascend in each row.
struct RowStructure {
    Buffer<std::int64_t> start;
    Buffer<std::uint32_t> columns;
};

/// Multiplications in a * b.
std::int64_t products_of(const RowPattern& a, const RowPattern& b);

/// Where a * b has nonzeros. @param width columns of b
RowStructure structure_of_product(const RowPattern& a, const RowPattern& b, std::int64_t width);

/// By nonzero of a mask with the rows of a and the columns of b: 1 where a * b has one, else 0.
/// @param width       columns of b as it is given
/// @param transposed  b is given by its columns
std::vector<char> reached_by_product(const RowPattern& mask, const RowPattern& a, const RowPattern& b, std::int64_t width, bool transposed);

/// The nonzeros of a mask that are marked by 1. @param kept gets their places
RowStructure selected(const RowPattern& mask, const std::vector<char>& marks, std::vector<std::int64_t>& kept);

}  // namespace arges::sparse
