// Generalized CP by stochastic gradients of semi-stratified samples (Kolda, Hong, SIAM J. Math. Data Sci. 2, 2020, section 4.3), with steps
// by Adam (Kingma, Ba, ICLR 2015): what a stored element costs more than a zero is summed over a batch of them, what zeros cost over
// samples of the whole index space, so that nobody has to know whether a sample is stored.
#include "decompose/cp/element_operator.hpp"

#include "base/splitmix.hpp"
#include "base/stopwatch.hpp"
#include "decompose/completion/row_updates.hpp"
#include "decompose/cp/row_loss.hpp"
#include "sparse/blocked_sum.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace arges::decompose {

namespace {

constexpr std::int64_t least_judged_zeros = 100000, least_zeros = 256;
constexpr double first_rate = 0.05;  // of the root mean square of the elements of the factors at the start
constexpr double slower = 4;         // after an iteration that makes the loss larger
constexpr int most_failures = 6;     // in a row

/// Rows of factors for samples of the index space, the same on all ranks.
template <class T>
class ZeroSamples {
public:
    ZeroSamples(const ElementOperator<T>& data, std::uint64_t seed) : seed_(seed) {
        for (const auto& rows : data.all_rows()) {
            auto& places = places_.emplace_back(rows.count());
            std::iota(places.begin(), places.end(), 0U);
            std::sort(places.begin(), places.end(), [&](auto a, auto b) { return rows.index[a] < rows.index[b]; });
            space_ *= static_cast<double>(rows.count());
        }
    }

    /// Elements in rows that there are.
    double space() const { return space_; }

    /// Local rows of a sample of a step.
    void draw(std::uint64_t step, std::int64_t number, std::uint32_t* rows) const {
        auto state = splitmix(splitmix(seed_ + step) ^ static_cast<std::uint64_t>(number));
        for (const auto& places : places_) {
            *rows++ = places[static_cast<std::size_t>(unit_interval(state) * static_cast<double>(places.size()))];
            state = splitmix(state);
        }
    }

    /// The samples of a step whose row of a mode this rank owns.
    RowElements<T> by_row(const ElementOperator<T>& data, int mode, std::uint64_t step, std::int64_t count) const {
        sparse::LocalNonzeros<T> samples;
        const auto order = places_.size();
        samples.indices.resize(order);
        for (const auto& places : places_) samples.rows.push_back(std::ssize(places));
        std::vector<std::uint32_t> rows(order);
        for (std::int64_t s = 0; s < count; ++s) {
            draw(step, s, rows.data());
            if (rows[mode] >= data.rows(mode).owned) continue;
            for (std::size_t m = 0; m < order; ++m) samples.indices[m].push_back(rows[m]);
        }
        samples.values.assign(samples.indices[0].size(), T(0));
        return elements_by_row(samples, mode);
    }

private:
    std::uint64_t seed_;
    std::vector<std::vector<std::uint32_t>> places_;  // by mode: local rows by ascending index
    double space_ = 1;
};

/// Adam's means of the gradient and its squares, for the owned rows of all factors.
template <class T>
class Adam {
public:
    explicit Adam(std::int64_t size) : means_(Buffer<T>::zeros(size)), squares_(Buffer<T>::zeros(size)) {}

    void begin_step() { ++steps_; }
    /// a -= rate * mean / (root of the mean square) for the elements from `first` on.
    void move(T* a, const double* gradient, std::int64_t first, std::int64_t count, double rate, bool is_bounded) {
        const double mean_part = 1 - std::pow(mean_decay, steps_), square_part = 1 - std::pow(square_decay, steps_);
#pragma omp parallel for schedule(static)
        for (std::int64_t i = 0; i < count; ++i) {
            const double mean = mean_decay * static_cast<double>(means_[first + i]) + (1 - mean_decay) * gradient[i];
            const double square = square_decay * static_cast<double>(squares_[first + i]) + (1 - square_decay) * gradient[i] * gradient[i];
            means_[first + i] = static_cast<T>(mean);
            squares_[first + i] = static_cast<T>(square);
            if (square <= 0) continue;
            const double moved = static_cast<double>(a[i]) - rate * (mean / mean_part) / std::sqrt(square / square_part);
            a[i] = static_cast<T>(is_bounded ? std::max(0.0, moved) : moved);
        }
    }

private:
    static constexpr double mean_decay = 0.9, square_decay = 0.999;
    Buffer<T> means_, squares_;
    int steps_ = 0;
};

template <class T>
class StochasticGradients {
public:
    StochasticGradients(ElementOperator<T>& data, CpState<T>& state, const KnownElements& known, bool with_zeros, std::uint64_t seed,
                        double regularization)
        : data_(data), state_(state), known_(known), with_zeros_(with_zeros), seed_(seed), regularization_(regularization),
          zero_(make_loss(known.loss)), stored_(with_zeros ? make_difference_to_zero(known.loss) : make_loss(known.loss)),
          samples_(data, splitmix(seed)), stored_updates_(data.comm(), data.all_rows(), data.columns(), false, stored_.get()),
          zero_updates_(data.comm(), data.all_rows(), data.columns(), false, zero_.get()) {
        data.comm().agree([&] {
            std::int64_t size = 0, most = 0;
            for (int m = 0; m < data.order(); ++m) {
                size += data.rows(m).owned * data.columns();
                most = std::max(most, data.rows(m).owned * data.columns());
            }
            adam_.emplace(size);
            for (int m = 0; m < data.order(); ++m) gradients_.push_back(Buffer<double>(data.rows(m).owned * data.columns()));
            before_ = Buffer<T>(size);
        });
        std::int64_t stored = 0;
        for (int b = 0; b < data.batches(); ++b) stored += data.by_row(0, b).elements.count();
        stored_count_ = data.comm().sum(stored);
    }

    /// Scales the factors.
    void begin() {
        auto& factors = state_.factors;
        const double multiple = state_.is_given ? 1 : start_scale(known_, model_sums_of(data_, factors, with_zeros_));
        const auto scales = factor_scales(multiple, data_.order());
        double squares = 0, count = 0;
        for (int m = 0; m < data_.order(); ++m) {
            std::vector<double> of_columns(data_.columns(), scales[m]);
            for (std::size_t c = 0; c < of_columns.size() && m == 0; ++c) of_columns[c] *= state_.lambda[c];
            scale_columns(factors.matrix(m), of_columns);
            const auto rows = factors.owned(m);
            count += static_cast<double>(rows.rows * rows.columns);
            for (std::int64_t i = 0; i < rows.rows * rows.columns; ++i) {
                if (zero_->is_bounded()) rows.data[i] = std::max(rows.data[i], T(0));
                squares += static_cast<double>(rows.data[i]) * static_cast<double>(rows.data[i]);
            }
        }
        double sums[] = {squares, count};
        data_.comm().sum(sums, 2);
        rate_ = first_rate * std::sqrt(sums[0] / std::max(1.0, sums[1]));
        expand();
        judge();
    }

    /// Goes through all batches, again with shorter steps while the loss has become larger; false: it always does.
    bool iterate() {
        for (int failures = 0; failures < most_failures; ++failures) {
            const double loss = loss_, penalty = penalty_;
            keep();
            for (auto batch : batch_order()) step(batch);
            judge();
            if (loss_ + penalty_ <= loss + penalty) return true;
            take_back();
            loss_ = loss;
            penalty_ = penalty;
            rate_ /= slower;
        }
        return false;
    }

    double loss() const { return loss_; }

private:
    void step(int batch) {
        Stopwatch watch;
        const double seconds = data_.seconds().communication;
        auto& factors = state_.factors;
        const auto zeros = std::max(least_zeros, stored_count_ / data_.batches());
        ++steps_;
        std::vector<RowElements<T>> sampled;
        if (with_zeros_)
            data_.comm().agree([&] {
                for (int m = 0; m < data_.order(); ++m) sampled.push_back(samples_.by_row(data_, m, steps_, zeros));
            });
        for (int m = 0; m < data_.order(); ++m) {
            gradients_[m].zero();
            add(stored_updates_, data_.by_row(m, batch), data_.batches());
            if (with_zeros_) add(zero_updates_, sampled[m], samples_.space() / static_cast<double>(zeros));
        }
        adam_->begin_step();
        std::int64_t first = 0;
        for (int m = 0; m < data_.order(); ++m) {
            const auto rows = factors.owned(m);
            const auto count = rows.rows * rows.columns;
            if (regularization_ > 0)
                for (std::int64_t i = 0; i < count; ++i) gradients_[m][i] += 2 * regularization_ * static_cast<double>(rows.data[i]);
            adam_->move(rows.data, gradients_[m].data(), first, count, rate_, zero_->is_bounded());
            first += count;
        }
        data_.seconds().mttkrp += watch.lap() - (data_.seconds().communication - seconds);
        expand();
    }

    void add(RowUpdates<RowLoss, T>& updates, const RowElements<T>& elements, double weight) {
        auto& to = gradients_[elements.mode];
        const auto columns = data_.columns();
        updates.run(elements, state_.factors, data_.seconds().communication, [&](const RowLoss& sum, std::int64_t row, const T*) {
            for (int c = 0; c < columns; ++c) to[row * columns + c] += weight * sum.gradient()[c];
        });
    }

    void expand() {
        for (int m = 0; m < data_.order(); ++m) data_.start_expand(m, state_.factors.matrix(m));
        for (int m = 0; m < data_.order(); ++m) data_.finish_expand(m);
    }

    /// The loss of all stored elements, and of zeros as a fixed sample of them says. Collective.
    void judge() {
        Stopwatch watch;
        const auto views = state_.factors.views();
        double sum = 0;
        for (int b = 0; b < data_.batches(); ++b) {
            const auto& elements = data_.by_row(0, b).elements;
            sum += sparse::blocked_sum(elements.count(), [&](std::int64_t x) {
                return elements.weight(x) * stored_->value(elements.values[x], model_at(views, elements.index(x)));
            });
        }
        if (with_zeros_) {
            const auto count = std::max(least_judged_zeros, stored_count_);
            const auto ranks = data_.comm().size(), rank = data_.comm().rank();
            const double of_zeros = sparse::blocked_sum((count - rank + ranks - 1) / ranks, [&](std::int64_t s) {
                std::array<std::uint32_t, max_sparse_order> rows;
                samples_.draw(0, rank + s * ranks, rows.data());
                return zero_->value(0, model_at(views, rows.data()));
            });
            sum += of_zeros * (samples_.space() / static_cast<double>(count));
        }
        double squares = 0;
        for (int m = 0; m < data_.order() && regularization_ > 0; ++m) {
            const auto rows = state_.factors.owned(m);
            for (std::int64_t i = 0; i < rows.rows * rows.columns; ++i)
                squares += static_cast<double>(rows.data[i]) * static_cast<double>(rows.data[i]);
        }
        data_.seconds().norm += watch.lap();
        double sums[] = {sum, regularization_ * squares};
        data_.comm().sum(sums, 2);
        data_.seconds().communication += watch.lap();
        loss_ = sums[0];
        penalty_ = sums[1];
        // Of empty slices without rows, where the model is zero.
        if (with_zeros_) loss_ += (known_.count - samples_.space()) * zero_->value(0, 0);
    }

    void keep() {
        auto* to = before_.data();
        for (int m = 0; m < data_.order(); ++m) {
            const auto rows = state_.factors.owned(m);
            to = std::copy_n(rows.data, rows.rows * rows.columns, to);
        }
    }
    void take_back() {
        const auto* from = before_.data();
        for (int m = 0; m < data_.order(); ++m) {
            const auto rows = state_.factors.owned(m);
            std::copy_n(from, rows.rows * rows.columns, rows.data);
            from += rows.rows * rows.columns;
        }
        data_.comm().agree([&] { adam_.emplace(before_.size()); });
        expand();
    }

    /// An order of the batches, the same on all ranks.
    std::vector<int> batch_order() const {
        std::vector<int> order(data_.batches());
        std::iota(order.begin(), order.end(), 0);
        auto state = splitmix(seed_ ^ steps_);
        for (auto left = order.size(); left > 1; --left) {
            state = splitmix(state);
            std::swap(order[left - 1], order[state % left]);
        }
        return order;
    }

    ElementOperator<T>& data_;
    CpState<T>& state_;
    const KnownElements& known_;
    bool with_zeros_;
    std::uint64_t seed_;
    double regularization_;
    std::unique_ptr<ElementLoss> zero_, stored_;
    ZeroSamples<T> samples_;
    RowUpdates<RowLoss, T> stored_updates_, zero_updates_;
    std::optional<Adam<T>> adam_;
    std::vector<Buffer<double>> gradients_;
    Buffer<T> before_;
    std::int64_t stored_count_ = 0;
    std::uint64_t steps_ = 0;
    double rate_ = 0, loss_ = 0, penalty_ = 0;
};

}  // namespace

int sgd_batches(std::int64_t elements) {
    constexpr std::int64_t in_batch = 512, least = 8, most = 64;
    return static_cast<int>(std::clamp(elements / in_batch, least, most));
}

template <class T>
void run_sgd(ElementOperator<T>& data, CpState<T>& state, const KnownElements& known, bool with_zeros, std::uint64_t seed,
             const IterationOptions& options, const AfterIteration& after) {
    StochasticGradients<T> gradients(data, state, known, with_zeros, seed, options.regularization);
    gradients.begin();
    run_steps<T>(data, state, options.max_iterations, after, [&] {
        const bool moved = gradients.iterate();
        state.loss = gradients.loss();
        state.fit = known.fit(state.loss);
        return moved;
    });
}

std::int64_t sgd_memory(const SparseShare& share, std::int64_t elements) {
    std::int64_t owned = 0, rows = 0;
    for (std::size_t m = 0; m < share.rows.size(); ++m) {
        owned += share.owned[m] * share.columns;
        rows += share.rows[m];
    }
    const auto samples = std::max(least_zeros, elements / sgd_batches(elements));
    const auto judged = std::max(least_judged_zeros, elements);
    // Adam's means, gradients, and factors as they were; samples of a step while they are sorted; sums of blocks.
    return owned * (3 * share.value_bytes + std::int64_t{sizeof(double)}) + rows * std::int64_t{sizeof(std::uint32_t)} +
           (3 + share.order()) * samples * share.local_bytes() + elements_memory(share.value_bytes, samples, share.order()).peak() +
           judged / 8;
}

#define ARGES_INSTANTIATE(T)                                                                                                               \
    template void run_sgd(ElementOperator<T>&, CpState<T>&, const KnownElements&, bool, std::uint64_t, const IterationOptions&,            \
                          const AfterIteration&);
ARGES_INSTANTIATE(float)
ARGES_INSTANTIATE(double)
#undef ARGES_INSTANTIATE

}  // namespace arges::decompose
