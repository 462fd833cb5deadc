// Completion row by row. By alternating least squares: rows solve their own normal equations (Smith, Park, Karypis, SC16; Karlsson,
// Kressner, Uschmajew, Parallel Computing 57, 2016). By stochastic gradient descent over batches (Singh, Zhang, Wu, Zhang, Solomonik, JPDC
// 169, 2022, sample elements likewise; Smith, Park, Karypis, SC16, take one at a time): a batch is a set of elements that a hash of their
// indices names, so that a step is the same wherever they are. The length of a row's step is relative to the trace of its normal equations.
#include "base/splitmix.hpp"
#include "decompose/completion/completion_method.hpp"
#include "decompose/completion/device_elements.hpp"
#include "decompose/completion/elements.hpp"
#include "decompose/completion/row_equations.hpp"
#include "decompose/completion/row_updates.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace arges::decompose {

namespace {

/// Rows solve their own normal equations.
template <class T>
class Als : public CompletionMethod<T> {
public:
    Als(const CompletionOptions& options, CompletionFactors<T>& factors, Distributed<T>& nonzeros, const ElementKernels* device)
        : factors_(factors), regularization_(options.regularization), is_nonnegative_(options.nonnegative),
          updates_(factors.comm(), nonzeros.rows, factors.columns(), nonzeros.folds && factors.comm().size() > 1) {
        factors.comm().agree([&] {
            if (device != nullptr) device_ = std::make_unique<DeviceElements<T>>(*device, nonzeros);
            for (int m = 0; m < factors.order(); ++m) {
                by_row_.push_back(elements_by_row(set_of(nonzeros, m), m));
                if (nonzeros.sets.size() > 1) set_of(nonzeros, m) = {};
            }
            nonzeros.sets.clear();
        });
    }

    FitSums start_sums() override {
        FitSums sums;
        factors_.comm().agree([&] { sums = device_ ? device_->fit(factors_.views()) : fit_sums(by_row_[0].elements, factors_.views()); });
        return summed(factors_.comm(), sums);
    }

    double iterate() override {
        for (const auto& by_row : by_row_) {
            const auto& counts = factors_.counts(by_row.mode);
            const auto update = [&](RowEquations& equations, std::int64_t row, T* numbers) {
                const double penalty = regularization_ * counts[row];
                is_nonnegative_ ? equations.improve_nonnegative(penalty, numbers) : equations.solve(penalty, numbers);
            };
            updates_.run(by_row, factors_, factors_.communication_seconds(), update, equations_of(device_.get(), by_row.mode, factors_));
            factors_.expand(by_row.mode);
        }
        factors_.balance();
        return start_sums().residual;
    }

private:
    CompletionFactors<T>& factors_;
    double regularization_;
    bool is_nonnegative_;
    RowUpdates<RowEquations, T> updates_;
    std::vector<RowElements<T>> by_row_;  // by mode
    std::unique_ptr<DeviceElements<T>> device_;
};

/// Batches of elements, one after the other.
template <class T>
class Sgd : public CompletionMethod<T> {
public:
    Sgd(const CompletionOptions& options, CompletionFactors<T>& factors, Distributed<T>& nonzeros)
        : options_(options), factors_(factors),
          updates_(factors.comm(), nonzeros.rows, factors.columns(), nonzeros.folds && factors.comm().size() > 1),
          rate_(options.learning_rate), batches_(options.batches) {
        for (int m = 0; m < factors.order(); ++m) {
            factors.comm().agree([&] {
                add_mode(set_of(nonzeros, m), m);
                if (nonzeros.sets.size() > 1) set_of(nonzeros, m) = {};
            });
        }
        nonzeros.sets.clear();
    }

    FitSums start_sums() override {
        FitSums all;
        for (const auto& batch : batches_) {
            const auto sums = fit_sums(batch[0].elements, factors_.views());
            all.residual += sums.residual;
            all.model += sums.model;
        }
        return summed(factors_.comm(), all);
    }

    void begin() override {
        residual_ = start_sums().residual;
        if (options_.decay == 0) factors_.comm().agree([&] { before_ = factors_.copy(); });
    }

    double iterate() override {
        used_rate_ = rate_;
        for (auto b : batch_order())
            for (const auto& by_row : batches_[b]) {
                updates_.run(by_row, factors_, factors_.communication_seconds(),
                             [&](const RowGradient& gradient, std::int64_t, T* numbers) {
                                 gradient.step(rate_, options_.regularization, numbers);
                                 if (options_.nonnegative)
                                     for (int c = 0; c < factors_.columns(); ++c) numbers[c] = std::max(numbers[c], T(0));
                             });
                factors_.expand(by_row.mode);
            }
        ++iterations_;
        const double loss = residual_ + options_.regularization * factors_.weighted_squares();
        factors_.balance();
        const double residual = start_sums().residual;
        if (options_.decay > 0) {
            rate_ = options_.learning_rate / (1 + options_.decay * iterations_);
            return residual_ = residual;
        }
        has_moved_ = residual + options_.regularization * factors_.weighted_squares() <= loss;  // false for NaN, too
        if (has_moved_) {
            constexpr double faster = 1.05;
            rate_ = std::min(rate_ * faster, 2.0);
            residual_ = residual;
            before_ = factors_.copy();
        } else {
            rate_ /= 2;
            factors_.take_back(before_);
        }
        return residual_;
    }

    bool has_moved() const override { return has_moved_; }
    double learning_rate() const override { return used_rate_; }

private:
    /// Divides the elements of a mode among the batches. Local.
    void add_mode(const sparse::LocalNonzeros<T>& nonzeros, int mode) {
        std::vector<sparse::LocalNonzeros<T>> parts(batches_.size());
        const std::size_t order = factors_.order();
        for (auto& part : parts) part = {nonzeros.rows, std::vector<std::vector<std::uint32_t>>(order), {}};
        std::vector<std::int64_t> index(order);
        for (std::size_t x = 0; x < nonzeros.values.size(); ++x) {
            for (std::size_t m = 0; m < order; ++m) index[m] = factors_.rows(m).index[nonzeros.indices[m][x]];
            auto& part = parts[element_hash(options_.seed + 1, index) % batches_.size()];
            for (std::size_t m = 0; m < order; ++m) part.indices[m].push_back(nonzeros.indices[m][x]);
            part.values.push_back(nonzeros.values[x]);
            if (!nonzeros.weights.empty()) part.weights.push_back(nonzeros.weights[x]);
        }
        for (std::size_t b = 0; b < batches_.size(); ++b) {
            batches_[b].push_back(elements_by_row(parts[b], mode));
            parts[b] = {};
        }
    }

    /// An order of the batches for this iteration, the same on all ranks.
    std::vector<std::size_t> batch_order() const {
        std::vector<std::size_t> order(batches_.size());
        std::iota(order.begin(), order.end(), 0U);
        auto state = splitmix(options_.seed + static_cast<std::uint64_t>(iterations_));
        for (auto left = order.size(); left > 1; --left) {
            state = splitmix(state);
            std::swap(order[left - 1], order[state % left]);
        }
        return order;
    }

    const CompletionOptions& options_;
    CompletionFactors<T>& factors_;
    RowUpdates<RowGradient, T> updates_;
    double rate_, used_rate_ = 0, residual_ = 0;
    bool has_moved_ = true;
    int iterations_ = 0;
    std::vector<std::vector<RowElements<T>>> batches_;  // by mode in each
    typename CompletionFactors<T>::Copy before_;
};

}  // namespace

template <class T>
std::unique_ptr<CompletionMethod<T>> make_als(const CompletionOptions& options, CompletionFactors<T>& factors, Distributed<T>& nonzeros,
                                              const ElementKernels* device) {
    return std::make_unique<Als<T>>(options, factors, nonzeros, device);
}

template <class T>
std::unique_ptr<CompletionMethod<T>> make_sgd(const CompletionOptions& options, CompletionFactors<T>& factors, Distributed<T>& nonzeros) {
    return std::make_unique<Sgd<T>>(options, factors, nonzeros);
}

#define ARGES_INSTANTIATE(T)                                                                                                               \
    template std::unique_ptr<CompletionMethod<T>> make_als(const CompletionOptions&, CompletionFactors<T>&, Distributed<T>&,               \
                                                           const ElementKernels*);                                                         \
    template std::unique_ptr<CompletionMethod<T>> make_sgd(const CompletionOptions&, CompletionFactors<T>&, Distributed<T>&);
ARGES_INSTANTIATE(float)
ARGES_INSTANTIATE(double)
#undef ARGES_INSTANTIATE

}  // namespace arges::decompose
