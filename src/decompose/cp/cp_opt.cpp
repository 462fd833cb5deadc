// CP by L-BFGS over all factors at once (Nocedal and Wright, Numerical Optimization, algorithms 7.4 and 7.5), with a line search by
// bisection to the weak Wolfe conditions.
#include "decompose/cp/cp_als.hpp"

#include "base/math.hpp"
#include "base/stopwatch.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <numeric>

namespace arges::decompose {

namespace {

constexpr std::size_t remembered_steps = 10;
constexpr int max_line_search = 30;
constexpr double sufficient_decrease = 1e-4, curvature = 0.9;

/// The owned rows of all factors, one after the other.
template <class T>
using Vector = std::vector<T>;

/// The function and its gradient.
template <class T>
class Objective {
public:
    Objective(CpOperator<T>& tensor, Factors<T>& factors, double regularization)
        : tensor_(tensor), factors_(factors), regularization_(regularization) {
        std::int64_t rows = 0;
        for (int m = 0; m < tensor.order(); ++m) rows += tensor.rows(m).count();
        const int columns = tensor.columns();
        tensor.comm().agree([&] { data_ = Buffer<T>(rows * columns); });
        auto* next = data_.data();
        for (int m = 0; m < tensor.order(); ++m) {
            products_.push_back({next, tensor.rows(m).count(), columns, columns});
            next += tensor.rows(m).count() * columns;
        }
    }

    Vector<T> point() {
        Vector<T> x;
        std::int64_t size = 0;
        for (int m = 0; m < tensor_.order(); ++m) size += factors_.owned(m).rows * factors_.columns();
        x.reserve(size);
        for (int m = 0; m < tensor_.order(); ++m) {
            const auto rows = factors_.owned(m);
            x.insert(x.end(), rows.data, rows.data + rows.rows * rows.columns);
        }
        return x;
    }

    /// Value at x; `gradient` gets the gradient. Not finite where x is too far away. Collective.
    double evaluate(const Vector<T>& x, Vector<T>& gradient) {
        place(x);
        gradient.resize(x.size());
        auto* g = gradient.data();
        double inner = 0, squares = 0;
        tensor_.mttkrp_all(factors_.views(), products_);
        Stopwatch watch;
        for (int m = 0; m < tensor_.order(); ++m) {
            const auto owned = factors_.owned(m);
            const auto& product = products_[m];
            const auto others = factors_.gram_product(m);
            tensor_.seconds().gram += watch.lap();
            if (m == 0) inner = dot(owned.data, product.data, owned.rows * owned.columns);
            g = subtract_product(owned, product, others, g);
            for (int c = 0; c < owned.columns; ++c)
                squares += factors_.gram(m)[static_cast<std::size_t>(c) * static_cast<std::size_t>(owned.columns + 1)];
            tensor_.seconds().solve += watch.lap();
        }
        tensor_.comm().sum(&inner, 1);
        tensor_.seconds().communication += watch.lap();
        const auto whole = factors_.gram_product(-1);
        const double model = std::accumulate(whole.begin(), whole.end(), 0.0);
        tensor_.seconds().gram += watch.lap();
        inner_ = inner;
        model_ = model;
        return (tensor_.norm_squared() + model) / 2 - inner + regularization_ / 2 * squares;
    }

    /// Of the last point. @throws Error if it is none
    double fit() const { return fit_of(tensor_.norm_squared(), model_, inner_); }
    /// What to multiply every factor by so that the model is as near as a multiple of it can be.
    double best_scale() const { return model_ > 0 && inner_ > 0 ? std::pow(inner_ / model_, 1.0 / tensor_.order()) : 1; }
    double dot(const Vector<T>& a, const Vector<T>& b) const {
        double sum = dot(a.data(), b.data(), std::ssize(a));
        tensor_.comm().sum(&sum, 1);
        return sum;
    }
    void place(const Vector<T>& x) {
        const auto* at = x.data();
        for (int m = 0; m < tensor_.order(); ++m) {
            auto rows = factors_.owned(m);
            const auto size = rows.rows * rows.columns;
            std::copy(at, at + size, rows.data);
            at += size;
            tensor_.start_expand(m, factors_.matrix(m));
            Gram gram;
            Stopwatch watch;
            tensor_.comm().agree([&] { gram = gram_of<T>(rows); });
            tensor_.seconds().gram += watch.lap();
            sum_over_ranks(tensor_.comm(), gram);
            tensor_.seconds().communication += watch.lap();
            factors_.set_gram(m, std::move(gram));
            tensor_.finish_expand(m);
        }
    }

private:
    static double dot(const T* a, const T* b, std::int64_t count) {
        double sum = 0;
        for (std::int64_t i = 0; i < count; ++i) sum += static_cast<double>(a[i]) * b[i];
        return sum;
    }

    /// g = A V + regularization * A - M, row by row.
    T* subtract_product(sparse::RowMatrix<T> a, sparse::RowMatrix<T> product, const Gram& v, T* g) const {
        const std::size_t n = a.columns;
#pragma omp parallel for schedule(static)
        for (std::int64_t i = 0; i < a.rows; ++i) {
            T* const out = g + i * a.columns;
            for (std::size_t c = 0; c < n; ++c) {
                double sum = regularization_ * static_cast<double>(a.row(i)[c]) - static_cast<double>(product.row(i)[c]);
                for (std::size_t r = 0; r < n; ++r) sum += static_cast<double>(a.row(i)[r]) * v[r + c * n];
                out[c] = static_cast<T>(sum);
            }
        }
        return g + a.rows * a.columns;
    }

    CpOperator<T>& tensor_;
    Factors<T>& factors_;
    double regularization_;
    Buffer<T> data_;
    std::vector<sparse::RowMatrix<T>> products_;  // of all modes, since all factors change at once
    double inner_ = 0, model_ = 0;
};

/// The inverse Hessian from the last steps, applied by the two-loop recursion.
template <class T>
class StepMemory {
public:
    explicit StepMemory(const Objective<T>& objective) : objective_(objective) {}

    /// Minus the approximate inverse Hessian times the gradient.
    Vector<T> direction(const Vector<T>& gradient) const {
        Vector<T> d = gradient;
        std::vector<double> weight(steps_.size());
        for (std::size_t k = steps_.size(); k-- > 0;) {
            weight[k] = objective_.dot(steps_[k].x, d) / steps_[k].product;
            add(d, -weight[k], steps_[k].gradient);
        }
        const double scale = steps_.empty() ? 1 / std::sqrt(objective_.dot(gradient, gradient))
                                            : steps_.back().product / objective_.dot(steps_.back().gradient, steps_.back().gradient);
        for (auto& v : d) v = static_cast<T>(scale * static_cast<double>(v));
        for (std::size_t k = 0; k < steps_.size(); ++k)
            add(d, weight[k] - objective_.dot(steps_[k].gradient, d) / steps_[k].product, steps_[k].x);
        for (auto& v : d) v = -v;
        return d;
    }

    /// Keeps a step if the function is convex along it.
    void remember(Vector<T> step, Vector<T> gradient_change) {
        const double product = objective_.dot(step, gradient_change);
        if (product <= 1e-12 * std::sqrt(objective_.dot(step, step) * objective_.dot(gradient_change, gradient_change))) return;
        if (steps_.size() == remembered_steps) steps_.pop_front();
        steps_.push_back({std::move(step), std::move(gradient_change), product});
    }
    void forget() { steps_.clear(); }

    static void add(Vector<T>& a, double factor, const Vector<T>& b) {
        for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<T>(static_cast<double>(a[i]) + factor * static_cast<double>(b[i]));
    }

private:
    struct Step {
        Vector<T> x, gradient;
        double product;
    };
    const Objective<T>& objective_;
    std::deque<Step> steps_;
};

/// Moves x along d to a point that meets the weak Wolfe conditions, by bisection; false if there is none to be found.
template <class T>
bool line_search(Objective<T>& objective, Vector<T>& x, double& value, Vector<T>& gradient, const Vector<T>& d) {
    const double slope = objective.dot(gradient, d), start = value;
    if (!(slope < 0)) return false;  // nor where there is no gradient
    const auto origin = x;
    double low = 0, high = 0, step = 1;
    for (int trial = 0; trial < max_line_search; ++trial) {
        x = origin;
        StepMemory<T>::add(x, step, d);
        const double found = objective.evaluate(x, gradient);
        if (!(found <= start + sufficient_decrease * step * slope)) {
            high = step;
        } else if (objective.dot(gradient, d) < curvature * slope) {
            low = step;
            value = found;
            if (high == 0) {
                step *= 2;
                continue;
            }
        } else {
            value = found;
            return true;
        }
        step = (low + high) / 2;
    }
    x = origin;
    StepMemory<T>::add(x, low, d);
    value = objective.evaluate(x, gradient);
    return low > 0;
}

template <class T>
void normalize(CpOperator<T>& tensor, CpState<T>& state) {
    const std::size_t n = tensor.columns();
    std::fill(state.lambda.begin(), state.lambda.end(), 1.0);
    for (int m = 0; m < tensor.order(); ++m) {
        std::vector<double> scale(n);
        for (std::size_t c = 0; c < n; ++c) {
            const double length = std::sqrt(at_least_zero(state.factors.gram(m)[c * (n + 1)]));
            state.lambda[c] *= length;
            scale[c] = length > 0 ? 1 / length : 0;
        }
        scale_columns(state.factors.matrix(m), scale);
    }
}

}  // namespace

template <class T>
void run_opt(CpOperator<T>& tensor, CpState<T>& state, const IterationOptions& options, const AfterIteration& after) {
    Objective<T> objective(tensor, state.factors, options.regularization);
    auto x = objective.point();
    const auto first = state.factors.owned(0);
    for (std::int64_t i = 0; i < first.rows * first.columns; ++i)  // weights of a given start
        x[i] *= static_cast<T>(state.lambda[i % first.columns]);
    Vector<T> gradient;
    objective.evaluate(x, gradient);
    const double scale = objective.best_scale();
    for (auto& v : x) v = static_cast<T>(scale * static_cast<double>(v));
    double value = objective.evaluate(x, gradient);
    StepMemory<T> memory(objective);
    for (int it = 1; it <= options.max_iterations; ++it) {
        const auto before = x, gradient_before = gradient;
        const bool is_flat = objective.dot(gradient, gradient) == 0;
        bool moved = !is_flat && line_search(objective, x, value, gradient, memory.direction(gradient));
        if (!is_flat && !moved) {
            memory.forget();
            moved = line_search(objective, x, value, gradient, memory.direction(gradient));
        }
        if (moved) {
            auto step = x, change = gradient;
            StepMemory<T>::add(step, -1, before);
            StepMemory<T>::add(change, -1, gradient_before);
            memory.remember(std::move(step), std::move(change));
        }
        state.fit = objective.fit();
        if (!after(it, state.fit)) break;
        if (!moved) {
            state.is_stationary = true;
            break;
        }
    }
    normalize(tensor, state);
}

std::int64_t opt_memory(std::int64_t owned, std::int64_t products, std::int64_t element_bytes, int max_iterations) {
    // Point, gradient, what they were before the step, and the direction and the origin of the search, or the step and the change.
    constexpr std::int64_t vectors = 6;
    const auto remembered = std::min<std::int64_t>(static_cast<std::int64_t>(remembered_steps), max_iterations - 1);
    return (vectors + 2 * remembered) * owned * element_bytes + array_memory(products * element_bytes);
}

#define ARGES_INSTANTIATE(T) template void run_opt(CpOperator<T>&, CpState<T>&, const IterationOptions&, const AfterIteration&);
ARGES_INSTANTIATE(float)
ARGES_INSTANTIATE(double)
#undef ARGES_INSTANTIATE

}  // namespace arges::decompose
