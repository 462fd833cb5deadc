/// Plans a product of any number of tensors: the order of its pairwise products, which of them run fused on one grid, and where
/// intermediates lie. Pure.
#pragma once

#include "plan/contraction_plan.hpp"
#include "plan/fused_plan.hpp"

#include <optional>
#include <vector>

namespace arges {

/// output = (projection of) sum over labels of the product of the factors.
struct ProductSpec {
    std::vector<OperandSpec> factors;
    OperandSpec output;
    std::vector<std::int64_t> label_extents;
    std::vector<std::string> label_names;
    std::vector<LabelTerm> terms;          ///< projection onto the output's symmetry; the identity comes first
    bool output_is_free = false;           ///< the output may take any layout: all of it is replaced
    bool complex = false;
    bool coefficient_inside = false;       ///< terms conjugate and the coefficient is complex: it must be applied before the movement
    std::int64_t element_bytes = 8;
    bool operator==(const ProductSpec&) const = default;
};

/// Names the output among the operands of the steps.
inline constexpr int output_operand = -1;

/// A movement, a pairwise product or a fused one. Operands are numbered: the factors, then intermediates.
struct PlannedStep {
    std::vector<int> inputs;
    int output = output_operand;
    std::optional<ExchangeSpec> movement;
    std::optional<ContractionPlan> contraction;
    std::optional<FusedPlan> fused;
    bool conjugated = false;   ///< of a movement
    double factor = 1;         ///< number in front

    double seconds(std::int64_t element_bytes, const MachineModel& machine) const;
    bool operator==(const PlannedStep&) const = default;
};

/// Steps in order. Several steps may write to the output: the first one replaces, the others add.
struct PlannedProduct {
    std::vector<PlannedStep> steps;
    std::vector<Layout> intermediates;
    bool for_any_runs = false;  ///< the plan is the same for any number of expected runs

    double seconds(std::int64_t element_bytes, const MachineModel& machine) const;
};

/// Gives the tensors and labels in the steps the names that they have in `spec`; plans do not depend on names.
void set_names(std::vector<PlannedStep>& steps, const ProductSpec& spec);

/// The product with its tensors where the plan leaves them: as it is planned the next time.
ProductSpec settled(const PlannedProduct& plan, ProductSpec spec);

/// How many ranks would do where a product does not fit, as the end of a message: the present number doubled until there is a plan
/// within the limit; empty if that does not help.
std::string ranks_advice(const ProductSpec& spec, const PlanOptions& options);

/// @throws OutOfMemory with the need and the limit if a step does not fit into the memory limit
PlannedProduct plan_product(const ProductSpec& spec, const PlanOptions& options);

}  // namespace arges
