/// The loss of a row's elements, and its gradient.
#pragma once

#include "base/buffer.hpp"
#include "decompose/completion/row_equations.hpp"
#include "decompose/cp/element_loss.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace arges::decompose {

/// Sum of f(x, m) and of f'(x, m) h over the elements of a row, with h the Hadamard product of the rows of the other factors, in double.
/// On cache lines of its own, since each thread has one.
class alignas(64) RowLoss : public RowNumbers {
public:
    RowLoss(int columns, const ElementLoss* loss)
        : RowNumbers(packed_count(columns)), columns_(columns), loss_(loss), h_(block * columns), a_(columns) {}
    using RowNumbers::add;
    /// Memory of one. Pure.
    static std::int64_t memory(int columns) {
        const std::int64_t number = sizeof(double);
        return array_memory((columns + 1) * number) + array_memory(block * columns * number) + array_memory(columns * number);
    }
    static std::int64_t packed_count(std::int64_t columns) { return columns + 1; }

    /// Adds the elements first <= x < last.
    template <class T>
    void add(const RowElements<T>& by_row, std::int64_t first, std::int64_t last, const Views<T>& factors) {
        const auto& elements = by_row.elements;
        const T* const a = factors[by_row.mode].row(elements.index(first)[by_row.mode]);
        std::copy_n(a, columns_, a_.data());
        for (auto begin = first; begin < last; begin += block) {
            const auto count = std::min(block, last - begin);
            std::array<double, block> x, weights;
            for (std::int64_t k = 0; k < count; ++k) {
                x[k] = elements.values[begin + k];
                weights[k] = elements.weight(begin + k);
                hadamard(factors, elements.index(begin + k), by_row.mode, h_.data() + k * columns_);
            }
            add_block(x.data(), weights.data(), count);
        }
    }

    double loss() const { return sums_[columns_]; }
    const double* gradient() const { return sums_.data(); }

private:
    static constexpr std::int64_t block = 32;

    void add_block(const double* x, const double* weights, std::int64_t count) {
        std::array<double, block> m, derivative;
        const double* const a = a_.data();
        for (std::int64_t k = 0; k < count; ++k) {
            const double* const h = h_.data() + k * columns_;
            double sum = 0;
#pragma omp simd reduction(+ : sum)
            for (int r = 0; r < columns_; ++r) sum += a[r] * h[r];
            m[k] = sum;
        }
        sums_[columns_] += loss_->derivatives(x, m.data(), weights, derivative.data(), count);
        double* const sums = sums_.data();
        for (std::int64_t k = 0; k < count; ++k) {
            const double* const h = h_.data() + k * columns_;
#pragma omp simd
            for (int r = 0; r < columns_; ++r) sums[r] += derivative[k] * h[r];
        }
    }

    int columns_;
    const ElementLoss* loss_;
    Buffer<double> h_, a_;
};

}  // namespace arges::decompose
