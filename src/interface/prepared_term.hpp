/// One product of a statement, checked and planned: independent of the tensors' elements, so that it can be kept.
#pragma once

#include "arges/expression.hpp"
#include "execute/run_product.hpp"
#include "interface/world_state.hpp"
#include "plan/product/plan_product.hpp"
#include "redistribute/movement_run.hpp"

#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace arges {

/// A factor or the output as far as planning is concerned.
struct PlannedOperand {
    std::shared_ptr<const Layout> layout;
    std::vector<std::string> labels;
    bool conjugated = false;
    std::string name;
    bool is_lasting = false;  ///< see OperandSpec
};

/// A product to be planned.
struct TermRequest {
    std::vector<PlannedOperand> factors;
    PlannedOperand output;
    Projection projection = Projection::none;  ///< none: the statement has the symmetry
    std::vector<std::string> repeated{}, summed{};  ///< labels that broadcast() and sum() name
    bool zero = false;            ///< the coefficient is zero
    bool real_coefficient = true; ///< the coefficient is real
    bool number = false;          ///< the only factor stands for the number 1
    bool complex = false;
    bool is_field = true;         ///< elements have halves and negatives: parts of operands may be formed
    std::int64_t element_bytes = 8;
    bool output_is_free = false;  ///< all of the output is replaced: it may take another layout
    std::int64_t expected_runs = 1;
};

/// What runs a step, in the order of PlannedWork.
using StepRun = std::variant<std::shared_ptr<MovementRun>, std::shared_ptr<ProductRun>>;

/// Steps of a product (plan/plan_product.hpp), made ready to run.
class PreparedTerm {
public:
    /// Checks labels, extents and symmetry, chooses the order of pairwise steps and plans each, within `free_bytes` of memory on a rank.
    /// Local; the same on every rank. @throws InvalidArgument, Unsupported, OutOfMemory
    PreparedTerm(WorldState& world, TermRequest request, std::int64_t free_bytes);

    /// The same for all ranks that have planned the same.
    std::uint64_t digest() const;
    /// Are the steps those of the other?
    bool plans_like(const PreparedTerm& other) const;
    /// True if the steps are those for any number of runs to come.
    bool is_for_any_runs() const { return for_any_runs_; }
    void set_for_any_runs() { for_any_runs_ = true; }

    /// Builds the movements' lists and checks their memory against what is free; plans anew with less where plans were too
    /// optimistic. Collective the first time, nothing later. @throws OutOfMemory
    void make_ready(WorldState& world, std::int64_t free_bytes);
    bool is_ready() const { return ready_; }

    /// A step, without names, and what runs it; null until the term is ready, and on dry runs.
    struct Step {
        PlannedStep plan;
        StepRun run = {};
        std::int64_t workspace = 0;              ///< bytes on the busiest rank
    };

    const TermRequest& request() const { return request_; }
    /// The plans of the steps with the names of a request, which may have other ones than that which was planned.
    std::vector<PlannedStep> named_steps(const TermRequest& names) const;
    const std::vector<Step>& steps() const { return steps_; }
    const std::vector<std::shared_ptr<const Layout>>& intermediates() const { return intermediates_; }
    /// The layout that the output takes; null: the one that it has.
    const std::shared_ptr<const Layout>& new_output_layout() const { return output_layout_; }
    /// Where factors lie after the product; null: where they are.
    const std::vector<std::shared_ptr<const Layout>>& stay() const { return stay_; }
    /// Bytes that this rank sends.
    std::int64_t planned_bytes() const { return planned_bytes_; }
    /// Bytes on the busiest rank beside the tensors: workspace, intermediates, and tensors' new places.
    std::int64_t working_bytes() const { return working_bytes_; }
    /// Those of them that are taken from the workspace.
    std::int64_t workspace_bytes() const { return working_bytes_ - new_place_bytes_; }
    /// Memory of the movements' lists on the busiest rank, in bytes.
    std::int64_t list_bytes() const { return list_bytes_; }
    /// Memory of the rest of the plan, about, in bytes.
    std::int64_t plan_bytes() const;
    /// Bytes that are needed for a while in addition, at most; of a dry run only: while lists are built, and for copies that the
    /// products of a rank make of parts of their operands.
    std::int64_t passing_bytes() const { return passing_bytes_; }
    /// Modelled time of a run; of a dry run only.
    double seconds() const { return seconds_; }
    /// The plan as text, with the names of a request.
    std::string explain(const TermRequest& names) const;

private:
    void build(WorldState& world, std::int64_t memory);
    void build_lists(WorldState& world);
    void note_new_layouts(WorldState& world);
    template <class Run>
    void account(Step& step, const Run& run);
    void compare_with_plan(const Step& step) const;

    TermRequest request_;
    PlanOptions options_;                ///< with which the steps were planned
    bool ready_ = false, for_any_runs_ = false;
    double seconds_ = 0;
    bool tensors_may_move_ = true;   ///< the output and the factors may lie elsewhere afterwards
    std::vector<Step> steps_;
    std::vector<std::shared_ptr<const Layout>> intermediates_, stay_;
    std::shared_ptr<const Layout> output_layout_;
    std::int64_t planned_bytes_ = 0, working_bytes_ = 0, new_place_bytes_ = 0, list_bytes_ = 0, passing_bytes_ = 0;
};

}  // namespace arges
