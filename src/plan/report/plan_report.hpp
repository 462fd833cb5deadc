/// What a plan will do, in numbers and texts: for explain(), for `arges plan` and for tests; and what its operands are called there. Pure.
#pragma once

#include "plan/product/plan_product.hpp"
#include "plan/report/step_bounds.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace arges {

/// How a step is computed.
enum class StepKind : std::uint8_t {
    movement,  ///< elements change their layout
    pairwise,  ///< one product of two factors, or a sum of one
    rows,      ///< a product that reads a pair node by rows where it lies
    fused      ///< a chain of products on one grid
};

/// "movement", "pairwise", "rows" or "fused".
std::string to_string(StepKind kind);
StepKind kind_of(const ProductPlan& plan);

/// The ranks along an axis: a label or a packed group.
struct GridPart {
    std::string label;
    std::int64_t ranks = 1;
    bool in_blocks = false;           ///< a group whose dimensions are spread each by itself, else by its packed index
    std::int64_t virtual_blocks = 1;  ///< on a rank
};

/// "(ab)=4", or "(ab)=4 (2 virtual blocks)".
std::string to_string(const GridPart& part);

/// An axis that is worked on in ranges.
struct WindowReport {
    std::string label;
    std::int64_t count = 1;
    bool is_summed = false;
};

/// What a movement puts on the links, if all ranks move as much as the busiest one.
struct LinkReport {
    double busiest = 0, mean = 0;     ///< bytes
    double hops = 0;                  ///< of a message on average
    std::int64_t messages = 0;        ///< of a rank
    std::vector<std::string> stages;  ///< of a movement that is relayed: "ring of 16", "line of 4", "4 each to each"
};

/// What happens to one tensor of a step. Bytes of the busiest rank, and of all ranks.
struct OperandReport {
    std::string name;
    std::string at_rest;              ///< layout of the tensor itself
    std::string working;              ///< layout that the step multiplies in, or for a movement the target's
    std::vector<std::string> broken;  ///< groups that are stored as one but not multiplied as one: the tensor is unpacked for this step
    bool is_result = false;
    bool stays = false;  ///< it lies right: nothing moves
    std::int64_t most_sent = 0, most_received = 0, total = 0;
    std::optional<LinkReport> links;  ///< where the machine has links to tell apart, and all ranks take part
};

/// One step. Bytes are counted from the movements' lists.
struct StepReport {
    std::string statement;  ///< C[ij] <- A[ik] * B[kj]
    StepKind kind = StepKind::pairwise;
    std::int64_t ranks = 1;
    std::vector<GridPart> grid;      ///< every axis; empty for a movement
    std::int64_t working_ranks = 1;  ///< the others are idle
    std::int64_t repetition = 1;     ///< so many ranks do the same work
    std::string rows_of;             ///< the tensor that is read by rows
    std::vector<WindowReport> windows;
    bool streams = false;            ///< the next window's inputs are under way during products
    std::vector<std::string> chain;  ///< products on each rank, for fused steps: ij,jk->ik
    std::vector<OperandReport> operands;
    std::int64_t counted_ranks = 1;  ///< bytes are from so many ranks, evenly chosen
    std::int64_t bytes = 0;          ///< inputs received and results sent by the busiest rank
    std::int64_t bytes_sent = 0;     ///< all that the busiest rank sends
    std::int64_t bytes_total = 0;    ///< sent by all ranks
    StepBounds bounds;               ///< of `bytes`
    double flops = 0;                ///< of the busiest rank
    double useful_flops = 0;         ///< over all ranks
    double padding = 0;              ///< of products: so many more than useful ones are done, as a share; repetition does not count
    std::int64_t working_bytes = 0;
    double seconds = 0;  ///< predicted
};

/// A whole product.
struct PlanReport {
    std::vector<StepReport> steps;
    std::string reason;  ///< a sentence, if a product is computed in parts: why
    std::int64_t ranks = 1;
    std::int64_t bytes = 0, bytes_sent = 0, bytes_total = 0;  ///< as in StepReport, over all steps
    double bound_bytes = 0;  ///< the largest bound of a step: it holds for every way that computes these steps
    StepBounds at_once;      ///< binds only algorithms that evaluate the product at once, point by point
    double flops = 0, useful_flops = 0;
    double seconds = 0;
    std::int64_t tensor_bytes = 0;  ///< factors and output on the busiest rank
    double tensor_padding = 0;      ///< so many more than they would take if each rank had its share of the packed elements, as a share
    std::int64_t peak_bytes = 0;    ///< intermediates and working memory on the busiest rank
};

/// The report of a plan. `options` are those that it was planned with.
PlanReport plan_report(const PlannedProduct& plan, const Product& spec, const PlanOptions& options);

/// The report of a single step.
StepReport step_report(const ProductPlan& plan, const PlanOptions& options);

/// The steps one by one: grid, bytes of each tensor, flops, memory, lower bounds, intensity and predicted seconds; and the whole
/// where there are several.
std::string explain(const PlanReport& report);

/// One step.
std::string explain(const StepReport& step);
std::string explain(const ProductPlan& plan);

/// The movement of a step that makes the part of a tensor that is symmetric or antisymmetric in its pairs (plan/pair_split), else null.
/// Only such a movement goes to an intermediate.
const Movement* part_movement(const PlannedStep& step);
/// Is it the antisymmetric one?
bool is_antisymmetric_part(const Movement& part);

/// Names by number: factors and output have their own, A+ and A- are the symmetric and the antisymmetric part of A, other
/// intermediates are counted.
std::map<int, std::string> operand_names(const std::vector<PlannedStep>& steps, const Product& spec);

}  // namespace arges
