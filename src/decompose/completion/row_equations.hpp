/// What tensor completion sums over the elements of a row of a factor.
#pragma once

#include "base/buffer.hpp"
#include "decompose/completion/elements.hpp"

#include <cstdint>

namespace arges::decompose {

/// The normal equations of a row: sum of h h^T and sum of x h over elements, in double. The h of the last elements are kept until there are
/// enough to multiply: of a row with few elements, all of them.
/// On cache lines of its own, since each thread has one.
class alignas(64) RowEquations {
public:
    explicit RowEquations(int columns);
    /// Memory of one. Pure.
    static std::int64_t memory(int columns);
    /// How many numbers pack() writes.
    static std::int64_t packed_count(std::int64_t columns) { return columns * (columns + 1) / 2 + columns; }

    void clear();
    /// Adds the elements first <= x < last.
    template <class T>
    void add(const RowElements<T>& by_row, std::int64_t first, std::int64_t last, const Views<T>& factors);
    void add(RowEquations& other);
    /// The lower triangle, column after column, and the right side.
    void pack(double* to);
    void unpack(const double* from);

    /// The solution with the regularization added; that of least norm where they are singular. The equations are lost. With H the rows h of
    /// fewer elements than columns, it is H^T (H H^T + lambda I)^-1 x, with smaller equations.
    /// @throws InvalidArgument if they have a number that is not finite
    template <class T>
    void solve(double regularization, T* row);

private:
    void multiply();
    bool solve_by_elements(double regularization);

    int columns_, stride_;       // columns, and with padding
    int block_ = 0;              // elements whose h are multiplied at once
    int kept_ = 0;               // elements whose h are not multiplied yet
    bool is_multiplied_ = true;  // the matrix has sums of others
    Buffer<double> matrix_, factored_, right_, h_, values_;
};

/// What a step of stochastic gradient descent needs of a row: sum of e h, of |h|^2, and the number of elements.
class alignas(64) RowGradient {
public:
    explicit RowGradient(int columns) : columns_(columns), sums_(columns + 2), h_(columns) {}
    static std::int64_t packed_count(std::int64_t columns) { return columns + 2; }

    void clear() { sums_.zero(); }
    /// Adds the elements first <= x < last.
    template <class T>
    void add(const RowElements<T>& by_row, std::int64_t first, std::int64_t last, const Views<T>& factors);
    void add(const RowGradient& other);
    void pack(double* to);
    void unpack(const double* from);

    /// a += rate (sum of e h - share a) / (sum of |h|^2 + share).
    /// @param regularization divided by the number of all elements of the row
    template <class T>
    void step(double rate, double regularization, T* row) const;

private:
    int columns_;
    Buffer<double> sums_, h_;
};

}  // namespace arges::decompose
