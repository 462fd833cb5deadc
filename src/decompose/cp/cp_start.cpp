// Starts of CP decompositions: leading singular vectors (De Lathauwer, De Moor, Vandewalle, SIAM J. Matrix Anal. Appl. 21, 2000), and
// sketches of the ranges of unfoldings by random products, here Khatri-Rao ones (Halko, Martinsson, Tropp, SIAM Review 53, 2011).
#include "decompose/cp/cp_start.hpp"

#include "arges/tucker.hpp"
#include "decompose/cp/constraints.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace arges::decompose {

namespace {

/// Lengths of a core with so many components at most, as tucker_decompose() takes them.
std::vector<int> core_lengths(const std::vector<std::int64_t>& lengths, int rank, bool is_sparse) {
    constexpr double most_sparse_columns = 400;  // an eigenproblem is as large
    const auto others = static_cast<double>(lengths.size() - 1);
    const int most = is_sparse ? static_cast<int>(std::floor(std::pow(most_sparse_columns, 1 / others) + 1e-9)) : rank;
    std::vector<int> core;
    for (auto length : lengths) core.push_back(static_cast<int>(std::min<std::int64_t>(length, std::min(rank, most))));
    for (bool changes = true; changes;) {
        changes = false;
        for (std::size_t m = 0; m < core.size(); ++m) {
            double product = 1;
            for (std::size_t k = 0; k < core.size(); ++k) product *= k == m ? 1 : core[k];
            if (core[m] <= product) continue;
            core[m] = static_cast<int>(product);
            changes = true;
        }
    }
    return core;
}

template <class T>
void take_absolute_values(sparse::RowMatrix<T> rows) {
    for (std::int64_t i = 0; i < rows.rows * rows.columns; ++i) rows.data[i] = std::abs(rows.data[i]);
}

/// Rows times the inverse of the upper triangle R of their Gram matrix R^T R, whose diagonal is positive, so that the result does not
/// depend on rounding; columns that depend on those before them become random.
template <class T>
void orthonormalize(sparse::RowMatrix<T> rows, const ModeRows& numbers, const Gram& gram, int mode, std::uint64_t seed) {
    constexpr double independent = 1000 * std::numeric_limits<T>::epsilon();
    const std::size_t n = rows.columns;
    std::vector<double> r(n * n, 0);  // r[k + c * n]: row k of column c
    for (std::size_t c = 0; c < n; ++c)
        for (std::size_t k = 0; k <= c; ++k) {
            double sum = gram[k + c * n];
            for (std::size_t j = 0; j < k; ++j) sum -= r[j + k * n] * r[j + c * n];
            if (k == c)
                r[c + c * n] = sum > independent * gram[c + c * n] ? std::sqrt(sum) : 0;
            else
                r[k + c * n] = r[k + k * n] > 0 ? sum / r[k + k * n] : 0;
        }
    std::vector<double> row(n);
    for (std::int64_t i = 0; i < rows.rows; ++i)
        for (std::size_t c = 0; c < n; ++c) {
            double sum = static_cast<double>(rows.row(i)[c]);
            for (std::size_t k = 0; k < c; ++k) sum -= row[k] * r[k + c * n];
            const bool has_length = r[c + c * n] > 0;
            row[c] = has_length ? sum / r[c + c * n] : 0;
            rows.row(i)[c] = static_cast<T>(has_length ? row[c] : start_value(seed, mode, numbers.index[i], static_cast<int>(c)) - 0.5);
        }
}

}  // namespace

bool wants_nonnegative(const CpOptions& options) {
    return options.algorithm == CpAlgorithm::nonnegative ||
           std::any_of(options.constraints.begin(), options.constraints.end(), [](const auto& one) { return is_nonnegative(one.kind); });
}

template <class T, class Tensor>
HosvdStart<T> hosvd_start(const Tensor& tensor, const std::vector<std::int64_t>& lengths, const CpOptions& options) {
    if (options.init != CpInit::hosvd) return {};
    constexpr bool is_sparse = std::is_same_v<Tensor, SparseTensor<T>>;
    HosvdStart<T> start;
    TuckerOptions tucker;
    tucker.ranks = core_lengths(lengths, options.rank, is_sparse);
    tucker.method = is_sparse ? TuckerMethod::hooi : TuckerMethod::hosvd;
    tucker.max_iterations = 2;
    tucker.tolerance = 0;
    tucker.seed = options.seed;
    tucker.planned = [&](std::int64_t bytes) { start.bytes = bytes; };
    const auto found = tucker_decompose(tensor, tucker);
    const auto& world = tensor.world();
    world.agree([&] {
        std::vector<std::vector<std::int64_t>> rows;
        std::vector<std::vector<T>> factors;
        for (int m = 0; m < found.model.order(); ++m) {
            const std::size_t columns = tucker.ranks[m], wanted = options.rank;
            const auto& mine = found.model.factor(m);
            rows.push_back(found.model.rows(m));
            auto& factor = factors.emplace_back();
            factor.reserve(rows.back().size() * wanted);
            for (std::size_t i = 0; i < rows.back().size(); ++i)
                for (std::size_t c = 0; c < wanted; ++c)
                    factor.push_back(c < columns ? mine[i * columns + c]
                                                 : static_cast<T>(start_value(options.seed, m, rows.back()[i], static_cast<int>(c)) - 0.5));
            if (wants_nonnegative(options))
                for (auto& element : factor) element = std::abs(element);
            start.model_bytes += static_cast<std::int64_t>(factor.capacity() * sizeof(T) + rows.back().size() * sizeof(std::int64_t));
        }
        start.model.emplace(world, lengths, std::vector<double>(options.rank, 1), std::move(rows), std::move(factors));
    });
    return start;
}

template <class T>
void sketch_factors(CpOperator<T>& tensor, CpState<T>& state, std::uint64_t seed, bool is_nonnegative) {
    auto& factors = state.factors;
    tensor.forget_factors();
    for (int m = 0; m < tensor.order(); ++m) {
        const auto all = factors.matrix(m);
        for (std::int64_t i = 0; i < all.rows * all.columns; ++i) all.data[i] -= T(0.5);
    }
    for (int m = 0; m < tensor.order(); ++m) {
        tensor.mttkrp(m, factors.views(), factors.matrix(m));
        factors.make_gram(tensor, m);
        tensor.comm().agree([&] { orthonormalize(factors.owned(m), factors.rows(m), factors.gram(m), m, seed); });
        tensor.start_expand(m, factors.matrix(m));
        tensor.finish_expand(m);
        factors.make_gram(tensor, m);
    }
    if (!is_nonnegative) return;
    for (int m = 0; m < tensor.order(); ++m) {
        take_absolute_values(factors.matrix(m));
        factors.make_gram(tensor, m);
    }
    tensor.forget_factors();
}

#define ARGES_INSTANTIATE(T)                                                                                                               \
    template HosvdStart<T> hosvd_start(const SparseTensor<T>&, const std::vector<std::int64_t>&, const CpOptions&);                        \
    template HosvdStart<T> hosvd_start(const Tensor<T>&, const std::vector<std::int64_t>&, const CpOptions&);                              \
    template void sketch_factors(CpOperator<T>&, CpState<T>&, std::uint64_t, bool);
ARGES_INSTANTIATE(float)
ARGES_INSTANTIATE(double)
#undef ARGES_INSTANTIATE

}  // namespace arges::decompose
