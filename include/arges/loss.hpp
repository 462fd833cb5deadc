/// @file loss.hpp
/// Losses of generalized CP decompositions: what a model's element m costs where the tensor's is x.
#pragma once

#include <cstdint>
#include <string>

namespace arges {

/// Losses f(x, m) (Hong, Kolda, Duersch, *Generalized canonical polyadic tensor decomposition*, SIAM Review 62, 2020, table 1; logarithms
/// are of m + 1e-10). Where m must not be negative, factors have no negative element.
enum class LossKind : std::uint8_t {
    gaussian,           ///< (x - m)^2
    poisson,            ///< m - x log m, m >= 0: counts x with the rate m
    poisson_log,        ///< exp(m) - x m: counts with the rate exp(m)
    bernoulli_odds,     ///< log(m + 1) - x log m, m >= 0: x of 0 or 1 with the odds m
    bernoulli_logit,    ///< log(1 + exp(m)) - x m: x of 0 or 1 with the odds exp(m)
    gamma,              ///< x / m + log m, m >= 0: positive x with the mean m
    rayleigh,           ///< 2 log m + pi / 4 (x / m)^2, m >= 0: x that is not negative, with the mean m
    huber,              ///< (x - m)^2 where |x - m| < delta, else 2 delta |x - m| - delta^2: x with outliers
    negative_binomial,  ///< (r + x) log(1 + m) - x log m, m >= 0: x failures before r successes, with the odds m
    beta                ///< m^b / b - x m^(b - 1) / (b - 1), m >= 0: the beta divergence, b other than 0 and 1
};

/// A loss.
struct Loss {
    LossKind kind = LossKind::gaussian;  ///< which
    double parameter = 0;                ///< delta of huber, r of negative_binomial, b of beta; others have none

    /// The same kind and parameter. Local.
    friend bool operator==(const Loss&, const Loss&) = default;
};

/// From "poisson", "bernoulli-logit", "huber=0.25", "negative-binomial=4", "beta=0.5": names have hyphens. Pure.
/// @throws InvalidArgument for others; the message lists those that there are
Loss parse_loss(const std::string& text);
/// What parse_loss() reads. Pure.
std::string to_string(const Loss& loss);

}  // namespace arges
