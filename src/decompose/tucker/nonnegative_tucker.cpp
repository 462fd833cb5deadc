#include "decompose/tucker/nonnegative_tucker.hpp"

#include "base/math.hpp"
#include "base/stopwatch.hpp"
#include "decompose/cp/factors.hpp"
#include "decompose/tucker/core_arrays.hpp"
#include "decompose/tucker/tucker_steps.hpp"
#include "linalg/small_matrices.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

namespace arges::decompose {

namespace {

using sparse::RowMatrix;

double inner(const std::vector<double>& a, const std::vector<double>& b) { return std::inner_product(a.begin(), a.end(), b.begin(), 0.0); }

/// Each column of each row in turn becomes the best one that is not negative, for the others as they are.
/// @param right a row of X_(n) times the model's other side @param gram of that side
template <class T>
void update_rows(RowMatrix<T> rows, RowMatrix<const T> right, const std::vector<double>& gram) {
    constexpr int sweeps = 3;
    const std::size_t columns = rows.columns;
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < rows.rows; ++i)
        for (int sweep = 0; sweep < sweeps; ++sweep)
            for (std::size_t c = 0; c < columns; ++c) {
                if (!(gram[c + c * columns] > 0)) continue;
                double rest = static_cast<double>(right.row(i)[c]);
                for (std::size_t d = 0; d < columns; ++d)
                    if (d != c) rest -= gram[d + c * columns] * static_cast<double>(rows.row(i)[d]);
                rows.row(i)[c] = static_cast<T>(std::max(0.0, rest / gram[c + c * columns]));
            }
}

}  // namespace

template <class T>
NonnegativeTucker<T>::NonnegativeTucker(const Communicator& comm, TuckerData<T>& data, std::vector<int> ranks, std::uint64_t seed)
    : comm_(comm), data_(data), ranks_(std::move(ranks)), grams_(ranks_.size()) {
    const auto size = std::accumulate(ranks_.begin(), ranks_.end(), std::int64_t{1}, std::multiplies<>());
    for (std::int64_t g = 0; g < size; ++g) core_.push_back(start_value(seed, order(), g, 0));
    for (int m = 0; m < order(); ++m) make_gram(m);
}

template <class T>
void NonnegativeTucker<T>::make_gram(int mode) {
    grams_[mode] = gram_of<T>(data_.owned(mode));
    sum_over_ranks(comm_, grams_[mode]);
}

/// The core times the Gram matrices in all modes but one; -1: in all.
template <class T>
std::vector<double> NonnegativeTucker<T>::times_grams(std::vector<double> core, const std::vector<Gram>& grams, int but) const {
    for (int m = 0; m < order(); ++m)
        if (m != but) core = times_in_mode(core, ranks_, m, {grams[m].begin(), grams[m].end()});
    return core;
}

template <class T>
void NonnegativeTucker<T>::iterate() {
    for (int m = 0; m < order(); ++m) {
        const RowMatrix<const T> product = data_.product(m);
        update_factor(m, product);
        // Columns of the last mode are the fastest of the core.
        if (m + 1 == order()) update_core(inner_products<T>(comm_, data_.owned(m), product));
    }
}

template <class T>
void NonnegativeTucker<T>::update_factor(int mode, RowMatrix<const T> product) {
    const auto mine = data_.owned(mode);
    const std::int64_t columns = ranks_[mode];
    std::vector<T> right(static_cast<std::size_t>(mine.rows * columns));
    const RowMatrix<T> to{right.data(), mine.rows, ranks_[mode], columns};
    multiply_rows<T>(product, core_unfolding<T>(core_, ranks_, mode, false), to);
    const auto gram = slice_products(core_, times_grams(core_, grams_, mode), ranks_, mode);
    comm_.agree([&] { update_rows<T>(mine, to, gram); });
    data_.changed(mode);
    make_gram(mode);
}

/// Accelerated projected gradients, begun anew where they would make the error larger, as if all columns had length 1.
/// @param inner the tensor times all factors
template <class T>
void NonnegativeTucker<T>::update_core(std::vector<double> inner_with_tensor) {
    constexpr int steps = 20;
    auto grams = grams_;
    auto core = core_, wanted = inner_with_tensor;
    std::vector<std::vector<double>> lengths(ranks_.size());
    double largest = 1;
    for (int m = 0; m < order(); ++m) {
        const std::size_t n = ranks_[m], place = m;
        std::vector<double> scale(n * n, 0), inverse(n * n, 0);
        for (std::size_t c = 0; c < n; ++c) {
            const double square = grams_[place][c + c * n], length = square > 0 ? std::sqrt(square) : 1;
            lengths[place].push_back(length);
            scale[c + c * n] = length;
            inverse[c + c * n] = 1 / length;
        }
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < n; ++j) grams[place][i + j * n] /= lengths[place][i] * lengths[place][j];
        largest *= linalg::symmetric_eigen({grams[place].begin(), grams[place].end()}, ranks_[m]).values.back();
        core = times_in_mode(core, ranks_, m, scale);
        wanted = times_in_mode(wanted, ranks_, m, inverse);
    }
    const auto objective = [&](const std::vector<double>& x, const std::vector<double>& x_times) {
        return inner(x, x_times) - 2 * inner(x, wanted);
    };
    auto times = times_grams(core, grams, -1);
    double best = objective(core, times), momentum = 1;
    auto at = core, at_times = times;
    for (int step = 0; step < steps && largest > 0; ++step) {
        std::vector<double> next(core.size());
        for (std::size_t g = 0; g < next.size(); ++g) next[g] = std::max(0.0, at[g] - (at_times[g] - wanted[g]) / largest);
        auto next_times = times_grams(next, grams, -1);
        const double found = objective(next, next_times);
        if (!(found <= best)) {
            if (momentum == 1) break;
            momentum = 1;
            at = core, at_times = times;
            continue;
        }
        const double after = (1 + std::sqrt(1 + 4 * momentum * momentum)) / 2, further = (momentum - 1) / after;
        for (std::size_t g = 0; g < next.size(); ++g) {
            at[g] = next[g] + further * (next[g] - core[g]);
            at_times[g] = next_times[g] + further * (next_times[g] - times[g]);
        }
        momentum = after;
        best = found;
        core = std::move(next);
        times = std::move(next_times);
    }
    for (int m = 0; m < order(); ++m) {
        const std::size_t n = ranks_[m], place = m;
        std::vector<double> inverse(n * n, 0);
        for (std::size_t c = 0; c < n; ++c) inverse[c + c * n] = 1 / lengths[place][c];
        core = times_in_mode(core, ranks_, m, inverse);
    }
    core_ = std::move(core);
    error_ = std::sqrt(at_least_zero(data_.norm_squared() + best) / data_.norm_squared());
}

template <class T>
TuckerModel<T> NonnegativeTucker<T>::model(const World& world, const std::vector<std::int64_t>& lengths) {
    std::vector<std::vector<std::int64_t>> rows;
    std::vector<std::vector<T>> factors;
    auto core = core_;
    for (int m = 0; m < order(); ++m) {
        const auto mine = data_.owned(m);
        const std::size_t n = ranks_[m], place = m;
        std::vector<double> scale(n * n, 0);
        rows.push_back(data_.owned_rows(m));
        factors.emplace_back(static_cast<std::size_t>(mine.rows) * n);
        for (std::size_t c = 0; c < n; ++c) {
            const double square = grams_[place][c + c * n], length = square > 0 ? std::sqrt(square) : 1;
            scale[c + c * n] = length;
            for (std::int64_t i = 0; i < mine.rows; ++i) factors[place][i * n + c] = static_cast<T>(mine.row(i)[c] / length);
        }
        core = times_in_mode(core, ranks_, m, scale);
    }
    return {lengths, core_tensor<T>(world, core, ranks_), std::move(rows), std::move(factors)};
}

template <class T>
void run_nonnegative(const Communicator& comm, TuckerData<T>& data, const TuckerOptions& options, const TuckerProgress& progress,
                     const World& world, const std::vector<std::int64_t>& lengths, TuckerResult<T>& result) {
    NonnegativeTucker<T> work(comm, data, options.ranks, options.seed);
    const Stopwatch watch;
    double fit = -std::numeric_limits<double>::infinity();
    for (bool goes_on = true; goes_on && result.iterations < options.max_iterations;) {
        work.iterate();
        const double change = 1 - work.error() - std::exchange(fit, 1 - work.error());
        goes_on = note_iteration(comm, options, progress, watch, fit, change, result);
    }
    result.method = TuckerMethod::nonnegative;
    result.seconds_per_iteration = watch.seconds() / result.iterations;
    result.estimated_error = work.error();
    result.fit = fit;
    result.model = work.model(world, lengths);
}

#define ARGES_INSTANTIATE(T)                                                                                                               \
    template class NonnegativeTucker<T>;                                                                                                   \
    template void run_nonnegative(const Communicator&, TuckerData<T>&, const TuckerOptions&, const TuckerProgress&, const World&,          \
                                  const std::vector<std::int64_t>&, TuckerResult<T>&);
ARGES_INSTANTIATE(float)
ARGES_INSTANTIATE(double)
#undef ARGES_INSTANTIATE

}  // namespace arges::decompose
