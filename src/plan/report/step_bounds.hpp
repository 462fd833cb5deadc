/// Lower bounds and arithmetic intensity of the steps of a plan.
#pragma once

#include "arges/plan.hpp"
#include "plan/product/plan_product.hpp"
#include "plan/report/lower_bounds.hpp"

#include <string>
#include <vector>

namespace arges {

/// A step as the bounds see it.
struct BoundedStep {
    IterationSpace space;             ///< over axes, so that packed ones count packed
    std::vector<std::string> labels;  ///< text of each axis
    double ranks = 1;
    double share = 1;        ///< of the points of the space that must be computed
    double owned_words = 0;  ///< what a rank holds of the step's tensors before and after, on average
    double uses = 1;         ///< a stored word stands for at most so many places of a tensor of the space
    std::int64_t element_bytes = 8;
};

BoundedStep bounded_step(const ProductPlan& plan);
/// The product as a single statement.
BoundedStep bounded_step(const Product& spec);

/// Bounds of lower_bounds.hpp for the tensors where they lie: what every rank has a copy of counts as owned by every rank. Where
/// a symmetric tensor is unpacked, a stored word serves several places and zeros need none, so the bound is lower than that of a
/// dense tensor.
StepBounds step_bounds(const BoundedStep& step, const PlanOptions& options);

}  // namespace arges
