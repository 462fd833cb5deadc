// CP by alternating least squares (Carroll and Chang 1970; Harshman 1970), and without negative elements by hierarchical ALS, column by
// column (Cichocki, Zdunek and Amari 2007).
#include "decompose/cp/cp_als.hpp"

#include "arges/error.hpp"
#include "base/math.hpp"
#include "base/stopwatch.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace arges::decompose {

namespace {

/// |X - model|^2 can be what the three say, but for the rounding of single precision.
bool is_residual(double norm_squared, double model_squared, double inner) {
    constexpr double rounding = 1e-5;
    const double residual = norm_squared + model_squared - 2 * inner;
    return std::isfinite(residual) && residual >= -rounding * (norm_squared + model_squared);
}

double total(const Gram& gram) { return std::accumulate(gram.begin(), gram.end(), 0.0); }

/// One mode after the other.
template <class T>
class Alternation {
public:
    Alternation(CpOperator<T>& tensor, CpState<T>& state, double regularization)
        : tensor_(tensor), state_(state), regularization_(regularization) {}
    virtual ~Alternation() = default;

    /// An iteration over all modes; returns the fit, NaN where that of approximate products cannot be.
    double iterate() {
        double inner = 0, model = 0;
        for (int m = 0; m < tensor_.order(); ++m) {
            Stopwatch watch;
            auto others = state_.factors.gram_product(m);
            const auto product = others;
            if (regularization_ > 0) add_to_diagonal(others, tensor_.columns(), regularization_);
            tensor_.seconds().gram += watch.lap();
            auto sums = improve(m, others);
            tensor_.start_expand(m, state_.factors.matrix(m));
            watch.lap();
            sum_over_ranks(tensor_.comm(), sums);
            tensor_.seconds().communication += watch.lap();
            inner = sums.inner;
            auto whole = sums.gram;
            multiply_into(whole, product);
            model = total(whole);
            tensor_.seconds().gram += watch.lap();
            tensor_.finish_expand(m);
            normalize(m, std::move(sums.gram));
        }
        const bool is_estimate = tensor_.step() != CpStep::exact;
        if (is_estimate && !is_residual(tensor_.norm_squared(), model, inner)) return std::numeric_limits<double>::quiet_NaN();
        return fit_of(tensor_.norm_squared(), model, inner);
    }

protected:
    /// Finds the owned rows of a factor, not scaled; returns their Gram matrix and their inner product with the MTTKRP's result.
    virtual RowSums improve(int mode, const Gram& others) = 0;

    /// Columns of length 1; the lengths become the weights.
    void normalize(int mode, Gram gram) {
        Stopwatch watch;
        state_.factors.set_gram(mode, std::move(gram));
        state_.lambda = state_.factors.unit_columns(mode);
        tensor_.seconds().norm += watch.lap();
    }

    CpOperator<T>& tensor_;
    CpState<T>& state_;
    double regularization_;
};

template <class T>
class LeastSquares : public Alternation<T> {
public:
    using Alternation<T>::Alternation;

private:
    RowSums improve(int mode, const Gram& others) override {
        auto& factors = this->state_.factors;
        this->tensor_.mttkrp(mode, factors.views(), factors.matrix(mode));
        Stopwatch watch;
        const GramSolver solver(others, this->tensor_.columns(), std::numeric_limits<T>::epsilon());
        RowSums sums;
        this->tensor_.comm().agree([&] { sums = solve_rows(solver, factors.owned(mode)); });
        const double spent = watch.lap();
        this->tensor_.seconds().solve += spent * (1 - sums.gram_share);
        this->tensor_.seconds().gram += spent * sums.gram_share;
        return sums;
    }
};

template <class T>
class NonnegativeColumns : public Alternation<T> {
public:
    NonnegativeColumns(CpOperator<T>& tensor, CpState<T>& state, double regularization) : Alternation<T>(tensor, state, regularization) {
        std::int64_t most = 0;
        for (int m = 0; m < tensor.order(); ++m) most = std::max(most, tensor.rows(m).count());
        tensor.comm().agree([&] { product_ = Buffer<T>(most * tensor.columns()); });
    }

private:
    RowSums improve(int mode, const Gram& others) override {
        auto& factors = this->state_.factors;
        const int columns = this->tensor_.columns();
        const sparse::RowMatrix<T> product{product_.data(), factors.matrix(mode).rows, columns, columns};
        this->tensor_.mttkrp(mode, factors.views(), product);
        Stopwatch watch;
        auto owned = factors.owned(mode);
        scale_columns(owned, this->state_.lambda);
        this->tensor_.comm().agree([&] { inner_.resize(owned.rows); });
#pragma omp parallel for schedule(static)
        for (std::int64_t i = 0; i < owned.rows; ++i) inner_[i] = improve_nonnegative(owned.row(i), product.row(i), others.data(), columns);
        RowSums sums{{}, std::accumulate(inner_.begin(), inner_.end(), 0.0)};
        this->tensor_.seconds().solve += watch.lap();
        this->tensor_.comm().agree([&] { sums.gram = gram_of<T>(owned); });
        this->tensor_.seconds().gram += watch.lap();
        return sums;
    }

    Buffer<T> product_;
    std::vector<double> inner_;  // by row, summed in their order
};

}  // namespace

bool is_settled(double fit, double change, double tolerance) { return tolerance > 0 && std::abs(change) <= tolerance * std::abs(fit); }

void FitTrend::add(double fit) {
    before_ = last_;
    last_ = fit - fit_;
    fit_ = fit;
    ++count_;
}

bool FitTrend::is_settled(double tolerance, double epsilon) const {
    if (count_ < 2 || tolerance == 0) return false;
    const double left = std::abs(1 - fit_), change = std::abs(last_), ratio = change / std::abs(before_);
    if (change * left <= epsilon) return true;  // the rounding of the squared residual
    const double allowed = tolerance * std::min(left, std::abs(fit_));
    return change <= allowed && count_ > 2 && ratio < 1 && change * ratio / (1 - ratio) <= allowed;
}

double fit_of(double norm_squared, double model_squared, double inner) {
    const double residual = norm_squared + model_squared - 2 * inner;
    if (!is_residual(norm_squared, model_squared, inner))
        throw Error("the decomposition has diverged: its residual is not a number that it can be; scale the tensor's values, "
                    "use a smaller "
                    "rank, another seed, or a regularization");
    return 1 - std::sqrt(at_least_zero(residual) / norm_squared);
}

template <class T>
void alternate(CpOperator<T>& tensor, CpState<T>& state, const IterationOptions& options, const AfterIteration& after,
               const std::function<double()>& iterate, bool fit_may_fall) {
    constexpr double rounding = std::is_same_v<T, float> ? 5e-3 : 1e-3;  // of the fit, near 1
    bool must_be_exact = false, was_exact = true;
    FitTrend trend;
    for (int it = 1; it <= options.max_iterations; ++it) {
        const double before = state.fit;
        must_be_exact = must_be_exact || it == options.max_iterations;
        tensor.begin_iteration(state, must_be_exact);
        state.fit = iterate();
        if (const auto fit = tensor.fit(state)) state.fit = *fit;
        const bool is_lost = std::isnan(state.fit) && tensor.step() != CpStep::exact;  // the next iteration is exact
        if (is_lost) state.fit = before;
        const bool is_exact = tensor.step() == CpStep::exact;
        if (it > 1 && is_exact && was_exact && !fit_may_fall && state.fit < before - rounding)
            throw Error("the decomposition has diverged: its fit has fallen from " + std::to_string(before) + " to " +
                        std::to_string(state.fit) + "; use a smaller rank, another seed, or a regularization");
        if (!after(it, state.fit)) return;
        trend.add(state.fit);
        must_be_exact = trend.is_settled(options.tolerance, std::numeric_limits<T>::epsilon()) || is_lost || (must_be_exact && !was_exact);
        was_exact = is_exact;
    }
}

template <class T>
void run_als(CpOperator<T>& tensor, CpState<T>& state, const IterationOptions& options, const AfterIteration& after) {
    LeastSquares<T> alternation(tensor, state, options.regularization);
    alternate<T>(
        tensor, state, options, after, [&] { return alternation.iterate(); }, options.regularization > 0);
}

template <class T>
void run_nonnegative(CpOperator<T>& tensor, CpState<T>& state, const IterationOptions& options, const AfterIteration& after) {
    NonnegativeColumns<T> alternation(tensor, state, options.regularization);
    alternate<T>(
        tensor, state, options, after, [&] { return alternation.iterate(); }, options.regularization > 0);
}

std::int64_t nonnegative_memory(std::int64_t rows, std::int64_t columns, std::int64_t element_bytes) {
    return array_memory(rows * columns * element_bytes) + rows * std::int64_t{sizeof(double)};
}

#define ARGES_INSTANTIATE(T)                                                                                                               \
    template void alternate(CpOperator<T>&, CpState<T>&, const IterationOptions&, const AfterIteration&, const std::function<double()>&,   \
                            bool);                                                                                                         \
    template void run_als(CpOperator<T>&, CpState<T>&, const IterationOptions&, const AfterIteration&);                                    \
    template void run_nonnegative(CpOperator<T>&, CpState<T>&, const IterationOptions&, const AfterIteration&);
ARGES_INSTANTIATE(float)
ARGES_INSTANTIATE(double)
#undef ARGES_INSTANTIATE

}  // namespace arges::decompose
