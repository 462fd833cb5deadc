/// What tensor completion sums over the elements of a row of a factor.
#pragma once

#include "base/buffer.hpp"
#include "decompose/completion/elements.hpp"
#include "decompose/cp/gram_solver.hpp"

#include <algorithm>
#include <cstdint>
#include <span>

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
    void add(const RowElements<T>& by_row, std::int64_t first, std::int64_t last, const Views<T>& factors) {
        for (auto x = first; x < last; ++x) {
            hadamard(factors, by_row.elements.index(x), by_row.mode, next_h());
            by_row.elements.weights.empty() ? keep(by_row.elements.values[x])
                                            : keep_weighted(by_row.elements.values[x], by_row.elements.weights[x]);
        }
    }
    void add(RowEquations& other);
    /// The lower triangle, column after column, and the right side.
    void pack(double* to);
    void unpack(const double* from);

    /// The solution with the regularization added; that of least norm where they are singular. The equations are lost. With H the rows h of
    /// fewer elements than columns, it is H^T (H H^T + lambda I)^-1 x, with smaller equations.
    /// @throws InvalidArgument if they have a number that is not finite
    template <class T>
    void solve(double regularization, T* row) {
        const double* const solution = solve(regularization);
        for (int c = 0; c < columns_; ++c) row[c] = static_cast<T>(solution[c]);
    }
    /// Improves a row without negative elements by coordinate descent, likewise.
    template <class T>
    void improve_nonnegative(double regularization, T* row) {
        const auto equations = whole(regularization);
        decompose::improve_nonnegative(row, right_.data(), equations.data(), columns_);
    }

    /// The matrix with both of its triangles and the regularization added, and the right side.
    Gram whole(double regularization);
    std::span<const double> right() const { return {right_.data(), static_cast<std::size_t>(columns_)}; }

private:
    double* next_h();
    void keep(double value);
    void keep_weighted(double value, double weight);
    void multiply();
    const double* solve(double regularization);
    bool solve_by_elements(double regularization);

    int columns_, stride_;       // columns, and with padding
    int block_ = 0;              // elements whose h are multiplied at once
    int kept_ = 0;               // elements whose h are not multiplied yet
    bool is_multiplied_ = true;  // the matrix has sums of others
    Buffer<double> matrix_, factored_, right_, h_, values_;
};

/// Numbers that are summed over the elements of a row.
class RowNumbers {
public:
    explicit RowNumbers(std::int64_t count) : sums_(count) {}

    void clear() { sums_.zero(); }
    void add(const RowNumbers& other) {
        for (std::int64_t i = 0; i < sums_.size(); ++i) sums_[i] += other.sums_[i];
    }
    void pack(double* to) const { std::copy_n(sums_.data(), sums_.size(), to); }
    void unpack(const double* from) { std::copy_n(from, sums_.size(), sums_.data()); }

protected:
    Buffer<double> sums_;
};

/// What a step of stochastic gradient descent needs of a row: sum of w e h, of w |h|^2, and of the weights w.
class alignas(64) RowGradient : public RowNumbers {
public:
    explicit RowGradient(int columns) : RowNumbers(packed_count(columns)), columns_(columns), h_(columns), a_(columns) {}
    using RowNumbers::add;
    static std::int64_t packed_count(std::int64_t columns) { return columns + 2; }

    /// Adds the elements first <= x < last.
    template <class T>
    void add(const RowElements<T>& by_row, std::int64_t first, std::int64_t last, const Views<T>& factors) {
        const auto& elements = by_row.elements;
        const T* const a = factors[by_row.mode].row(elements.index(first)[by_row.mode]);
        std::copy_n(a, columns_, a_.data());
        for (auto x = first; x < last; ++x) {
            hadamard(factors, elements.index(x), by_row.mode, h_.data());
            add_element(elements.values[x], elements.weight(x));
        }
    }

    /// a += rate (sum of e h - share a) / (sum of |h|^2 + share), with the regularization for each element as the share.
    template <class T>
    void step(double rate, double regularization, T* row) const {
        const double share = regularization * sums_[columns_ + 1], length = sums_[columns_] + share;
        if (length == 0) return;
        for (int r = 0; r < columns_; ++r)
            row[r] = static_cast<T>(static_cast<double>(row[r]) + rate * (sums_[r] - share * static_cast<double>(row[r])) / length);
    }

private:
    void add_element(double value, double weight);

    int columns_;
    Buffer<double> h_, a_;
};

}  // namespace arges::decompose
