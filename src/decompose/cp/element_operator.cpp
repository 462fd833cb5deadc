#include "decompose/cp/element_operator.hpp"

#include "base/stopwatch.hpp"
#include "decompose/completion/completion_method.hpp"
#include "decompose/completion/row_equations.hpp"
#include "decompose/completion/row_updates.hpp"
#include "decompose/cp/row_loss.hpp"
#include "sparse/blocked_sum.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace arges::decompose {

namespace {

/// Rows solve their own normal equations, mode after mode; columns of the others have length 1.
template <class T>
class RowAlternation {
public:
    RowAlternation(ElementOperator<T>& data, CpState<T>& state, const KnownElements& known, bool is_nonnegative, double regularization)
        : data_(data), state_(state), known_(known), is_nonnegative_(is_nonnegative), regularization_(regularization),
          updates_(data.comm(), data.all_rows(), data.columns(), data.folds()) {}

    void iterate() {
        auto& factors = state_.factors;
        for (int m = 0; m < data_.order(); ++m) {
            Stopwatch watch;
            const double before = data_.seconds().communication;
            if (is_nonnegative_) scale_columns(factors.matrix(m), state_.lambda);
            const auto update = [&](RowEquations& equations, std::int64_t, T* numbers) {
                is_nonnegative_ ? equations.improve_nonnegative(regularization_, numbers) : equations.solve(regularization_, numbers);
            };
            updates_.run(data_.by_row(m), factors, data_.seconds().communication, update, equations_of(data_.device(), m, factors));
            data_.seconds().solve += watch.lap() - (data_.seconds().communication - before);
            data_.start_expand(m, factors.matrix(m));
            factors.make_gram(data_, m);
            data_.finish_expand(m);
            if (m + 1 == data_.order()) note_fit(data_, state_, known_);
            state_.lambda = factors.unit_columns(m);
        }
    }

private:
    ElementOperator<T>& data_;
    CpState<T>& state_;
    const KnownElements& known_;
    bool is_nonnegative_;
    double regularization_;
    RowUpdates<RowEquations, T> updates_;
};

/// Element by element, of all modes but one.
std::vector<double> product_of(const std::vector<std::vector<double>>& sums, std::size_t but) {
    std::vector<double> product(sums[0].size(), 1);
    for (std::size_t m = 0; m < sums.size(); ++m)
        for (std::size_t c = 0; c < product.size(); ++c) product[c] *= m == but ? 1 : sums[m][c];
    return product;
}

/// Divides elements among batches; they stay in their order. Local.
template <class T>
std::vector<RowElements<T>> batches_of(const RowElements<T>& all, std::span<const ModeRows> rows, int batches, std::uint64_t seed) {
    std::vector<RowElements<T>> result(batches);
    for (auto& batch : result) {
        batch.mode = all.mode;
        batch.elements.order = all.elements.order;
    }
    const std::size_t order = all.elements.order;
    std::vector<std::int64_t> index(order);
    for (std::int64_t x = 0; x < all.elements.count(); ++x) {
        const auto* const local = all.elements.index(x);
        for (std::size_t m = 0; m < order; ++m) index[m] = rows[m].index[local[m]];
        auto& batch = result[element_hash(seed, index) % static_cast<std::uint64_t>(batches)];
        if (batch.rows.empty() || batch.rows.back() != local[all.mode]) {
            batch.rows.push_back(local[all.mode]);
            batch.starts.push_back(batch.elements.count());
        }
        batch.elements.indices.insert(batch.elements.indices.end(), local, local + order);
        batch.elements.values.push_back(all.elements.values[x]);
        if (!all.elements.weights.empty()) batch.elements.weights.push_back(all.elements.weights[x]);
    }
    for (auto& batch : result) batch.starts.push_back(batch.elements.count());
    return result;
}

/// The loss of stored elements, and of zeros that are not stored.
template <class T>
class ElementObjective : public LossObjective<T> {
public:
    ElementObjective(ElementOperator<T>& data, Factors<T>& factors, const KnownElements& known, bool with_zeros, double regularization)
        : LossObjective<T>(data, factors, known, regularization), elements_(data), with_zeros_(with_zeros),
          stored_(with_zeros ? make_difference_to_zero(known.loss) : make_loss(known.loss)),
          updates_(data.comm(), data.all_rows(), data.columns(), data.folds(), stored_.get()) {}

private:
    double add_losses(std::span<sparse::RowMatrix<T>> gradients) override {
        double loss = 0;
        auto* const device = elements_.device();
        Stopwatch watch;
        const double before = elements_.seconds().communication;
        for (int m = 0; m < elements_.order(); ++m) {
            const auto& to = gradients[m];
            std::vector<double> losses(m == 0 ? elements_.rows(0).owned : 0);
            const auto& by_row = elements_.by_row(m);
            const auto update = [&](const RowLoss& sum, std::int64_t row, const T*) {
                for (int c = 0; c < to.columns; ++c) to.row(row)[c] = static_cast<T>(sum.gradient()[c]);
                if (m == 0) losses[row] = sum.loss();
            };
            const auto sum_there = [&](const sparse::RowMatrix<double>& packed) {
                device->sum_losses(by_row, this->factors_.views(), this->known_.loss, with_zeros_, packed);
            };
            updates_.run(by_row, this->factors_, elements_.seconds().communication, update,
                         device != nullptr ? typename RowUpdates<RowLoss, T>::MakeSums(sum_there) : nullptr);
            for (double one : losses) loss += one;
        }
        elements_.seconds().mttkrp += watch.lap() - (elements_.seconds().communication - before);
        elements_.comm().sum(&loss, 1);
        elements_.seconds().communication += watch.lap();
        return with_zeros_ ? loss + add_zeros(gradients) : loss;
    }

    /// poisson: f(0, m) = m, of which the sum over all elements is that of the products of the sums of columns.
    double add_zeros(std::span<sparse::RowMatrix<T>> gradients) {
        const std::size_t columns = elements_.columns(), order = elements_.order();
        const auto sums = column_sums(elements_.comm(), this->factors_);
        for (std::size_t m = 0; m < order; ++m) {
            const auto others = product_of(sums, m);
            for (std::int64_t i = 0; i < elements_.rows(m).owned; ++i)
                for (std::size_t c = 0; c < columns; ++c) gradients[m].row(i)[c] += static_cast<T>(others[c]);
        }
        const auto all = product_of(sums, order);
        return std::accumulate(all.begin(), all.end(), 0.0);
    }

    ModelSums model_sums() const override { return model_sums_of(elements_, this->factors_, with_zeros_); }

    ElementOperator<T>& elements_;
    bool with_zeros_;
    std::unique_ptr<ElementLoss> stored_;
    RowUpdates<RowLoss, T> updates_;
};

}  // namespace

template <class T>
ElementOperator<T>::ElementOperator(const Communicator& comm, Distributed<T> distributed, int columns, int batches, std::uint64_t seed,
                                    const ElementKernels* device)
    : CpData<T>(comm, columns), rows_(std::move(distributed.rows)), folds_(distributed.folds && comm.size() > 1) {
    comm.agree([&] {
        if (device != nullptr) device_ = std::make_unique<DeviceElements<T>>(*device, distributed);
        by_row_.resize(batches);
        for (std::size_t m = 0; m < rows_.size(); ++m) {
            auto all = elements_by_row(set_of(distributed, m), m);
            if (distributed.sets.size() > 1) set_of(distributed, m) = {};
            if (batches == 1) {
                by_row_[0].push_back(std::move(all));
                continue;
            }
            auto parts = batches_of<T>(all, rows_, batches, seed);
            for (std::size_t b = 0; b < parts.size(); ++b) by_row_[b].push_back(std::move(parts[b]));
        }
        distributed.sets.clear();
        this->set_modes(rows_.size());
    });
}

template <class T>
std::int64_t ElementOperator<T>::count() const {
    std::vector<std::int64_t> counts(rows_.size(), 0);
    for (const auto& batch : by_row_)
        for (std::size_t m = 0; m < batch.size(); ++m) counts[m] += batch[m].elements.count();
    return *std::max_element(counts.begin(), counts.end());
}

template <class T>
std::int64_t ElementOperator<T>::bytes() const {
    std::int64_t sum = 0;
    for (const auto& batch : by_row_)
        for (const auto& by_row : batch)
            sum += by_row.elements.count() *
                       (by_row.elements.order * 4 + std::int64_t{sizeof(T)} * (by_row.elements.weights.empty() ? 1 : 2)) +
                   by_row.row_count() * 12;
    for (const auto& rows : rows_) sum += rows.count() * 8 + rows.rows_shared() * (4 + this->columns_ * std::int64_t{sizeof(T)});
    return sum;
}

template <class T>
std::vector<std::vector<double>> column_sums(const Communicator& comm, Factors<T>& factors) {
    const std::size_t columns = factors.columns();
    std::vector<std::vector<double>> result;
    for (int m = 0; m < factors.order(); ++m) {
        const auto rows = factors.owned(m);
        auto& sums = result.emplace_back(columns, 0);
        for (std::int64_t i = 0; i < rows.rows; ++i)
            for (std::size_t c = 0; c < columns; ++c) sums[c] += static_cast<double>(rows.row(i)[c]);
        comm.sum(sums.data(), std::ssize(sums));
    }
    return result;
}

template <class T>
ModelSums model_sums_of(ElementOperator<T>& data, Factors<T>& factors, bool with_zeros) {
    const auto views = factors.views();
    ModelSums result;
    for (int b = 0; b < data.batches(); ++b) {
        const auto& elements = data.by_row(0, b).elements;
        const auto sums = sparse::blocked_sums<3>(elements.count(), [&](std::int64_t x) -> std::array<double, 3> {
            const double m = model_at(views, elements.index(x)), weighted = elements.weight(x) * m;
            return {weighted, weighted * m, weighted * static_cast<double>(elements.values[x])};
        });
        result.model += sums[0];
        result.squares += sums[1];
        result.inner += sums[2];
    }
    double all[] = {result.model, result.squares, result.inner};
    data.comm().sum(all, 3);
    if (!with_zeros) return {all[0], all[1], all[2]};
    const auto products = product_of(column_sums(data.comm(), factors), factors.order());
    for (int m = 0; m < factors.order(); ++m) factors.make_gram(data, m);
    const auto gram = factors.gram_product(-1);
    return {std::accumulate(products.begin(), products.end(), 0.0), std::accumulate(gram.begin(), gram.end(), 0.0), all[2]};
}

template <class T>
void note_fit(ElementOperator<T>& data, CpState<T>& state, const KnownElements& known) {
    FitSums sums;
    data.comm().agree([&] {
        const auto factors = state.factors.views();
        sums = data.device() != nullptr ? data.device()->fit(factors) : fit_sums(data.by_row(0).elements, factors);
    });
    data.comm().sum(&sums.residual, 1);
    state.loss = sums.residual;
    state.fit = known.fit(sums.residual);
}

template <class T>
void run_rows(ElementOperator<T>& data, CpState<T>& state, const KnownElements& known, bool is_nonnegative, const IterationOptions& options,
              const AfterIteration& after) {
    RowAlternation<T> alternation(data, state, known, is_nonnegative, options.regularization);
    for (int it = 1; it <= options.max_iterations; ++it) {
        alternation.iterate();
        if (!after(it, state.fit)) return;
    }
}

template <class T>
std::unique_ptr<LossObjective<T>> element_objective(ElementOperator<T>& data, Factors<T>& factors, const KnownElements& known,
                                                    bool with_zeros, double regularization) {
    return std::make_unique<ElementObjective<T>>(data, factors, known, with_zeros, regularization);
}

#define ARGES_INSTANTIATE(T)                                                                                                               \
    template class ElementOperator<T>;                                                                                                     \
    template ModelSums model_sums_of(ElementOperator<T>&, Factors<T>&, bool);                                                              \
    template std::vector<std::vector<double>> column_sums(const Communicator&, Factors<T>&);                                               \
    template void note_fit(ElementOperator<T>&, CpState<T>&, const KnownElements&);                                                        \
    template void run_rows(ElementOperator<T>&, CpState<T>&, const KnownElements&, bool, const IterationOptions&, const AfterIteration&);  \
    template std::unique_ptr<LossObjective<T>> element_objective(ElementOperator<T>&, Factors<T>&, const KnownElements&, bool, double);
ARGES_INSTANTIATE(float)
ARGES_INSTANTIATE(double)
#undef ARGES_INSTANTIATE

}  // namespace arges::decompose
