/// Losses of elements and their derivatives, as formulas for the host and for kernels.
#pragma once

#include "arges/loss.hpp"
#include "device/number.hpp"

#include <cmath>
#include <numbers>

namespace arges::device::losses {

inline constexpr double small = 1e-10;  ///< keeps logarithms and quotients finite

ARGES_ON_DEVICE inline double logarithm(double m) { return std::log(m + small); }

// value() is f(x, m), derivative() that by m.

struct Gaussian {
    ARGES_ON_DEVICE double value(double x, double m) const { return (x - m) * (x - m); }
    ARGES_ON_DEVICE double derivative(double x, double m) const { return 2 * (m - x); }
};

struct Poisson {
    ARGES_ON_DEVICE double value(double x, double m) const { return m - x * logarithm(m); }
    ARGES_ON_DEVICE double derivative(double x, double m) const { return 1 - x / (m + small); }
};

struct PoissonLog {
    ARGES_ON_DEVICE double value(double x, double m) const { return std::exp(m) - x * m; }
    ARGES_ON_DEVICE double derivative(double x, double m) const { return std::exp(m) - x; }
};

struct BernoulliOdds {
    ARGES_ON_DEVICE double value(double x, double m) const { return std::log1p(m) - x * logarithm(m); }
    ARGES_ON_DEVICE double derivative(double x, double m) const { return 1 / (m + 1) - x / (m + small); }
};

struct BernoulliLogit {
    ARGES_ON_DEVICE double value(double x, double m) const {
        return (m > 0 ? m + std::log1p(std::exp(-m)) : std::log1p(std::exp(m))) - x * m;
    }
    ARGES_ON_DEVICE double derivative(double x, double m) const { return 1 / (1 + std::exp(-m)) - x; }
};

struct Gamma {
    ARGES_ON_DEVICE double value(double x, double m) const { return x / (m + small) + logarithm(m); }
    ARGES_ON_DEVICE double derivative(double x, double m) const { return 1 / (m + small) - x / ((m + small) * (m + small)); }
};

struct Rayleigh {
    ARGES_ON_DEVICE double value(double x, double m) const {
        const double ratio = x / (m + small);
        return 2 * logarithm(m) + std::numbers::pi / 4 * ratio * ratio;
    }
    ARGES_ON_DEVICE double derivative(double x, double m) const {
        const double ratio = x / (m + small);
        return (2 - std::numbers::pi / 2 * ratio * ratio) / (m + small);
    }
};

struct Huber {
    double delta;
    ARGES_ON_DEVICE double value(double x, double m) const {
        const double e = std::fabs(x - m);
        return e < delta ? e * e : 2 * delta * e - delta * delta;
    }
    ARGES_ON_DEVICE double derivative(double x, double m) const {
        const double e = m - x;
        return std::fabs(e) < delta ? 2 * e : e < 0 ? -2 * delta : 2 * delta;
    }
};

struct NegativeBinomial {
    double successes;
    ARGES_ON_DEVICE double value(double x, double m) const { return (successes + x) * std::log1p(m) - x * logarithm(m); }
    ARGES_ON_DEVICE double derivative(double x, double m) const { return (successes + x) / (1 + m) - x / (m + small); }
};

struct Beta {
    double b;
    ARGES_ON_DEVICE double value(double x, double m) const { return std::pow(m + small, b) / b - x * std::pow(m + small, b - 1) / (b - 1); }
    ARGES_ON_DEVICE double derivative(double x, double m) const { return std::pow(m + small, b - 1) - x * std::pow(m + small, b - 2); }
};

/// f(x, m) - f(0, m).
template <class F>
struct DifferenceToZero : F {
    ARGES_ON_DEVICE double value(double x, double m) const { return F::value(x, m) - F::value(0, m); }
    ARGES_ON_DEVICE double derivative(double x, double m) const { return F::derivative(x, m) - F::derivative(0, m); }
};

/// A loss at an element.
struct LossAt {
    double value, derivative;
};

template <class F>
ARGES_ON_DEVICE LossAt loss_at(const F& f, bool to_zero, double x, double m) {
    if (!to_zero) return {f.value(x, m), f.derivative(x, m)};
    const DifferenceToZero<F> difference{f};
    return {difference.value(x, m), difference.derivative(x, m)};
}

/// @param to_zero  of f(x, m) - f(0, m)
ARGES_ON_DEVICE inline LossAt loss_at(const Loss& loss, bool to_zero, double x, double m) {
    switch (loss.kind) {
    case LossKind::gaussian: return loss_at(Gaussian{}, to_zero, x, m);
    case LossKind::poisson: return loss_at(Poisson{}, to_zero, x, m);
    case LossKind::poisson_log: return loss_at(PoissonLog{}, to_zero, x, m);
    case LossKind::bernoulli_odds: return loss_at(BernoulliOdds{}, to_zero, x, m);
    case LossKind::bernoulli_logit: return loss_at(BernoulliLogit{}, to_zero, x, m);
    case LossKind::gamma: return loss_at(Gamma{}, to_zero, x, m);
    case LossKind::rayleigh: return loss_at(Rayleigh{}, to_zero, x, m);
    case LossKind::huber: return loss_at(Huber{loss.parameter}, to_zero, x, m);
    case LossKind::negative_binomial: return loss_at(NegativeBinomial{loss.parameter}, to_zero, x, m);
    case LossKind::beta: return loss_at(Beta{loss.parameter}, to_zero, x, m);
    }
    return {};
}

}  // namespace arges::device::losses
