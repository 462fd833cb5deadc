/// The order in which a product with sparse factors is computed: two by two while several are sparse, the pair with the fewest expected
/// multiplications first, then all dense ones at once. Pure: what only nonzeros can tell is asked for.
#pragma once

#include "plan/sparse/sparse_step.hpp"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace arges {

/// Factors that a step takes, and what it gives.
struct StepChoice {
    std::vector<std::size_t> operands;  ///< sparse ones first
    std::vector<int> output;
    bool is_sparse = true;
    bool is_last = false;
};

/// Two sparse factors, whose product has some labels, ascending.
struct FactorPair {
    std::size_t a = 0, b = 0;
    std::vector<int> output;
    auto operator<=>(const FactorPair&) const = default;
};

/// How large products are; none: that cannot be found out, and nonzeros are taken to lie at random.
using MeasuredPairs = std::map<FactorPair, std::optional<ProductCounts>>;

/// The next step, or the products that must be measured before it is known.
/// @param factors  those of the product, or what steps before have left to multiply
std::variant<StepChoice, std::vector<FactorPair>> next_step(const Product& product, const std::vector<Operand>& factors,
                                                            const MeasuredPairs& measured);

/// A step as it is planned; where a dense result lies is up to the caller. @param counts  of its first two factors
SparseStep step_of(const Product& product, const std::vector<Operand>& factors, const StepChoice& choice,
                   const std::optional<ProductCounts>& counts);

/// What is left to multiply after a step: the other factors, then its result.
template <class Factor>
std::vector<Factor> after_step(const std::vector<Factor>& factors, const StepChoice& choice, Factor result) {
    std::vector<Factor> next;
    for (std::size_t f = 0; f < factors.size(); ++f)
        if (std::find(choice.operands.begin(), choice.operands.end(), f) == choice.operands.end()) next.push_back(factors[f]);
    next.push_back(std::move(result));
    return next;
}

/// What the counts of a product of two sparse factors are kept by.
std::string counts_key(const Operand& a, const Operand& b, const std::vector<int>& output);

/// Labels of two factors that a product with some labels has; ascending.
std::vector<int> kept_labels(const Operand& a, const Operand& b, const std::vector<int>& output);

}  // namespace arges
