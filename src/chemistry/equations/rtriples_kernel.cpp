// The closed-shell (T) for one triple of occupied orbitals (Rendell, Lee and Komornicki, Chem. Phys. Lett. 178, 462 (1991)): matrix
// products for the connected triples, then energies summed in cubes that stay in the cache.
#include "chemistry/equations/rtriples_kernel.hpp"

#include "base/first_error.hpp"
#include "local/blas.hpp"

#include <omp.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace arges::chemistry {

namespace {

using local::gemm;
using Ranges = TripleBlock::Ranges;

/// Columns of the connected triples that a thread computes at a time, at most.
constexpr std::int64_t panel = 48;
/// Edge of the cubes in which energies are summed: the elements of all their orders stay in the cache.
constexpr std::int64_t edge = 8;

/// w(abc) = sum over orders of the pairs (ai), (bj), (ck) of L_i(d,a,b) R_jk(d,c), for a, b, c in three ranges and some c. Every
/// product is added to w where it is: the left side has `d` first, so that any of its other dimensions can be a row.
class ConnectedPanel {
public:
    ConnectedPanel(const TripleBlock& block, const Ranges& ranges, double* w)
        : block_(block), X_(ranges[0]), Y_(ranges[1]), Z_(ranges[2]), a_(block.length[X_]), b_(block.length[Y_]), z_(block.length[Z_]),
          w_(w) {}

    void compute(std::int64_t first, std::int64_t count) const {
        const std::int64_t d = block_.summed;
        const auto& L = block_.left;
        double* const w = w_ + first * a_ * b_;
        // (ab)(ij), c k
        gemm<double>({a_ * b_, count, d}, 1, {L[0][X_][Y_], d, true}, right(1, 2, Z_, first), 0, {w, a_ * b_});
        // (bc)(jk), a i
        gemm<double>({a_, b_ * count, d}, 1, rows(2, 0, X_), {L[1][Y_][Z_] + first * b_ * d, d}, 1, {w, a_});
        // (ba)(ji), c k
        for (std::int64_t b = 0; b < b_; ++b)
            gemm<double>({a_, count, d}, 1, {L[1][Y_][X_] + b * d, d * b_, true}, right(0, 2, Z_, first), 1, {w + b * a_, a_ * b_});
        for (std::int64_t t = 0; t < count; ++t) {
            const std::int64_t c = first + t;
            const local::Matrix<double> at{w + t * a_ * b_, a_};
            // (cb)(kj), a i
            gemm<double>({a_, b_, d}, 1, rows(1, 0, X_), {L[2][Z_][Y_] + c * d, d * z_}, 1, at);
            // (ac)(ik), b j
            gemm<double>({a_, b_, d}, 1, {L[0][X_][Z_] + c * a_ * d, d, true}, right(2, 1, Y_, 0), 1, at);
            // (ca)(ki), b j
            gemm<double>({a_, b_, d}, 1, {L[2][Z_][X_] + c * d, d * z_, true}, right(0, 1, Y_, 0), 1, at);
        }
    }

private:
    /// R_xy from an orbital of a range on.
    local::Matrix<const double> right(std::size_t x, std::size_t y, std::size_t range, std::int64_t first) const {
        const std::int64_t ld = block_.summed + block_.virtuals;
        return {block_.right[x][y] + (block_.begin[range] + first) * ld, ld};
    }
    /// Its transpose.
    local::Matrix<const double> rows(std::size_t x, std::size_t y, std::size_t range) const {
        local::Matrix<const double> matrix = right(x, y, range, 0);
        matrix.transposed = true;
        return matrix;
    }

    const TripleBlock& block_;
    std::size_t X_, Y_, Z_;
    std::int64_t a_, b_, z_;
    double* w_;
};

/// Connected triples for an order of the ranges, all threads together.
void compute_connected(const TripleBlock& block, const Ranges& ranges, double* w) {
    const std::int64_t columns = block.length[ranges[2]];
    const ConnectedPanel connected(block, ranges, w);
    FirstError error;
#pragma omp parallel for schedule(dynamic)
    for (std::int64_t first = 0; first < columns; first += panel)
        error.run([&] { connected.compute(first, std::min(panel, columns - first)); });
    error.rethrow();
}

/// Sums energies over a >= b >= c.
class TripleEnergies {
public:
    /// @param w  the connected triples by TripleBlock::orders of the ranges
    TripleEnergies(const TripleBlock& block, const std::array<const double*, 6>& w) : block_(block), w_(w) {
        for (std::size_t p = 0; p < 3; ++p)
            for (std::size_t q = 0; q < 3; ++q)
                if (block.right[p][q] != nullptr) V_[p][q] = block.right[p][q] + block.summed;
        occupied_ = block.occupied[0] + block.occupied[1] + block.occupied[2];
    }

    /// Over cubes of the three ranges that begin at these places in them.
    double cube(std::int64_t a, std::int64_t b, std::int64_t c) const {
        const auto end = [&](std::size_t p, std::int64_t first) { return std::min(first + edge, block_.length[p]); };
        const bool ab = block_.range(1) == block_.range(0), bc = block_.range(2) == block_.range(1);
        double sum = 0;
        for (std::int64_t z = c; z < end(2, c); ++z)
            for (std::int64_t y = bc ? std::max(b, z) : b; y < end(1, b); ++y) {
                const bool b_is_c = bc && y == z;
                std::int64_t x = a;
                if (ab && x <= y) {
                    x = y;
                    // a = b: each element of the sum over orders is there twice, or six times.
                    if (x < end(0, a)) sum += row(x, x + 1, y, z) / (b_is_c ? 6 : 2);
                    ++x;
                }
                if (x < end(0, a)) sum += row(x, end(0, a), y, z) / (b_is_c ? 2 : 1);
            }
        return sum;
    }

private:
    /// Sum over all orders of a, b, c, for a from `first` to `end`.
    double row(std::int64_t first, std::int64_t end, std::int64_t b, std::int64_t c) const {
        // Where the elements of each order begin, and their distance along a.
        std::array<const double*, 6> w;
        std::array<std::int64_t, 6> step;
        const std::array<std::int64_t, 3> at{0, b, c};
        for (std::size_t o = 0; o < 6; ++o) {
            std::int64_t stride = 1;
            w[o] = w_[o];
            for (const std::size_t p : TripleBlock::orders[o]) {
                w[o] += at[p] * stride;
                if (p == 0) step[o] = stride;
                stride *= block_.length[p];
            }
        }
        const std::int64_t ld = block_.summed + block_.virtuals;
        const std::int64_t A = block_.begin[0], B = block_.begin[1] + b, C = block_.begin[2] + c;
        const auto& t = block_.singles;
        const auto &ti = t[0], &tj = t[1], &tk = t[2];  // not names of a structured binding, which a parallel loop may not see
        // (x.|y.) as V[x][y][. + ld * .]; the second orbital is b or c.
        const auto column = [&](std::size_t x, std::size_t y, std::int64_t orbital) { return V_[x][y] + A + ld * orbital; };
        const double *const ij_b = column(0, 1, B), *const ij_c = column(0, 1, C), *const ji_b = column(1, 0, B);
        const double *const ji_c = column(1, 0, C), *const ik_b = column(0, 2, B), *const ik_c = column(0, 2, C);
        const double *const ki_b = column(2, 0, B), *const ki_c = column(2, 0, C), *const jk_b = column(1, 2, B);
        const double *const jk_c = column(1, 2, C), *const kj_b = column(2, 1, B), *const kj_c = column(2, 1, C);
        const double jk = V_[1][2][B + ld * C], kj = V_[1][2][C + ld * B], ik = V_[0][2][B + ld * C], ki = V_[0][2][C + ld * B],
                     ij = V_[0][1][B + ld * C], ji = V_[0][1][C + ld * B];
        const double tib = ti[B], tic = ti[C], tjb = tj[B], tjc = tj[C], tkb = tk[B], tkc = tk[C];
        const double rest = occupied_ - block_.energies[B] - block_.energies[C];
        double sum = 0;
#pragma omp simd reduction(+ : sum)
        for (std::int64_t a = first; a < end; ++a) {
            const double abc = w[0][a * step[0]], bca = w[1][a * step[1]], cab = w[2][a * step[2]];
            const double cba = w[3][a * step[3]], acb = w[4][a * step[4]], bac = w[5][a * step[5]];
            const double tia = ti[A + a], tja = tj[A + a], tka = tk[A + a];
            // z = t_i^a (bj|ck) + t_j^b (ai|ck) + t_k^c (ai|bj) for each order of a, b, c.
            const double y_abc = abc + tia * jk + tjb * ik_c[a] + tkc * ij_b[a];
            const double y_bca = bca + tib * kj_c[a] + tjc * ki_b[a] + tka * ij;
            const double y_cab = cab + tic * jk_b[a] + tja * ki + tkb * ji_c[a];
            const double y_cba = cba + tic * kj_b[a] + tjb * ki_c[a] + tka * ji;
            const double y_acb = acb + tia * kj + tjc * ik_b[a] + tkb * ij_c[a];
            const double y_bac = bac + tib * jk_c[a] + tja * ik + tkc * ji_b[a];
            const double even_y = y_abc + y_bca + y_cab, odd_y = y_cba + y_acb + y_bac;
            const double products = abc * y_abc + bca * y_bca + cab * y_cab + cba * y_cba + acb * y_acb + bac * y_bac;
            sum += (3 * products + (abc + bca + cab) * (even_y - 2 * odd_y) + (cba + acb + bac) * (odd_y - 2 * even_y)) /
                   (rest - block_.energies[A + a]);
        }
        return sum;
    }

    const TripleBlock& block_;
    std::array<const double*, 6> w_;
    std::array<std::array<const double*, 3>, 3> V_{};
    double occupied_ = 0;
};

}  // namespace

std::size_t TripleBlock::range(std::size_t p) const {
    while (p > 0 && begin[p] == begin[p - 1]) --p;
    return p;
}

TripleBlock::Ranges TripleBlock::ranges_of(std::size_t order) const {
    Ranges ranges = orders[order];
    for (std::size_t& p : ranges) p = range(p);
    return ranges;
}

std::size_t TripleBlock::first_of(const Ranges& ranges) const {
    std::size_t order = 0;
    while (ranges_of(order) != ranges) ++order;
    return order;
}

std::int64_t TripleBlock::connected_elements() const {
    const int equal = (range(1) == 0 ? 1 : 0) + (range(2) != 2 ? 1 : 0);
    return cube() * (equal == 2 ? 1 : equal == 1 ? 3 : 6);
}

std::int64_t TripleBlock::blas_memory(std::int64_t summed, std::int64_t length) {
    return omp_get_max_threads() * local::gemm_memory(length * std::min(panel, length), summed, sizeof(double));
}

double TripleBlock::energy(double* work) const {
    std::array<const double*, 6> w{};
    for (std::size_t o = 0; o < 6; ++o) {
        const std::size_t same = first_of(ranges_of(o));
        if (same < o) {
            w[o] = w[same];
            continue;
        }
        compute_connected(*this, ranges_of(o), work);
        w[o] = std::exchange(work, work + cube());
    }

    const TripleEnergies sums(*this, w);
    std::vector<std::array<std::int64_t, 3>> cubes;
    for (std::int64_t c = 0; c < length[2]; c += edge)
        for (std::int64_t b = range(2) == range(1) ? c : 0; b < length[1]; b += edge)
            for (std::int64_t a = range(1) == range(0) ? b : 0; a < length[0]; a += edge) cubes.push_back({a, b, c});
    std::vector<double> parts(cubes.size());
#pragma omp parallel for schedule(dynamic, 4)
    for (std::size_t n = 0; n < cubes.size(); ++n) parts[n] = sums.cube(cubes[n][0], cubes[n][1], cubes[n][2]);
    return std::accumulate(parts.begin(), parts.end(), 0.0);
}

}  // namespace arges::chemistry
