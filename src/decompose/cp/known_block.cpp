// Models of dense blocks, a few columns of the first mode's unfolding at once, and what unknown elements and derivatives become of them.
#include "decompose/cp/known_block.hpp"

#include "base/first_error.hpp"
#include "base/math.hpp"
#include "base/stopwatch.hpp"
#include "local/blas.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace arges::decompose {

namespace {

/// Columns of the first mode's unfolding for which the model is found at once.
std::int64_t chunk_columns(std::int64_t rows) {
    constexpr std::int64_t most_elements = 1 << 15, most_columns = 1 << 10;
    return std::clamp<std::int64_t>(most_elements / std::max<std::int64_t>(rows, 1), 1, most_columns);
}

/// weights(r, c) = product of the weight of component r and of the elements of its columns in all modes but the first, for the columns
/// first + c of the first mode's unfolding.
template <class T>
void column_weights(const std::vector<double>& weights, std::span<const T* const> factors, const std::vector<std::int64_t>& sizes,
                    std::int64_t first, std::int64_t count, T* out) {
    for (std::int64_t c = 0; c < count; ++c, out += weights.size()) {
        for (std::size_t r = 0; r < weights.size(); ++r) out[r] = static_cast<T>(weights[r]);
        auto rest = first + c;
        for (std::size_t m = 1; m < sizes.size(); ++m) {
            const T* const column = factors[m] + rest % sizes[m];
            for (std::size_t r = 0; r < weights.size(); ++r) out[r] *= column[static_cast<std::int64_t>(r) * sizes[m]];
            rest /= sizes[m];
        }
    }
}

/// The loss of a block.
template <class T>
class BlockObjective : public LossObjective<T> {
public:
    BlockObjective(KnownBlock<T>& data, Factors<T>& factors, const KnownElements& known, double regularization)
        : LossObjective<T>(data, factors, known, regularization), block_(data) {}

private:
    double add_losses(std::span<sparse::RowMatrix<T>> gradients) override {
        return block_.add_losses(*this->loss_of_element_, this->factors_, gradients);
    }
    ModelSums model_sums() const override { return block_.sums(std::vector<double>(block_.columns(), 1), this->factors_); }

    KnownBlock<T>& block_;
};

}  // namespace

template <class T>
SecondBlock<T>::SecondBlock(const Communicator& comm, const Layout& layout, const T* elements) {
    const auto count = block_position(layout, comm.rank()).count();
    comm.agree([&] { second = Buffer<T>(count); });
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < count; ++i) second[i] = std::isnan(elements[i]) ? T(0) : T(1);
}

template <class T>
KnownBlock<T>::KnownBlock(const Communicator& comm, const Layout& layout, const T* elements, const T* weights, int columns,
                          const KnownElements& known)
    : SecondBlock<T>(comm, layout, elements), DenseCpOperator<T>(comm, layout, second.data(), columns, 0), elements_(elements),
      weights_(weights), known_(known) {
    const auto count = this->position().count();
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < count; ++i) second[i] = std::isnan(elements[i]) ? T(0) : elements[i];
    this->norm_squared_ = known.squares;
}

template <class T>
template <std::size_t n, class F>
std::array<double, n> KnownBlock<T>::over_model(const std::vector<double>& weights, Factors<T>& factors, F&& f) {
    const auto& sizes = this->position().sizes;
    const auto rows = sizes[0], columns = rows > 0 ? this->position().count() / rows : 0, chunk = chunk_columns(rows);
    std::vector<std::array<double, n>> sums;
    this->comm_.agree([&] {
        const auto views = this->factor_columns(factors.views());
        sums.resize(ceil_div(columns, chunk));
        FirstError error;
#pragma omp parallel for schedule(static)
        for (std::int64_t part = 0; part < std::ssize(sums); ++part)
            error.run([&] {
                const auto first = part * chunk, count = std::min(chunk, columns - first), rank = std::ssize(weights);
                std::vector<T> of_columns(rank * count), model(rows * count);
                column_weights<T>(weights, views, sizes, first, count, of_columns.data());
                local::gemm<T>({rows, count, rank}, T(1), {views[0], rows, false}, {of_columns.data(), rank, false}, T(0),
                               {model.data(), rows, false});
                const auto begin = first * rows;
                sums[part] = f(elements_ + begin, weights_ ? weights_ + begin : nullptr, model.data(), second.data() + begin, rows * count);
            });
        error.rethrow();
    });
    std::array<double, n> total{};
    for (const auto& sum : sums)
        for (std::size_t i = 0; i < n; ++i) total[i] += sum[i];
    this->comm_.sum(total.data(), n);
    return total;
}

template <class T>
void KnownBlock<T>::factor_changes(int mode) {
    is_filled_ = false;
    DenseCpOperator<T>::factor_changes(mode);
}

/// The sum of w (x - m)^2 is at most that of W (m + (x - m) w / W - model)^2 and a constant, with W the largest weight, and the same for
/// the model m.
template <class T>
void KnownBlock<T>::fill(const std::vector<double>& weights, Factors<T>& factors) {
    const double largest = known_.largest_weight;
    const auto sums = over_model<2>(weights, factors, [largest](const T* x, const T* w, const T* m, T* filled, std::int64_t count) {
        std::array<double, 2> sum{};
        for (std::int64_t i = 0; i < count; ++i) {
            const double e = static_cast<double>(x[i]) - static_cast<double>(m[i]);
            if (std::isnan(x[i])) {
                filled[i] = m[i];
            } else if (w) {
                filled[i] = static_cast<T>(static_cast<double>(m[i]) + e * (static_cast<double>(w[i]) / largest));
                sum[0] += static_cast<double>(w[i]) * e * e;
            } else {
                sum[0] += e * e;
            }
            sum[1] += static_cast<double>(filled[i]) * static_cast<double>(filled[i]);
        }
        return sum;
    });
    residual_ = sums[0];
    this->norm_squared_ = sums[1];
    this->forget_factors();
    is_filled_ = true;
}

/// Before the first iteration a random model is scaled to what is known.
template <class T>
void KnownBlock<T>::begin_iteration(CpState<T>& state, bool) {
    if (is_filled_) return;
    Stopwatch watch;
    auto weights = state.lambda;
    if (!state.is_given) {
        const double scale = start_scale(known_, sums(state.lambda, state.factors));
        for (auto& weight : weights) weight *= scale;
    }
    fill(weights, state.factors);
    this->seconds().mttkrp += watch.lap();
}

template <class T>
std::optional<double> KnownBlock<T>::fit(CpState<T>& state) {
    Stopwatch watch;
    fill(state.lambda, state.factors);
    this->seconds().mttkrp += watch.lap();
    state.loss = residual_;
    return known_.fit(residual_);
}

template <class T>
ModelSums KnownBlock<T>::sums(const std::vector<double>& weights, Factors<T>& factors) {
    const auto sums = over_model<3>(weights, factors, [](const T* x, const T* w, const T* m, T*, std::int64_t count) {
        std::array<double, 3> sum{};
        for (std::int64_t i = 0; i < count; ++i) {
            if (std::isnan(x[i])) continue;
            const double model = m[i], weighted = w ? static_cast<double>(w[i]) * model : model;
            sum[0] += weighted;
            sum[1] += weighted * model;
            sum[2] += weighted * static_cast<double>(x[i]);
        }
        return sum;
    });
    return {sums[0], sums[1], sums[2]};
}

template <class T>
double KnownBlock<T>::add_losses(const ElementLoss& loss, Factors<T>& factors, std::span<sparse::RowMatrix<T>> gradients) {
    Stopwatch watch;
    const std::vector<double> ones(this->columns_, 1);
    const auto sum = over_model<1>(ones, factors, [&](const T* x, const T* w, const T* m, T* derivative, std::int64_t count) {
        constexpr std::int64_t block = 64;
        std::array<double, 1> total{};
        std::array<double, block> known, model, weight, slope;
        for (std::int64_t first = 0; first < count; first += block) {
            const auto last = std::min(count, first + block);
            std::int64_t size = 0;
            for (auto i = first; i < last; ++i) {
                if (std::isnan(x[i])) continue;
                known[size] = x[i];
                weight[size] = w ? static_cast<double>(w[i]) : 1;
                model[size++] = m[i];
            }
            total[0] += loss.derivatives(known.data(), model.data(), weight.data(), slope.data(), size);
            size = 0;
            for (auto i = first; i < last; ++i) derivative[i] = std::isnan(x[i]) ? T(0) : static_cast<T>(slope[size++]);
        }
        return total;
    });
    this->seconds().mttkrp += watch.lap();
    this->forget_factors();
    this->mttkrp_all(factors.views(), gradients);
    return sum[0];
}

template <class T>
std::unique_ptr<LossObjective<T>> block_objective(KnownBlock<T>& data, Factors<T>& factors, const KnownElements& known,
                                                  double regularization) {
    return std::make_unique<BlockObjective<T>>(data, factors, known, regularization);
}

std::int64_t known_block_memory(std::int64_t element_bytes, const Layout& layout, std::int64_t rank, int columns, int threads) {
    const auto position = block_position(layout, rank);
    const auto rows = position.sizes[0], chunk = chunk_columns(rows);
    const auto chunks = rows > 0 ? ceil_div(position.count() / rows, chunk) : 0;
    return array_memory(position.count() * element_bytes) + threads * (rows + columns) * chunk * element_bytes +
           chunks * 3 * std::int64_t{sizeof(double)};
}

#define ARGES_INSTANTIATE(T)                                                                                                               \
    template class KnownBlock<T>;                                                                                                          \
    template std::unique_ptr<LossObjective<T>> block_objective(KnownBlock<T>&, Factors<T>&, const KnownElements&, double);
ARGES_INSTANTIATE(float)
ARGES_INSTANTIATE(double)
#undef ARGES_INSTANTIATE

}  // namespace arges::decompose
