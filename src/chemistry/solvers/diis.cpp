// DIIS: the combination of the latest amplitudes with the smallest error (Pulay, Chem. Phys. Lett. 73, 393 (1980)).
#include "arges/chemistry/diis.hpp"

#include "arges/error.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace arges::chemistry {

namespace {

/// Solves A x = b by elimination with row pivoting; empty if a pivot is negligible.
std::vector<double> solve(std::vector<std::vector<double>> A, std::vector<double> b) {
    const std::size_t n = b.size();
    for (std::size_t k = 0; k < n; ++k) {
        std::size_t pivot = k;
        for (std::size_t i = k + 1; i < n; ++i)
            if (std::abs(A[i][k]) > std::abs(A[pivot][k])) pivot = i;
        if (!(std::abs(A[pivot][k]) > 1e-14)) return {};
        std::swap(A[k], A[pivot]);
        std::swap(b[k], b[pivot]);
        for (std::size_t i = k + 1; i < n; ++i) {
            const double factor = A[i][k] / A[k][k];
            for (std::size_t j = k; j < n; ++j) A[i][j] -= factor * A[k][j];
            b[i] -= factor * b[k];
        }
    }
    for (std::size_t k = n; k-- > 0;) {
        for (std::size_t j = k + 1; j < n; ++j) b[k] -= A[k][j] * b[j];
        b[k] /= A[k][k];
    }
    return b;
}

}  // namespace

std::vector<double> diis_coefficients(const std::vector<std::vector<double>>& overlaps) {
    const std::size_t n = overlaps.size();
    if (n == 0 || std::any_of(overlaps.begin(), overlaps.end(), [&](const auto& row) { return row.size() != n; }))
        throw InvalidArgument("diis_coefficients: the matrix of overlaps is empty or not square");
    double scale = 0;
    for (std::size_t i = 0; i < n; ++i) scale = std::max(scale, overlaps[i][i]);
    if (scale == 0) {
        std::vector<double> newest(n, 0.0);
        newest[n - 1] = 1;
        return newest;
    }
    // Pulay's eq. 6, with errors scaled to length one, x_i = |e_i| c_i: errors of early and late
    // iterations differ by orders of magnitude.
    std::vector<double> length(n);
    for (std::size_t i = 0; i < n; ++i) length[i] = std::sqrt(std::max(overlaps[i][i], 1e-24 * scale));
    const double shortest = *std::min_element(length.begin(), length.end());
    std::vector<std::vector<double>> A(n + 1, std::vector<double>(n + 1, 0.0));
    std::vector<double> b(n + 1, 0.0);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) A[i][j] = overlaps[i][j] / (length[i] * length[j]);
        A[i][n] = A[n][i] = shortest / length[i];
    }
    b[n] = shortest;
    std::vector<double> x = solve(std::move(A), std::move(b));
    if (x.empty()) return {};
    x.resize(n);
    for (std::size_t i = 0; i < n; ++i) x[i] /= length[i];
    return x;
}

void Diis::extrapolate(TensorSet& iterate, const TensorSet& error) {
    if (vectors_ < 2) return;
    if (steps_.size() == static_cast<std::size_t>(vectors_)) {
        steps_.pop_front();
        for (Step& step : steps_) step.overlaps.pop_front();
    }
    std::deque<double> overlaps;
    for (const Step& step : steps_) overlaps.push_back(error.dot(step.error));
    overlaps.push_back(error.dot(error));
    steps_.push_back({iterate, error, std::move(overlaps)});
    const std::vector<double> c = coefficients();
    const std::size_t first = steps_.size() - c.size();
    iterate = steps_[first].iterate;
    iterate.scale(c[0]);
    for (std::size_t k = 1; k < c.size(); ++k) iterate.add(c[k], steps_[first + k].iterate);
}

/// Of the newest steps whose equations can be solved: a coefficient for each.
std::vector<double> Diis::coefficients() const {
    for (std::size_t first = 0; first < steps_.size(); ++first) {
        const std::size_t n = steps_.size() - first;
        std::vector<std::vector<double>> B(n, std::vector<double>(n));
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j <= i; ++j)
                B[i][j] = B[j][i] = steps_[first + i].overlaps[steps_[first + i].overlaps.size() - 1 - (i - j)];
        const std::vector<double> c = diis_coefficients(B);
        if (!c.empty()) return c;
    }
    return {1.0};
}

}  // namespace arges::chemistry
