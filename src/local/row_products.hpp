/// Products with a packed pair node that is read where it lies, row by row.
#pragma once

#include <array>
#include <cstdint>

namespace arges::local {

/// One factor of a child's packed index: free (it is an index of the result) or summed (of the other operand).
struct RowFactor {
    std::int64_t count = 1;
    std::int64_t stride = 0;  ///< in the result if free, else in the other operand
    bool summed = false;
};

/// C += alpha * sum over all (p, q) of A(p, q) * B, where A is stored for p <= q (p < q if strict) in rows of fixed q and
/// A(q, p) = swapped * A(p, q). An index p of child c stands for its factors, p = i0 + count_0 * i1.
///
/// Example, y(p) = sum of A(p, q) x(q) with a symmetric A: child 0 has one free factor, child 1 a summed one, columns = 1.
struct RowProduct {
    std::int64_t first_row = 0;  ///< q of the first row that is stored
    std::int64_t row_step = 1;   ///< distance in q to the next one
    std::int64_t rows = 0;
    bool strict = false;
    bool once = false;                              ///< leave out A(q, p) and halve the diagonal: the caller adds the mirror image
    double swapped = 1;                             ///< 1 or -1
    std::int64_t columns = 1;                       ///< contiguous in B and C
    std::array<std::array<RowFactor, 2>, 2> child;  ///< by child: the fast factor, the slow one (count 1 if there is none)

    /// Elements of A.
    std::int64_t elements() const { return row_start(rows); }
    constexpr std::int64_t row_start(std::int64_t t) const { return t * (first_row + (strict ? 0 : 1)) + row_step * (t * (t - 1) / 2); }
};

/// Threads that multiply_rows() should use for a result of `result` elements, at most `threads`: each but the first needs a copy
/// of the result, which is worth it only where A is larger.
std::int64_t row_product_threads(const RowProduct& product, std::int64_t result, std::int64_t threads);

/// Computes the product into C of `result` elements.
/// @param copies room for (threads - 1) * result elements
template <class T>
void multiply_rows(const RowProduct& product, T alpha, const T* a, const T* b, T* c, std::int64_t result, T* copies, std::int64_t threads);

}  // namespace arges::local
