/// What tensor completion sums over the elements of a row of a factor.
#pragma once

#include "base/buffer.hpp"
#include "decompose/completion/elements.hpp"

#include <cstdint>
#include <span>

namespace arges::decompose {

/// The normal equations of a row: sum of h h^T and sum of x h over elements, in double.
class RowEquations {
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
    void add(const RowEquations& other);
    /// The lower triangle, column after column, and the right side.
    void pack(double* to) const;
    void unpack(const double* from);

    /// The solution with the regularization added; that of least norm where they are singular. The right side is lost.
    /// @throws InvalidArgument if they have a number that is not finite
    template <class T>
    void solve(double regularization, T* row);

private:
    void add_products(int count);

    int columns_, stride_;  // columns, and with padding
    int block_ = 0;         // elements whose h are multiplied at once
    Buffer<double> matrix_, factored_, right_, h_;
};

/// What a step of stochastic gradient descent needs of a row: sum of e h, of |h|^2, and the number of elements.
class RowGradient {
public:
    explicit RowGradient(int columns) : columns_(columns), sums_(columns + 2), h_(columns) {}
    static std::int64_t packed_count(std::int64_t columns) { return columns + 2; }

    void clear() { sums_.zero(); }
    /// Adds the elements first <= x < last.
    template <class T>
    void add(const RowElements<T>& by_row, std::int64_t first, std::int64_t last, const Views<T>& factors);
    void add(const RowGradient& other);
    void pack(double* to) const;
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
