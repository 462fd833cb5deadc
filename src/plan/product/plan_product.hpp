/// Plans a product of any number of tensors: the order of its pairwise products, which of them run fused on one grid, and where
/// intermediates lie. Pure.
#pragma once

#include "plan/product/product_plan.hpp"

#include <optional>
#include <variant>
#include <vector>

namespace arges {

/// Names the output among the operands of the steps.
inline constexpr int output_operand = -1;

/// Moves a tensor.
struct PlannedMovement {
    Movement spec;
    bool conjugated = false;
    bool from_device = false, to_device = false;  ///< the memories
    bool operator==(const PlannedMovement&) const = default;
};

/// What a step is: a movement, or a product of tensors on one grid.
using PlannedWork = std::variant<PlannedMovement, ProductPlan>;

/// A step of a product. Operands are numbered: the factors, then intermediates.
struct PlannedStep {
    std::vector<int> inputs;
    int output = output_operand;
    PlannedWork work;
    double factor = 1;  ///< number in front

    /// Null if the step is something else.
    const ProductPlan* product() const { return std::get_if<ProductPlan>(&work); }
    /// Does its result lie in the memory of a device?
    bool to_device() const;
    double seconds(std::int64_t element_bytes, const PlanOptions& options) const;
    bool operator==(const PlannedStep&) const = default;
};

/// Steps in order. Several steps may write to the output: the first one replaces, the others add.
struct PlannedProduct {
    std::vector<PlannedStep> steps;
    std::vector<Layout> intermediates;
    bool for_any_runs = false;  ///< the plan is the same for any number of expected runs

    /// Does an intermediate lie in the memory of a device? @param number  as of operands of steps
    bool is_on_device(int number) const;

    double seconds(std::int64_t element_bytes, const PlanOptions& options) const;
};

/// Gives the tensors and labels in the steps the names that they have in `spec`; plans do not depend on names.
void set_names(std::vector<PlannedStep>& steps, const Product& spec);

/// An array of the workspace in this layout, in bytes on the busiest rank.
std::int64_t bytes_on_a_rank(const Layout& layout, std::int64_t element_bytes);

/// Intermediates, and tensors' new places beside the old ones, in bytes on the busiest rank. @param on_device_only  in a device's memory
std::int64_t intermediate_bytes(const PlannedProduct& plan, std::int64_t element_bytes);
std::int64_t new_place_bytes(const PlannedProduct& plan, const Product& spec, bool on_device_only = false);

/// The product with its tensors where the plan leaves them: as it is planned the next time.
Product settled(const PlannedProduct& plan, Product spec);

/// What the plan takes on any rank is within the memory limit, see memory_bound().
/// @throws OutOfMemory with the need, the limit, and how many ranks would do, if nothing fits into the memory limit
PlannedProduct plan_product(const Product& spec, const PlanOptions& options);
/// Likewise, or nothing if nothing fits.
std::optional<PlannedProduct> plan_that_fits(const Product& spec, const PlanOptions& options);

}  // namespace arges
