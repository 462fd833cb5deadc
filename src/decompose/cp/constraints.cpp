#include "decompose/cp/constraints.hpp"

#include "arges/error.hpp"
#include "base/read_number.hpp"
#include "base/spelling.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <cmath>

namespace arges {

namespace {

const std::vector<std::string> constraint_names{"none",   "nonnegative", "l1",         "nonnegative-l1", "l2",
                                                "smooth", "unimodal",    "orthogonal", "row-simplex",    "column-simplex"};

bool has_weight(CpConstraintKind kind) { return decompose::is_penalty(kind); }

std::string name_of(CpConstraintKind kind) { return constraint_names[static_cast<std::size_t>(kind)]; }

/// What is wrong with a weight, and the cure; "" where nothing is.
std::string weight_error(const CpConstraint& constraint) {
    const auto name = name_of(constraint.kind);
    if (!has_weight(constraint.kind)) return constraint.weight == 0 ? "" : "the constraint " + name + " has no weight; leave it out";
    if (constraint.weight > 0 && std::isfinite(constraint.weight)) return "";
    return "the weight of " + name + " must be a positive number; use " + name + "=0.1, for example";
}

}  // namespace

CpConstraint parse_constraint(const std::string& text) {
    const auto equals = text.find('=');
    auto name = text.substr(0, equals);
    std::replace(name.begin(), name.end(), '_', '-');
    if (name == "ridge") name = "l2";
    const auto found = std::find(constraint_names.begin(), constraint_names.end(), name);
    if (found == constraint_names.end()) {
        const auto nearest = nearest_word(name, constraint_names);
        throw InvalidArgument("there is no constraint '" + name + "'; " +
                              (nearest.empty() ? "use " + joined(constraint_names) : "did you mean " + nearest + "?"));
    }
    CpConstraint result{static_cast<CpConstraintKind>(found - constraint_names.begin())};
    const bool is_number = equals == std::string::npos || read_number(std::string_view(text).substr(equals + 1), result.weight);
    if (!is_number) result.weight = std::nan("");
    if (const auto error = weight_error(result); !error.empty()) throw InvalidArgument(error);
    return result;
}

std::string to_string(const CpConstraint& constraint) {
    return name_of(constraint.kind) + (has_weight(constraint.kind) ? "=" + printed("%g", constraint.weight) : "");
}

namespace decompose {

bool is_penalty(CpConstraintKind kind) {
    using enum CpConstraintKind;
    return kind == l1 || kind == nonnegative_l1 || kind == l2 || kind == smooth;
}

bool fixes_scale(CpConstraintKind kind) {
    using enum CpConstraintKind;
    return kind == orthogonal || kind == row_simplex || kind == column_simplex;
}

bool is_nonnegative(CpConstraintKind kind) {
    using enum CpConstraintKind;
    return kind == nonnegative || kind == nonnegative_l1 || kind == unimodal || kind == row_simplex || kind == column_simplex;
}

std::vector<CpConstraint> constraints_of(const CpOptions& options, int order) {
    auto result = options.constraints;
    if (result.size() == 1) result.resize(order, result[0]);
    const bool is_free = std::all_of(result.begin(), result.end(), [](const auto& c) { return c.kind == CpConstraintKind::none; });
    if (is_free) return {};
    result.resize(order);
    return result;
}

void check_constraints(const CpOptions& options, int order) {
    const auto refuse = [](const std::string& text) { throw InvalidArgument("CP decomposition: " + text); };
    const auto count = std::ssize(options.constraints);
    if (count > 1 && count != order)
        refuse(std::to_string(count) + " constraints for " + std::to_string(order) + " modes; give one for each mode, or one for all");
    for (const auto& constraint : options.constraints) {
        if (constraint.kind > CpConstraintKind::column_simplex)
            refuse("there is no constraint " + std::to_string(static_cast<int>(constraint.kind)) + "; use one of CpConstraintKind");
        if (const auto error = weight_error(constraint); !error.empty()) refuse(error);
    }
    if (constraints_of(options, order).empty()) return;
    if (options.algorithm != CpAlgorithm::als)
        refuse("constraints are for the algorithm als, which is AO-ADMM with them; leave the other algorithm out, or the constraints");
    if (options.pairwise_perturbation) refuse("pairwise perturbation is not for constrained factors; leave it out, or the constraints");
}

FactorUpdate update_of(CpConstraintKind kind, bool bounded) {
    using enum CpConstraintKind;
    if (kind == orthogonal) return FactorUpdate::orthogonal;
    if (kind == smooth) return FactorUpdate::smooth;
    if (bounded || kind == unimodal || kind == column_simplex) return FactorUpdate::columns;
    return kind == none || kind == l2 ? FactorUpdate::solve : FactorUpdate::rows;
}

bool is_bounded(const std::vector<CpConstraint>& constraints, double regularization, int mode) {
    const auto kind = constraints[static_cast<std::size_t>(mode)].kind;
    if (is_penalty(kind) || fixes_scale(kind) || regularization > 0) return false;
    return std::any_of(constraints.begin(), constraints.end(), [](const auto& c) { return is_penalty(c.kind); });
}

template <class T>
void project_to_simplex(std::span<T> x) {
    double threshold = -INFINITY;
    for (std::ptrdiff_t before = -1, count = std::ssize(x);; before = count) {
        double sum = 0;
        count = 0;
        for (const T v : x)
            if (static_cast<double>(v) > threshold) {
                sum += static_cast<double>(v);
                ++count;
            }
        if (count == before || count == 0) break;
        threshold = (sum - 1) / static_cast<double>(count);
    }
    for (T& v : x) v = static_cast<T>(std::max(0.0, static_cast<double>(v) - threshold));
}

template <class T>
void apply_row_constraint(const CpConstraint& constraint, double step, std::span<T> x) {
    const T threshold = static_cast<T>(constraint.weight / step);
    switch (constraint.kind) {
    case CpConstraintKind::nonnegative:
    case CpConstraintKind::nonnegative_l1:
        for (T& v : x) v = std::max(T(0), v - threshold);
        return;
    case CpConstraintKind::l1:
        for (T& v : x) v = std::copysign(std::max(T(0), std::abs(v) - threshold), v);
        return;
    case CpConstraintKind::row_simplex: return project_to_simplex(x);
    default: return;
    }
}

namespace {

/// Isotonic regressions of all beginnings of a sequence, not below 0.
class RisingParts {
public:
    explicit RisingParts(std::size_t size) { blocks_.reserve(size); }

    /// Adds an element; the squared error of the regression of all so far.
    double add(double x) {
        Block block{1, x, x * x, error()};
        while (!blocks_.empty() && blocks_.back().mean() >= block.mean()) {
            const auto& last = blocks_.back();
            block = {block.count + last.count, block.sum + last.sum, block.squares + last.squares, last.before};
            blocks_.pop_back();
        }
        blocks_.push_back(block);
        return error();
    }
    /// The regression of all so far, in order.
    void write(double* to) const {
        for (const auto& block : blocks_) to = std::fill_n(to, block.count, std::max(0.0, block.mean()));
    }

private:
    struct Block {
        std::int64_t count;
        double sum, squares, before;  ///< the error of earlier blocks

        double mean() const { return sum / static_cast<double>(count); }
    };
    double error() const {
        if (blocks_.empty()) return 0;
        const auto& last = blocks_.back();
        return last.before + last.squares - (last.sum > 0 ? last.sum * last.mean() : 0);
    }

    std::vector<Block> blocks_;
};

}  // namespace

void project_to_unimodal(std::vector<double>& x) {
    const auto n = x.size();
    std::vector<double> falling(n + 1, 0);  // errors of the ends, from each place on
    RisingParts ends(n);
    for (std::size_t i = n; i > 0; --i) falling[i - 1] = ends.add(x[i - 1]);
    RisingParts beginnings(n);
    double least = falling[0];
    std::size_t peak = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const double error = beginnings.add(x[i]) + falling[i + 1];
        if (error < least) {
            least = error;
            peak = i + 1;
        }
    }
    RisingParts left(peak), right(n - peak);
    for (std::size_t i = 0; i < peak; ++i) left.add(x[i]);
    for (std::size_t i = n; i > peak; --i) right.add(x[i - 1]);
    left.write(x.data());
    right.write(x.data() + peak);
    std::reverse(x.begin() + static_cast<std::ptrdiff_t>(peak), x.end());
}

void solve_smooth(std::span<const std::int64_t> index, std::int64_t length, double shift, double weight, std::vector<double>& b) {
    const auto n = b.size();
    std::vector<double> ratio(n, 0);  // of the upper triangle, once the lower one is gone
    const auto next_to_last = [&](std::size_t i) { return i > 0 && index[i - 1] + 1 == index[i]; };
    for (std::size_t i = 0; i < n; ++i) {
        double pivot = shift + weight * ((index[i] > 0 ? 1 : 0) + (index[i] + 1 < length ? 1 : 0));
        if (next_to_last(i)) {
            pivot += weight * ratio[i - 1];
            b[i] += weight * b[i - 1];
        }
        ratio[i] = -weight / pivot;
        b[i] /= pivot;
    }
    for (std::size_t i = n; i > 1; --i)
        if (next_to_last(i - 1)) b[i - 2] -= ratio[i - 2] * b[i - 1];
}

#define ARGES_INSTANTIATE(T)                                                                                                               \
    template void apply_row_constraint(const CpConstraint&, double, std::span<T>);                                                         \
    template void project_to_simplex(std::span<T>);
ARGES_INSTANTIATE(float)
ARGES_INSTANTIATE(double)
#undef ARGES_INSTANTIATE

}  // namespace decompose

}  // namespace arges
