// L-BFGS over all factors at once (Nocedal and Wright, Numerical Optimization, algorithms 7.4 and 7.5), with a line search by bisection to
// the weak Wolfe conditions. Elements that must not be negative are the squares of what is moved.
#include "decompose/cp/lbfgs.hpp"

#include "base/math.hpp"

#include <algorithm>
#include <cmath>
#include <deque>

namespace arges::decompose {

namespace {

constexpr std::size_t remembered_steps = 10;
constexpr int max_line_search = 30;
constexpr double sufficient_decrease = 1e-4, curvature = 0.9;

template <class T>
void add(FactorVector<T>& a, double factor, const FactorVector<T>& b) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<T>(static_cast<double>(a[i]) + factor * static_cast<double>(b[i]));
}

/// The inverse Hessian from the last steps, applied by the two-loop recursion.
template <class T>
class StepMemory {
public:
    explicit StepMemory(const FactorObjective<T>& objective) : objective_(objective) {}

    /// Minus the approximate inverse Hessian times the gradient.
    FactorVector<T> direction(const FactorVector<T>& gradient) const {
        FactorVector<T> d = gradient;
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
    void remember(FactorVector<T> step, FactorVector<T> gradient_change) {
        const double product = objective_.dot(step, gradient_change);
        if (product <= 1e-12 * std::sqrt(objective_.dot(step, step) * objective_.dot(gradient_change, gradient_change))) return;
        if (steps_.size() == remembered_steps) steps_.pop_front();
        steps_.push_back({std::move(step), std::move(gradient_change), product});
    }
    void forget() { steps_.clear(); }

private:
    struct Step {
        FactorVector<T> x, gradient;
        double product;
    };

    const FactorObjective<T>& objective_;
    std::deque<Step> steps_;
};

/// A point that moves: the factors, or, where they must not be negative, their square roots.
template <class T>
class Descent {
public:
    explicit Descent(FactorObjective<T>& objective) : objective_(objective), memory_(objective), x_(objective.point()) {}

    /// @param weights of the components of the start @param sizes of the owned rows of each mode @param scales_model  by best_scale()
    void begin(const std::vector<double>& weights, const std::vector<std::int64_t>& sizes, bool scales_model) {
        const auto columns = std::ssize(weights);
        for (std::int64_t i = 0; i < sizes[0]; ++i) x_[i] *= static_cast<T>(weights[i % columns]);
        if (objective_.is_bounded()) take_roots();
        evaluate();
        if (!scales_model) return;
        const auto scales = factor_scales(objective_.best_scale(), static_cast<int>(sizes.size()));
        auto* v = x_.data();
        for (std::size_t m = 0; m < sizes.size(); ++m)
            for (std::int64_t i = 0; i < sizes[m]; ++i, ++v)
                *v = static_cast<T>((objective_.is_bounded() ? std::sqrt(std::abs(scales[m])) : scales[m]) * static_cast<double>(*v));
        evaluate();
    }

    /// Goes to a point where the function is smaller; false if there is none to be found.
    bool step() {
        if (objective_.dot(gradient_, gradient_) == 0) return false;
        const auto before = x_, gradient_before = gradient_;
        bool moved = line_search(memory_.direction(gradient_));
        if (!moved) {
            memory_.forget();
            moved = line_search(memory_.direction(gradient_));
        }
        if (!moved) return false;
        auto step = x_, change = gradient_;
        add(step, -1, before);
        add(change, -1, gradient_before);
        memory_.remember(std::move(step), std::move(change));
        return true;
    }

private:
    /// Of zeros there would be no way: they get a little.
    void take_roots() {
        constexpr double little = 1e-8;
        const double size = std::sqrt(objective_.dot(x_, x_));
        for (auto& v : x_) v = static_cast<T>(std::sqrt(std::max(static_cast<double>(v), little * size)));
    }

    /// Value and gradient at x.
    double evaluate() {
        if (!objective_.is_bounded()) return value_ = objective_.evaluate(x_, gradient_);
        factors_.resize(x_.size());
        for (std::size_t i = 0; i < x_.size(); ++i) factors_[i] = x_[i] * x_[i];
        value_ = objective_.evaluate(factors_, gradient_);
        for (std::size_t i = 0; i < x_.size(); ++i) gradient_[i] *= 2 * x_[i];
        return value_;
    }

    double evaluate_at(const FactorVector<T>& origin, double step, const FactorVector<T>& d) {
        x_ = origin;
        add(x_, step, d);
        return evaluate();
    }

    /// Moves x along d to a point that meets the weak Wolfe conditions, by bisection; false if there is none to be found.
    bool line_search(const FactorVector<T>& d) {
        const double slope_at_start = objective_.dot(gradient_, d), start = value_;
        if (!(slope_at_start < 0)) return false;  // nor where there is no gradient
        const auto origin = x_;
        double low = 0, high = 0, step = 1;
        for (int trial = 0; trial < max_line_search; ++trial) {
            const double found = evaluate_at(origin, step, d);
            if (!(found <= start + sufficient_decrease * step * slope_at_start)) {
                high = step;
            } else if (objective_.dot(gradient_, d) < curvature * slope_at_start) {
                low = step;
                if (high == 0) {
                    step *= 2;
                    continue;
                }
            } else {
                return true;
            }
            step = (low + high) / 2;
        }
        evaluate_at(origin, low, d);
        return low > 0;
    }

    FactorObjective<T>& objective_;
    StepMemory<T> memory_;
    FactorVector<T> x_, gradient_, factors_;
    double value_ = 0;
};

}  // namespace

std::vector<double> factor_scales(double multiple, int order) {
    std::vector<double> scales(order, std::pow(std::abs(multiple), 1.0 / order));
    if (multiple < 0) scales[0] = -scales[0];
    return scales;
}

template <class T>
FactorObjective<T>::FactorObjective(CpData<T>& data, Factors<T>& factors) : data_(data), factors_(factors) {
    std::int64_t rows = 0;
    for (int m = 0; m < data.order(); ++m) rows += data.rows(m).count();
    const int columns = data.columns();
    data.comm().agree([&] { products_data_ = Buffer<T>(rows * columns); });
    auto* next = products_data_.data();
    for (int m = 0; m < data.order(); ++m) {
        products_.push_back({next, data.rows(m).count(), columns, columns});
        next += data.rows(m).count() * columns;
    }
}

template <class T>
FactorVector<T> FactorObjective<T>::point() const {
    FactorVector<T> x;
    std::int64_t size = 0;
    for (int m = 0; m < data_.order(); ++m) size += factors_.owned(m).rows * factors_.columns();
    x.reserve(size);
    for (int m = 0; m < data_.order(); ++m) {
        const auto rows = factors_.owned(m);
        x.insert(x.end(), rows.data, rows.data + rows.rows * rows.columns);
    }
    return x;
}

template <class T>
double FactorObjective<T>::dot(const FactorVector<T>& a, const FactorVector<T>& b) const {
    double sum = local_dot(a.data(), b.data(), std::ssize(a));
    data_.comm().sum(&sum, 1);
    return sum;
}

template <class T>
double FactorObjective<T>::local_dot(const T* a, const T* b, std::int64_t count) {
    double sum = 0;
    for (std::int64_t i = 0; i < count; ++i) sum += static_cast<double>(a[i]) * b[i];
    return sum;
}

template <class T>
void FactorObjective<T>::place(const FactorVector<T>& x, bool with_grams) {
    const auto* at = x.data();
    for (int m = 0; m < data_.order(); ++m) {
        auto rows = factors_.owned(m);
        const auto size = rows.rows * rows.columns;
        std::copy(at, at + size, rows.data);
        at += size;
        data_.start_expand(m, factors_.matrix(m));
        if (with_grams) factors_.make_gram(data_, m);
        data_.finish_expand(m);
    }
}

template <class T>
void run_steps(CpData<T>& data, CpState<T>& state, int max_iterations, const AfterIteration& after, const std::function<bool()>& step) {
    for (int it = 1; it <= max_iterations && !state.is_stationary; ++it) {
        const bool moved = step();
        if (!after(it, state.fit)) break;
        state.is_stationary = !moved;
    }
    std::fill(state.lambda.begin(), state.lambda.end(), 1.0);
    for (int m = 0; m < data.order(); ++m) {
        state.factors.make_gram(data, m);
        multiply_into(state.lambda, state.factors.unit_columns(m));
    }
}

template <class T>
void run_lbfgs(FactorObjective<T>& objective, CpData<T>& data, CpState<T>& state, int max_iterations, const AfterIteration& after) {
    Descent<T> descent(objective);
    std::vector<std::int64_t> sizes;
    for (int m = 0; m < data.order(); ++m) sizes.push_back(state.factors.owned(m).rows * data.columns());
    descent.begin(state.lambda, sizes, !state.is_given);
    run_steps<T>(data, state, max_iterations, after, [&] {
        const bool moved = descent.step();
        state.fit = objective.fit();
        return moved;
    });
}

std::int64_t opt_memory(std::int64_t owned, std::int64_t products, std::int64_t element_bytes, int max_iterations) {
    // Point, gradient and that of free elements, what they were before the step, the direction, and the origin of the search with its
    // gradient, or the step and the change; where there are bounds, the part of a direction within them.
    constexpr std::int64_t vectors = 10;
    const auto remembered = std::min<std::int64_t>(static_cast<std::int64_t>(remembered_steps), max_iterations - 1);
    return (vectors + 2 * remembered) * owned * element_bytes + array_memory(products * element_bytes);
}

#define ARGES_INSTANTIATE(T)                                                                                                               \
    template class FactorObjective<T>;                                                                                                     \
    template void run_lbfgs(FactorObjective<T>&, CpData<T>&, CpState<T>&, int, const AfterIteration&);                                     \
    template void run_steps(CpData<T>&, CpState<T>&, int, const AfterIteration&, const std::function<bool()>&);
ARGES_INSTANTIATE(float)
ARGES_INSTANTIATE(double)
#undef ARGES_INSTANTIATE

}  // namespace arges::decompose
