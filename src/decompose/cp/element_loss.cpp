#include "decompose/cp/element_loss.hpp"

#include "arges/error.hpp"
#include "base/read_number.hpp"
#include "base/spelling.hpp"
#include "device/losses.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

namespace arges {

namespace {

struct LossName {
    LossKind kind;
    const char* name;
    const char* parameter;  ///< null: none
};
constexpr std::array names{LossName{LossKind::gaussian, "gaussian", nullptr},
                           LossName{LossKind::poisson, "poisson", nullptr},
                           LossName{LossKind::poisson_log, "poisson-log", nullptr},
                           LossName{LossKind::bernoulli_odds, "bernoulli-odds", nullptr},
                           LossName{LossKind::bernoulli_logit, "bernoulli-logit", nullptr},
                           LossName{LossKind::gamma, "gamma", nullptr},
                           LossName{LossKind::rayleigh, "rayleigh", nullptr},
                           LossName{LossKind::huber, "huber", "DELTA"},
                           LossName{LossKind::negative_binomial, "negative-binomial", "R"},
                           LossName{LossKind::beta, "beta", "B"}};

const LossName& name_of(LossKind kind) {
    for (const auto& known : names)
        if (known.kind == kind) return known;
    throw InvalidArgument("there is no loss " + std::to_string(static_cast<int>(kind)) + "; use one of LossKind");
}

}  // namespace

Loss parse_loss(const std::string& text) {
    const auto equals = text.find('=');
    const auto wanted = text.substr(0, equals);
    std::string all;
    std::vector<std::string> words;
    for (const auto& known : names) {
        words.emplace_back(known.name);
        all += (all.empty() ? "" : ", ") + std::string(known.name) + (known.parameter ? std::string("=") + known.parameter : "");
        if (wanted != known.name) continue;
        Loss loss{known.kind, 0};
        const auto number = equals == std::string::npos ? std::string() : text.substr(equals + 1);
        if ((known.parameter == nullptr) != (equals == std::string::npos) || (known.parameter && !read_number(number, loss.parameter)))
            throw InvalidArgument("the loss '" + text + "' must be written as " + known.name +
                                  (known.parameter ? std::string("=") + known.parameter : ""));
        decompose::make_loss(loss);
        return loss;
    }
    const auto nearest = nearest_word(wanted, words);
    throw InvalidArgument("there is no loss '" + text + "'; " + (nearest.empty() ? "there are " + all : "did you mean " + nearest + "?"));
}

std::string to_string(const Loss& loss) {
    const auto& known = name_of(loss.kind);
    if (!known.parameter) return known.name;
    std::array<char, 32> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), loss.parameter).ptr;
    return known.name + std::string("=") + std::string(digits.data(), end);
}

namespace decompose {

namespace {

namespace losses = device::losses;
using losses::logarithm, losses::small;

constexpr double infinity = std::numeric_limits<double>::infinity();

/// x log m, 0 for x = 0.
double x_log(double x, double m) { return x == 0 ? 0 : x * std::log(m); }

struct Unbounded {
    static constexpr bool is_bounded = false;
    static constexpr ElementLoss::Domain domain{-infinity, infinity};
};
struct Bounded {
    static constexpr bool is_bounded = true;
    static constexpr ElementLoss::Domain domain{0, infinity};
};

struct Gaussian : losses::Gaussian, Unbounded {
    double constant(double mean, double) const { return mean; }
    double least(double) const { return 0; }
};

struct Poisson : losses::Poisson, Bounded {
    double constant(double mean, double) const { return mean; }
    double least(double x) const { return x - x_log(x, x); }
};

struct PoissonLog : losses::PoissonLog {
    static constexpr bool is_bounded = false;
    static constexpr ElementLoss::Domain domain{0, infinity};
    double constant(double mean, double) const { return logarithm(mean); }
    double least(double x) const { return x - x_log(x, x); }
};

/// x from 0 to 1.
struct Bernoulli {
    static constexpr ElementLoss::Domain domain{0, 1};
    double least(double x) const { return -x_log(x, x) - x_log(1 - x, 1 - x); }
};

struct BernoulliOdds : losses::BernoulliOdds, Bernoulli {
    static constexpr bool is_bounded = true;
    double constant(double mean, double) const { return mean / (1 - mean + small); }
};

struct BernoulliLogit : losses::BernoulliLogit, Bernoulli {
    static constexpr bool is_bounded = false;
    double constant(double mean, double) const { return logarithm(mean) - logarithm(1 - mean); }
};

struct Gamma : losses::Gamma, Bounded {
    double constant(double mean, double) const { return mean; }
    double least(double x) const { return x > 0 ? 1 + std::log(x) : std::log(small); }
};

struct Rayleigh : losses::Rayleigh, Bounded {
    double constant(double, double mean_square) const { return std::sqrt(std::numbers::pi / 4 * mean_square); }
    double least(double x) const { return x > 0 ? 2 * std::log(std::sqrt(std::numbers::pi) / 2 * x) + 1 : 2 * std::log(small); }
};

struct Huber : losses::Huber, Unbounded {
    double constant(double mean, double) const { return mean; }
    double least(double) const { return 0; }
};

struct NegativeBinomial : losses::NegativeBinomial, Bounded {
    double constant(double mean, double) const { return mean / successes; }
    double least(double x) const { return (successes + x) * std::log1p(x / successes) - x_log(x, x / successes); }
};

struct Beta : losses::Beta, Bounded {
    double constant(double mean, double) const { return mean; }
    double least(double x) const { return value(x, x); }
};

template <class F>
class LossOf : public ElementLoss {
public:
    explicit LossOf(F f) : f_(f) {}
    double derivatives(const double* x, const double* m, const double* w, double* derivative, std::int64_t count) const override {
        double sum = 0;
        for (std::int64_t i = 0; i < count; ++i) {
            const double weight = w ? w[i] : 1;
            sum += weight * f_.value(x[i], m[i]);
            derivative[i] = weight * f_.derivative(x[i], m[i]);
        }
        return sum;
    }
    double value(double x, double m) const override { return f_.value(x, m); }
    double constant(double mean, double mean_square) const override { return f_.constant(mean, mean_square); }
    double least(double x) const override { return f_.least(x); }
    bool is_bounded() const override { return F::is_bounded; }
    Domain domain() const override { return F::domain; }

private:
    F f_;
};

/// make(f) with the loss's f.
template <class Make>
auto with_loss(const Loss& loss, Make&& make) -> std::unique_ptr<ElementLoss> {
    const double parameter = loss.parameter;
    const auto refuse = [&](const char* text) { throw InvalidArgument("the loss " + to_string(loss) + ": " + text); };
    switch (loss.kind) {
    case LossKind::gaussian: return make(Gaussian{});
    case LossKind::poisson: return make(Poisson{});
    case LossKind::poisson_log: return make(PoissonLog{});
    case LossKind::bernoulli_odds: return make(BernoulliOdds{});
    case LossKind::bernoulli_logit: return make(BernoulliLogit{});
    case LossKind::gamma: return make(Gamma{});
    case LossKind::rayleigh: return make(Rayleigh{});
    case LossKind::huber:
        if (!(parameter > 0) || !std::isfinite(parameter)) refuse("DELTA must be a positive number");
        return make(Huber{{parameter}, {}});
    case LossKind::negative_binomial:
        if (!(parameter > 0) || !std::isfinite(parameter)) refuse("R must be a positive number");
        return make(NegativeBinomial{{parameter}, {}});
    case LossKind::beta:
        if (!std::isfinite(parameter) || parameter == 0 || parameter == 1) refuse("B must be a number other than 0 and 1");
        return make(Beta{{parameter}, {}});
    }
    name_of(loss.kind);
    return nullptr;
}

}  // namespace

std::unique_ptr<ElementLoss> make_loss(const Loss& loss) {
    return with_loss(loss, [](auto f) -> std::unique_ptr<ElementLoss> { return std::make_unique<LossOf<decltype(f)>>(f); });
}

std::unique_ptr<ElementLoss> make_difference_to_zero(const Loss& loss) {
    return with_loss(loss, [](auto f) -> std::unique_ptr<ElementLoss> {
        return std::make_unique<LossOf<losses::DifferenceToZero<decltype(f)>>>(losses::DifferenceToZero<decltype(f)>{f});
    });
}

bool has_rows_of_zeros(LossKind kind) { return kind == LossKind::poisson_log || kind == LossKind::bernoulli_logit; }

}  // namespace decompose

}  // namespace arges
