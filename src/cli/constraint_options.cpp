#include "cli/constraint_options.hpp"

#include "arges/error.hpp"
#include "base/read_number.hpp"
#include "cli/world_options.hpp"

#include <algorithm>

namespace arges::cli {

namespace {

struct GivenConstraint {
    int mode = 0;  ///< from 1; 0: all
    CpConstraint constraint{};
};

/// @throws InvalidArgument unless a text is as 2:nonnegative or all:smooth=0.1
GivenConstraint parse_given(const std::string& text) {
    const auto colon = text.find(':');
    const auto mode = text.substr(0, colon);
    GivenConstraint given;
    const bool is_mode = mode == "all" || (read_number(mode, given.mode) && given.mode >= 1 && given.mode <= ConstraintOptions::most_modes);
    if (colon == std::string::npos || !is_mode)
        throw InvalidArgument("'" + text + "' must be a mode, from 1, or all, and a constraint: 2:nonnegative, all:smooth=0.1");
    given.constraint = parse_constraint(text.substr(colon + 1));
    return given;
}

}  // namespace

void ConstraintOptions::declare(CLI::App& app) {
    app.add_option("--constraint", texts_,
                   "of a factor, MODE:KIND[=WEIGHT], repeatable; MODE from 1, or all; KIND: nonnegative, l1=W, nonnegative-l1=W, l2=W, "
                   "smooth=W, unimodal, orthogonal, row-simplex or column-simplex")
        ->take_all()
        ->check(accepted_by([](const std::string& text) { parse_given(text); }, "MODE:KIND"));
}

std::vector<CpConstraint> ConstraintOptions::of(int order) const {
    std::vector<CpConstraint> result(texts_.empty() ? 0 : order);
    for (const auto& text : texts_) {
        const auto [mode, constraint] = parse_given(text);
        if (mode > order)
            throw InvalidArgument("--constraint " + text + ": the tensor has " + std::to_string(order) + " modes; use one from 1 to " +
                                  std::to_string(order));
        if (mode == 0)
            std::fill(result.begin(), result.end(), constraint);
        else
            result[mode - 1] = constraint;
    }
    return result;
}

bool ConstraintOptions::has(const std::string& name) const {
    return std::any_of(texts_.begin(), texts_.end(), [&](const auto& text) { return to_string(parse_given(text).constraint) == name; });
}

std::vector<std::string> constraint_texts(const std::vector<CpConstraint>& constraints) {
    std::vector<std::string> texts;
    for (const auto& constraint : constraints) texts.push_back(to_string(constraint));
    return texts;
}

}  // namespace arges::cli
