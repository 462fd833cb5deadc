// Lower bounds on moved words by geometric programs, solved by Newton's method on log tile lengths: memory-independent (Al Daas et al.,
// arXiv 2205.13407), and by intensity (SOAP: Kwasniewski et al. 2021; deinsum-2022).
#include "plan/report/lower_bounds.hpp"

#include "arges/error.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

namespace arges {

namespace {

using Reals = std::vector<double>;

std::size_t at(std::ptrdiff_t i) { return i; }

double sum(const Reals& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

/// The unknowns of the geometric program. Labels that occur in the same tensors are one variable.
struct Variables {
    Reals log_caps;                         ///< log of the product of its labels' extents, > 0
    std::vector<std::vector<int>> tensors;  ///< variables of each tensor
    std::vector<int> of_label;              ///< -1 for labels whose tile is 1 in any case
    double log_volume = 0;
};

/// The tensors of each label. @throws InvalidArgument if the space breaks the rules
std::vector<std::vector<int>> memberships(const IterationSpace& space) {
    for (double n : space.extents)
        if (!(n == 0 || n >= 1) || std::isinf(n)) throw InvalidArgument("an extent is neither 0 nor at least 1");
    std::vector<std::vector<int>> result(space.extents.size());
    for (std::size_t t = 0; t < space.tensors.size(); ++t)
        for (int label : space.tensors[t]) {
            if (label < 0 || at(label) >= result.size()) throw InvalidArgument("a tensor has a label without extent");
            auto& tensors = result[at(label)];
            if (!tensors.empty() && tensors.back() == static_cast<int>(t)) throw InvalidArgument("a tensor has the same label twice");
            tensors.push_back(t);
        }
    return result;
}

Variables variables_of(const IterationSpace& space) {
    Variables result;
    std::map<std::vector<int>, int> variable_in;
    const auto tensors_of = memberships(space);
    for (std::size_t label = 0; label < tensors_of.size(); ++label) {
        result.of_label.push_back(-1);
        if (tensors_of[label].empty() || space.extents[label] <= 1) continue;
        const int next = result.log_caps.size();
        result.of_label.back() = variable_in.emplace(tensors_of[label], next).first->second;
        if (result.of_label.back() == next) result.log_caps.push_back(0);
        result.log_caps[at(result.of_label.back())] += std::log(space.extents[label]);
    }
    result.tensors.resize(space.tensors.size());
    for (const auto& [tensors, variable] : variable_in)
        for (int t : tensors) result.tensors[at(t)].push_back(variable);
    result.log_volume = sum(result.log_caps);
    return result;
}

/// F(x) = log sum_t exp(sum_{i in t} x_i) for x = log b: convex, and well scaled where the words are not.
struct LogWords {
    double value = 0;
    Reals weights;   ///< share of each tensor in the words
    Reals gradient;  ///< share of the tensors that contain a variable

    LogWords(const Variables& variables, const Reals& x) : gradient(x.size(), 0.0) {
        for (const auto& tensor : variables.tensors) {
            weights.push_back(0);
            for (int i : tensor) weights.back() += x[at(i)];
        }
        const double largest = *std::max_element(weights.begin(), weights.end());
        for (double& w : weights) w = std::exp(w - largest);
        const double words = sum(weights);
        value = largest + std::log(words);
        for (std::size_t t = 0; t < weights.size(); ++t) {
            weights[t] /= words;
            for (int i : variables.tensors[t]) gradient[at(i)] += weights[t];
        }
    }
};

/// Overwrites the lower triangle of the n x n matrix k by its Cholesky factor. Pivots are kept from rounding to zero: a
/// direction that hardly matters need not be exact.
void factor(Reals& k, std::size_t n) {
    for (std::size_t j = 0; j < n; ++j)
        for (std::size_t i = j; i < n; ++i) {
            for (std::size_t l = 0; l < j; ++l) k[i * n + j] -= k[i * n + l] * k[j * n + l];
            k[i * n + j] = i == j ? std::sqrt(std::max(k[i * n + j], 1e-14)) : k[i * n + j] / k[j * n + j];
        }
}

/// Solves with the factor.
Reals solve(const Reals& k, Reals r) {
    const std::size_t n = r.size();
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t l = 0; l < i; ++l) r[i] -= k[i * n + l] * r[l];
        r[i] /= k[i * n + i];
    }
    for (std::size_t i = n; i-- > 0;) {
        for (std::size_t l = i + 1; l < n; ++l) r[i] -= k[l * n + i] * r[l];
        r[i] /= k[i * n + i];
    }
    return r;
}

/// The best tiles of some number of points: minimises F(x) subject to sum x = log_points, 0 <= x <= log_caps, by
/// Newton's method with line search on the variables that are free, while the others are held at a bound (Nocedal and
/// Wright, ch. 16.5). Moving two variables at a time would be simpler, but slow where several must move together.
class Access {
public:
    Access(const Variables& variables, double points_log)
        : log_points(points_log), x(variables.log_caps), words(variables, x), variables_(&variables), held_(x.size(), false) {
        const double share = log_points / std::max(variables.log_volume, log_points);
        for (double& length : x) length *= share;
        words = LogWords(variables, x);
        for (int steps = 0; steps < 2000; ++steps)
            if (newton_step() < 1e-14 && !release()) break;
    }

    double log_points;
    Reals x;                ///< log tile of each variable
    LogWords words;         ///< of these tiles
    double elasticity = 0;  ///< d log words / d log points, in [0, 1]: the multiplier of sum x

    /// (X - S) / v: words moved per point by phases of this access, the reciprocal of their intensity.
    double moved_per_point(double memory) const { return std::exp(words.value - log_points) - memory * std::exp(-log_points); }

private:
    static constexpr double ridge = 1e-10;  ///< curvature lent to directions that change no tile's size

    /// Step of the free variables that minimises the words to second order; the Hessian is that of exp(F), over exp(F).
    Reals direction() {
        std::vector<std::size_t> place(x.size()), free;
        for (std::size_t i = 0; i < x.size(); ++i) {
            place[i] = free.size();
            if (!held_[i]) free.push_back(i);
        }
        const std::size_t n = free.size();
        Reals k(n * n, 0.0), gradient(n), result(x.size(), 0.0);
        for (std::size_t t = 0; t < variables_->tensors.size(); ++t)
            for (int i : variables_->tensors[t])
                for (int j : variables_->tensors[t])
                    if (!held_[at(i)] && !held_[at(j)]) k[place[at(i)] * n + place[at(j)]] += words.weights[t];
        for (std::size_t f = 0; f < n; ++f) {
            gradient[f] = words.gradient[free[f]];
            k[f * n + f] += ridge;
        }
        factor(k, n);
        const Reals lifted = solve(k, Reals(n, 1.0)), pushed = solve(k, gradient);
        elasticity = sum(pushed) / sum(lifted);
        for (std::size_t f = 0; f < n; ++f) result[free[f]] = elasticity * lifted[f] - pushed[f];
        const double drift = sum(result) / static_cast<double>(n);
        for (std::size_t i : free) result[i] -= drift;
        return result;
    }

    /// Moves the free variables; the first that a bound stops is held from then on. Returns the decrease of F in sight,
    /// twice what a quadratic F would give.
    double newton_step() {
        const Reals move = direction();
        double length = 1, promised = 0;
        std::size_t stopped = x.size();
        for (std::size_t i = 0; i < x.size(); ++i) {
            promised -= (words.gradient[i] - elasticity) * move[i];
            const double room = move[i] > 0 ? variables_->log_caps[i] - x[i] : x[i];
            if (length * std::abs(move[i]) <= room + 1e-15) continue;
            length = room / std::abs(move[i]);
            stopped = i;
        }
        for (int halvings = 0; halvings < 30; ++halvings, length /= 2, stopped = x.size()) {
            Reals reached = x;
            for (std::size_t i = 0; i < x.size(); ++i) reached[i] = std::clamp(x[i] + length * move[i], 0.0, variables_->log_caps[i]);
            if (stopped < x.size()) reached[stopped] = move[stopped] > 0 ? variables_->log_caps[stopped] : 0;
            LogWords then(*variables_, reached);
            if (then.value > words.value - 1e-4 * length * promised + 1e-15 * (1 + std::abs(words.value))) continue;
            x = std::move(reached);
            words = std::move(then);
            if (stopped == x.size()) return promised;
            held_[stopped] = true;
            return 1;
        }
        return 0;
    }

    /// Frees the variable at a bound that most wants to leave it. False if none does.
    bool release() {
        std::size_t best = x.size();
        double gain = 1e-13;
        for (std::size_t i = 0; i < x.size(); ++i) {
            const double wish = x[i] > 0 ? words.gradient[i] - elasticity : elasticity - words.gradient[i];
            if (!held_[i] || wish <= gain) continue;
            gain = wish;
            best = i;
        }
        if (best < x.size()) held_[best] = false;
        return best < x.size();
    }

    const Variables* variables_;
    std::vector<bool> held_;  ///< at a bound
};

double words_of(const IterationSpace& space, const Reals& lengths) {
    double result = 0;
    for (const auto& tensor : space.tensors) {
        double size = 1;
        for (int label : tensor) size *= lengths[at(label)];
        result += size;
    }
    return result;
}

Tiles tiles_of(const IterationSpace& space, const Variables& variables, const Reals& x) {
    Tiles result{Reals(space.extents.size(), 1.0), 0};
    for (std::size_t label = 0; label < space.extents.size(); ++label)
        if (const int v = variables.of_label[label]; v >= 0)
            result.lengths[label] = std::pow(space.extents[label], x[at(v)] / variables.log_caps[at(v)]);
    result.words = words_of(space, result.lengths);
    return result;
}

/// No access between these two moves more words per point: log X is convex in log v, so it lies below the chord.
double most_between(const Access& a, const Access& b, double memory) {
    const double slope = (b.words.value - a.words.value) / (b.log_points - a.log_points);
    if (!(slope > 0)) return a.moved_per_point(memory);
    if (slope >= 1) return b.moved_per_point(memory);
    const double log_words = std::clamp(std::log(memory / (1 - slope)), a.words.value, b.words.value);
    const double log_points = a.log_points + (log_words - a.words.value) / slope;
    return std::exp(log_words - log_points) - memory * std::exp(-log_points);
}

/// Where phases of `low` should be larger and phases of `high` smaller, the best between them: X - dX/dlog v = S.
Access stationary(const Variables& variables, Access low, Access high, double memory) {
    const auto excess = [&](const Access& a) { return 1 - std::exp(a.words.value) * (1 - a.elasticity) / memory; };
    double below = excess(low), above = excess(high);
    if (!(below > 0 && above < 0)) return below > 0 ? high : low;
    for (int steps = 0; steps < 100 && high.log_points - low.log_points > 1e-12 * high.log_points; ++steps) {
        const double part = std::clamp(below / (below - above), 1e-6, 1 - 1e-6);
        Access next(variables, low.log_points + part * (high.log_points - low.log_points));
        const double value = excess(next);
        if (std::abs(value) < 1e-13) return next;
        (value > 0 ? low : high) = std::move(next);
        below = value > 0 ? value : below / 2;
        above = value > 0 ? above / 2 : value;
    }
    return low;
}

/// The access that moves most words per point: by bisection where the chords promise more, then exactly. There may be
/// several local maxima, as dX/dlog v jumps where all tiles are at a bound.
Access hardest(const Variables& variables, double memory) {
    std::vector<Access> known{{variables, 0}, {variables, variables.log_volume}};
    const auto less = [&](const Access& a, const Access& b) { return a.moved_per_point(memory) < b.moved_per_point(memory); };
    for (int steps = 0; steps < 1000; ++steps) {
        Reals most(known.size(), 0.0);
        for (std::size_t i = 1; i < known.size(); ++i) most[i] = most_between(known[i - 1], known[i], memory);
        const auto widest = std::max_element(most.begin() + 1, most.end()) - most.begin();
        const double best = std::max_element(known.begin(), known.end(), less)->moved_per_point(memory);
        if (most[at(widest)] <= best * (1 + 1e-6)) break;
        const double middle = std::midpoint(known[at(widest) - 1].log_points, known[at(widest)].log_points);
        known.insert(known.begin() + widest, Access(variables, middle));
    }
    const auto best = std::max_element(known.begin(), known.end(), less);
    const auto before = best == known.begin() ? best : best - 1, after = best + 1 == known.end() ? best : best + 1;
    const auto exact = stationary(variables, *before, *after, memory);
    return less(exact, *best) ? *best : exact;
}

/// Both bounds hold for the ranks that have something to do. @throws InvalidArgument for less than one rank
double active_ranks(const IterationSpace& space, double ranks) {
    if (!(ranks >= 1)) throw InvalidArgument("a lower bound needs at least one rank");
    return std::min(ranks, volume(space));
}

/// Zero for what is below the rounding of `words`.
double above_rounding(double bound, double words) { return bound > 1e-11 * words ? bound : 0; }

}  // namespace

double volume(const IterationSpace& space) {
    const auto tensors_of = memberships(space);
    double result = 1;
    for (std::size_t label = 0; label < tensors_of.size(); ++label)
        if (!tensors_of[label].empty()) result *= space.extents[label];
    if (!(result < 1e300)) throw InvalidArgument("an iteration space of 1e300 points or more");
    return result;
}

double total_words(const IterationSpace& space) {
    memberships(space);
    return words_of(space, space.extents);
}

Tiles smallest_access(const IterationSpace& space, double points) {
    if (std::isnan(points)) throw InvalidArgument("the number of points of an access is not a number");
    const double all = volume(space);
    if (all == 0) return {Reals(space.extents.size(), 0.0), 0};
    if (space.tensors.empty()) return {Reals(space.extents.size(), 1.0), 0};
    const auto variables = variables_of(space);
    const double log_points = points >= all ? variables.log_volume : std::log(std::max(points, 1.0));
    return tiles_of(space, variables, Access(variables, log_points).x);
}

double memory_independent_bound(const IterationSpace& space, double ranks) {
    const double active = active_ranks(space, ranks);
    if (active == 0) return 0;
    const double words = smallest_access(space, volume(space) / active).words;
    return above_rounding(words - total_words(space) / active, words);
}

Intensity soap_intensity(const IterationSpace& space, double memory_words) {
    if (!(memory_words >= 0)) throw InvalidArgument("a memory of less than 0 words");
    const double total = total_words(space);
    if (volume(space) == 0) return {std::numeric_limits<double>::infinity(), 0, Reals(space.extents.size(), 0.0)};
    const auto variables = variables_of(space);
    if (memory_words >= total)
        return {std::numeric_limits<double>::infinity(), total, tiles_of(space, variables, variables.log_caps).lengths};
    const auto access = hardest(variables, memory_words);
    const auto tiles = tiles_of(space, variables, access.x);
    return {1 / access.moved_per_point(memory_words), tiles.words, tiles.lengths};
}

double memory_dependent_bound(const IterationSpace& space, double ranks, double memory_words) {
    const double active = active_ranks(space, ranks);
    if (active == 0) return 0;
    const double share = total_words(space) / active;
    const double needed = volume(space) / active / soap_intensity(space, std::max(memory_words, share)).rho;
    return above_rounding(needed - share, needed);
}

}  // namespace arges
