// L-BFGS over all factors at once (Nocedal and Wright, Numerical Optimization, algorithms 7.4 and 7.5), with a line search by bisection to
// the weak Wolfe conditions. Bounds: elements that are zero and would become negative stay, directions are those of the others, and steps
// are projected (Bertsekas, SIAM J. Control Optim. 20, 1982).
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

    /// Minus the approximate inverse Hessian times the gradient, both in the elements that are not held.
    /// @param gradient zero where elements are held @param held for each element; none: no element is
    FactorVector<T> direction(const FactorVector<T>& gradient, const std::vector<char>& held) const {
        FactorVector<T> d = gradient;
        std::vector<std::size_t> used;
        std::vector<double> product, weight(steps_.size());
        for (std::size_t k = 0; k < steps_.size(); ++k) {
            product.push_back(held.empty() ? steps_[k].product : objective_.dot(free(steps_[k].x, held), steps_[k].gradient));
            if (held.empty() || product[k] > least_convexity * steps_[k].product) used.push_back(k);
        }
        for (auto at = used.rbegin(); at != used.rend(); ++at) {
            const auto k = *at;
            weight[k] = objective_.dot(steps_[k].x, d) / product[k];
            add(d, -weight[k], steps_[k].gradient);
            d = free(std::move(d), held);
        }
        double scale = 0;
        if (used.empty()) {
            scale = 1 / std::sqrt(objective_.dot(gradient, gradient));
        } else {
            const auto last = free(steps_[used.back()].gradient, held);
            scale = product[used.back()] / objective_.dot(last, last);
        }
        for (auto& v : d) v = static_cast<T>(scale * static_cast<double>(v));
        for (auto k : used) {
            add(d, weight[k] - objective_.dot(steps_[k].gradient, d) / product[k], steps_[k].x);
            d = free(std::move(d), held);
        }
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
    static constexpr double least_convexity = 1e-8;

    /// Zero where elements are held.
    static FactorVector<T> free(FactorVector<T> x, const std::vector<char>& held) {
        for (std::size_t i = 0; i < held.size(); ++i)
            if (held[i] != 0) x[i] = T(0);
        return x;
    }

    const FactorObjective<T>& objective_;
    std::deque<Step> steps_;
};

/// A point that moves.
template <class T>
class Descent {
public:
    explicit Descent(FactorObjective<T>& objective) : objective_(objective), memory_(objective), x_(objective.point()) {}

    /// @param weights of the components of the start @param sizes of the owned rows of each mode @param scales_model  by best_scale()
    void begin(const std::vector<double>& weights, const std::vector<std::int64_t>& sizes, bool scales_model) {
        const auto columns = std::ssize(weights);
        for (std::int64_t i = 0; i < sizes[0]; ++i) x_[i] *= static_cast<T>(weights[i % columns]);
        if (objective_.is_bounded())
            for (auto& v : x_) v = std::max(v, T(0));
        value_ = objective_.evaluate(x_, gradient_);
        if (!scales_model) return;
        const auto scales = factor_scales(objective_.best_scale(), static_cast<int>(sizes.size()));
        auto* v = x_.data();
        for (std::size_t m = 0; m < sizes.size(); ++m)
            for (std::int64_t i = 0; i < sizes[m]; ++i, ++v) *v = static_cast<T>(scales[m] * static_cast<double>(*v));
        value_ = objective_.evaluate(x_, gradient_);
    }

    /// Goes to a point where the function is smaller; false if there is none to be found.
    bool step() {
        const auto before = x_, gradient_before = gradient_;
        const auto held = held_elements();
        auto free = gradient_;
        for (std::size_t i = 0; i < held.size(); ++i)
            if (held[i] != 0) free[i] = T(0);
        if (objective_.dot(free, free) == 0) return false;
        bool moved = line_search(memory_.direction(free, held));
        if (!moved) {
            memory_.forget();
            moved = line_search(memory_.direction(free, held));
        }
        if (!moved) return false;
        auto step = x_, change = gradient_;
        add(step, -1, before);
        add(change, -1, gradient_before);
        memory_.remember(std::move(step), std::move(change));
        return true;
    }

private:
    /// Those at the bound that would go beyond; none where there is no bound.
    std::vector<char> held_elements() const {
        std::vector<char> held;
        if (!objective_.is_bounded()) return held;
        held.resize(x_.size());
        for (std::size_t i = 0; i < held.size(); ++i) held[i] = x_[i] <= T(0) && gradient_[i] > T(0) ? 1 : 0;
        return held;
    }

    /// x = what is left of origin + step d within the bounds.
    void move(const FactorVector<T>& origin, double step, const FactorVector<T>& d) {
        x_ = origin;
        add(x_, step, d);
        if (objective_.is_bounded())
            for (auto& v : x_) v = std::max(v, T(0));
    }

    /// Along the path of move(), where x is.
    double slope(const FactorVector<T>& d) const {
        if (!objective_.is_bounded()) return objective_.dot(gradient_, d);
        auto path = d;
        for (std::size_t i = 0; i < path.size(); ++i)
            if (x_[i] <= T(0) && d[i] < T(0)) path[i] = T(0);
        return objective_.dot(gradient_, path);
    }

    /// Moves x along d to a point that meets the weak Wolfe conditions, by bisection; false if there is none to be found.
    bool line_search(const FactorVector<T>& d) {
        const double slope_at_start = slope(d), start = value_;
        if (!(slope_at_start < 0)) return false;  // nor where there is no gradient
        const auto origin = x_, gradient = gradient_;
        double low = 0, high = 0, step = 1;
        for (int trial = 0; trial < max_line_search; ++trial) {
            move(origin, step, d);
            const double found = objective_.evaluate(x_, gradient_);
            if (!(found <= start + sufficient_decrease * decrease(origin, gradient, step, slope_at_start))) {
                high = step;
            } else if (slope(d) < curvature * slope_at_start) {
                low = step;
                value_ = found;
                if (high == 0) {
                    step *= 2;
                    continue;
                }
            } else {
                value_ = found;
                return true;
            }
            step = (low + high) / 2;
        }
        move(origin, low, d);
        value_ = objective_.evaluate(x_, gradient_);
        return low > 0;
    }

    /// What the gradient at the origin lets expect.
    double decrease(const FactorVector<T>& origin, const FactorVector<T>& gradient, double step, double slope_at_start) const {
        if (!objective_.is_bounded()) return step * slope_at_start;
        auto moved = x_;
        add(moved, -1, origin);
        return objective_.dot(gradient, moved);
    }

    FactorObjective<T>& objective_;
    StepMemory<T> memory_;
    FactorVector<T> x_, gradient_;
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
