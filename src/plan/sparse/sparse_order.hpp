/// The order in which a product with sparse factors is computed: two by two while several are sparse, the pair with the fewest expected
/// multiplications first, then all dense ones at once. Pure: what only nonzeros can tell is asked for.
#pragma once

#include "plan/sparse/sparse_step.hpp"

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <variant>
#include <vector>

namespace arges {

/// A factor, or what steps have made of some.
struct OrderedFactor {
    std::vector<int> labels;
    double nonzeros = 0;  ///< expected; of a sparse one
    bool is_sparse = false;
    bool is_mask = false;
    bool is_actor = false;  ///< of another type, whose elements act on those of the other factor
};

/// What becomes of the factors.
struct OrderedTerm {
    std::vector<std::int64_t> extents;  ///< by label
    std::vector<int> output;            ///< each label once
    bool makes_sparse = false;          ///< the last step has a sparse result
    bool acts = false;                  ///< a factor acts on another one
};

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
std::variant<StepChoice, std::vector<FactorPair>> next_step(const OrderedTerm& term, const std::vector<OrderedFactor>& factors,
                                                            const MeasuredPairs& measured);

/// Labels of two factors that a product with some labels has; ascending.
std::vector<int> kept_labels(const OrderedFactor& a, const OrderedFactor& b, const std::vector<int>& output);

}  // namespace arges
