// Normal equations of rows (Smith, Park, Karypis, SC16, section on ALS): the h of a few elements are laid out one after the other, then
// multiplied in tiles of 8 x 8 that stay in registers.
#include "decompose/completion/row_equations.hpp"

#include "linalg/small_matrices.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

namespace arges::decompose {

namespace {

constexpr int tile = 8;
typedef double Vector __attribute__((vector_size(tile * sizeof(double))));

int padded(int columns) { return (columns + tile - 1) / tile * tile; }

/// As many h as fit into a part of the first cache.
int block_of(int stride) { return std::clamp(1024 / stride, 8, 64); }

/// Directions in which equations are smaller than their largest by this factor times the number of columns are left out.
constexpr double noise = 500 * std::numeric_limits<double>::epsilon();

}  // namespace

RowEquations::RowEquations(int columns)
    : columns_(columns), stride_(padded(columns)), block_(block_of(stride_)), matrix_(static_cast<std::int64_t>(stride_) * stride_),
      factored_(static_cast<std::int64_t>(stride_) * stride_ + block_ * block_), right_(stride_),
      h_(static_cast<std::int64_t>(block_) * stride_), values_(block_) {
    h_.zero();
}

std::int64_t RowEquations::memory(int columns) {
    const std::int64_t stride = padded(columns), block = block_of(padded(columns)), number = sizeof(double);
    // Where equations are nearly singular, a solver copies them.
    return array_memory(stride * stride * number) + array_memory((stride * stride + block * block) * number) +
           array_memory(stride * number) + array_memory(block * stride * number) + array_memory(block * number) +
           12 * number * columns * columns;
}

void RowEquations::clear() {
    if (is_multiplied_) matrix_.zero();
    is_multiplied_ = false;
    right_.zero();
    kept_ = 0;
}

/// Room for the h of the next element.
double* RowEquations::next_h() {
    if (kept_ == block_) multiply();
    return h_.data() + kept_ * stride_;
}

/// Adds the element whose h is there.
void RowEquations::keep(double value) {
    const double* const h = h_.data() + kept_ * stride_;
    double* const right = right_.data();
#pragma omp simd
    for (int r = 0; r < columns_; ++r) right[r] += value * h[r];
    values_[kept_++] = value;
}

/// With h and x times the root of their weight.
void RowEquations::keep_weighted(double value, double weight) {
    const double root = std::sqrt(weight);
    double* const h = h_.data() + kept_ * stride_;
    for (int r = 0; r < columns_; ++r) h[r] *= root;
    keep(root * value);
}

/// matrix += sum of h h^T over the kept elements, its lower triangle.
void RowEquations::multiply() {
    for (int column = 0; column < stride_; column += tile)
        for (int row = column; row < stride_; row += tile) {
            Vector sum[tile] = {};
            const double* h = h_.data();
            for (int k = 0; k < kept_; ++k, h += stride_) {
                Vector v;
                std::memcpy(&v, h + row, sizeof v);
#pragma GCC unroll 8
                for (int c = 0; c < tile; ++c) sum[c] += h[column + c] * v;
            }
#pragma GCC unroll 8
            for (int c = 0; c < tile; ++c) {
                double* const to = matrix_.data() + (column + c) * stride_ + row;
                Vector v;
                std::memcpy(&v, to, sizeof v);
                v += sum[c];
                std::memcpy(to, &v, sizeof v);
            }
        }
    kept_ = 0;
    is_multiplied_ = true;
}

void RowEquations::add(RowEquations& other) {
    multiply();
    other.multiply();
    for (std::int64_t i = 0; i < matrix_.size(); ++i) matrix_[i] += other.matrix_[i];
    for (std::int64_t i = 0; i < stride_; ++i) right_[i] += other.right_[i];
}

void RowEquations::pack(double* to) {
    multiply();
    for (int c = 0; c < columns_; ++c) to = std::copy_n(&matrix_[static_cast<std::int64_t>(c) * stride_ + c], columns_ - c, to);
    std::copy_n(right_.data(), columns_, to);
}

void RowEquations::unpack(const double* from) {
    kept_ = 0;
    is_multiplied_ = true;
    for (int c = 0; c < columns_; ++c, from += columns_ - c + 1)
        std::copy_n(from, columns_ - c, &matrix_[static_cast<std::int64_t>(c) * stride_ + c]);
    std::copy_n(from, columns_, right_.data());
}

/// Puts the solution into the right side, unless the h of elements are nearly dependent.
bool RowEquations::solve_by_elements(double regularization) {
    const auto h = [&](int k) { return h_.data() + k * stride_; };
    double* const equations = factored_.data();
    for (int a = 0; a < kept_; ++a)
        for (int b = a; b < kept_; ++b) {
            double sum = a == b ? regularization : 0;
#pragma omp simd reduction(+ : sum)
            for (int r = 0; r < columns_; ++r) sum += h(a)[r] * h(b)[r];
            equations[static_cast<std::ptrdiff_t>(a) * kept_ + b] = sum;
        }
    if (!linalg::solve_positive(equations, kept_, kept_, values_.data(), noise * columns_)) return false;
    right_.zero();
    for (int k = 0; k < kept_; ++k)
        for (int r = 0; r < columns_; ++r) right_[r] += values_[k] * h(k)[r];
    return true;
}

Gram RowEquations::whole(double regularization) {
    if (kept_ > 0) multiply();
    Gram result;
    for (int c = 0; c < columns_; ++c)
        for (int r = 0; r < columns_; ++r)
            result.push_back(matrix_[static_cast<std::int64_t>(std::min(r, c)) * stride_ + std::max(r, c)] + (r == c ? regularization : 0));
    return result;
}

const double* RowEquations::solve(double regularization) {
    const bool is_short = !is_multiplied_ && kept_ < columns_;
    if (!is_short || !solve_by_elements(regularization)) {
        multiply();
        for (int c = 0; c < columns_; ++c) matrix_[static_cast<std::int64_t>(c) * (stride_ + 1)] += regularization;
        std::copy_n(matrix_.data(), matrix_.size(), factored_.data());
        if (!linalg::solve_positive(factored_.data(), columns_, stride_, right_.data(), noise * columns_)) {
            GramSolver(whole(0), columns_, std::numeric_limits<double>::epsilon())
                .solve(sparse::RowMatrix<double>{right_.data(), 1, columns_, columns_});
        }
    }
    return right_.data();
}

/// Adds the element whose h is there.
void RowGradient::add_element(double value, double weight) {
    const double *const a = a_.data(), *const h = h_.data();
    double model = 0, length = 0;
#pragma omp simd reduction(+ : model, length)
    for (int r = 0; r < columns_; ++r) {
        model += a[r] * h[r];
        length += h[r] * h[r];
    }
    const double e = weight * (value - model);
    double* const sums = sums_.data();
#pragma omp simd
    for (int r = 0; r < columns_; ++r) sums[r] += e * h[r];
    sums_[columns_] += weight * length;
    sums_[columns_ + 1] += weight;
}

}  // namespace arges::decompose
