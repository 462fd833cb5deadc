/// One product of a statement, checked and planned: independent of the tensors' elements, so that it can be kept.
#pragma once

#include "execute/run_product.hpp"
#include "interface/world/world_state.hpp"
#include "plan/product/plan_product.hpp"
#include "plan/product/step_memory.hpp"
#include "redistribute/movement_run.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace arges {

/// What runs a step, in the order of PlannedWork.
using StepRun = std::variant<std::shared_ptr<MovementRun>, std::shared_ptr<ProductRun>>;

/// Bytes on a rank that a statement may take.
struct FreeMemory {
    std::int64_t on_host = 0;
    std::optional<std::int64_t> on_device{};  ///< none: no device computes with its elements
};

/// The plan of a product, without names, made ready to run.
class PreparedTerm {
public:
    /// Works out the projection, chooses the order of pairwise steps and plans each, within the memory that is free.
    /// Local; the same on every rank. @throws InvalidArgument, Unsupported, OutOfMemory
    PreparedTerm(WorldState& world, const Product& product, std::int64_t expected_runs, const FreeMemory& free);
    PreparedTerm(const PreparedTerm&) = delete;
    PreparedTerm& operator=(const PreparedTerm&) = delete;
    ~PreparedTerm() { give_lists_back(); }

    /// The same for all ranks that have planned the same.
    std::uint64_t digest() const;
    /// Are the steps those of the other?
    bool plans_like(const PreparedTerm& other) const;
    /// True if the steps are those for any number of runs to come.
    bool is_for_any_runs() const { return plan_.for_any_runs; }
    void set_for_any_runs() { plan_.for_any_runs = true; }

    /// Builds the movements' lists where this rank has none. Collective. @throws OutOfMemory
    void make_ready(WorldState& world);
    bool is_ready() const { return ready_; }
    /// Frees the lists. Local, while the term does not run.
    void give_lists_back();

    /// What was planned.
    const Product& product() const { return product_; }
    /// Without names.
    const PlannedProduct& plan() const { return plan_; }
    /// By step what runs it; none until the term is ready, and on dry runs.
    const std::vector<StepRun>& runs() const { return runs_; }
    /// The steps with the names of a product, which may have other ones than that which was planned.
    std::vector<PlannedStep> named_steps(const Product& names) const;
    /// The product with its tensors where they lie afterwards.
    const Product& settled() const { return settled_; }
    /// Planned for more runs than one?
    bool expects_more_runs() const { return options_.expected_runs > 1; }
    /// Bytes that this rank sends.
    std::int64_t planned_bytes() const { return planned_bytes_; }
    /// Bytes on the busiest rank beside the tensors: workspace, intermediates, and tensors' new places.
    std::int64_t working_bytes() const { return workspace_bytes_ + new_place_bytes_; }
    /// Those in the memory of a device, with messages, at most.
    std::int64_t device_bytes() const { return device_bytes_; }
    /// Those of them that are taken from the workspace.
    std::int64_t workspace_bytes() const { return workspace_bytes_; }
    /// Memory of the movements' lists on the busiest rank, at most, in bytes.
    std::int64_t list_bytes() const { return memory_.lists; }
    /// That of them that the world accounts for while the term is ready.
    std::int64_t kept_lists() const { return memory_.kept_lists(); }
    /// Memory of the rest of the plan, about, in bytes.
    std::int64_t plan_bytes() const;
    /// Bytes that a run needs for a while in addition, at most; of a dry run only: for lists that are not kept, and for copies that the
    /// products of a rank make of parts of their operands.
    std::int64_t passing_bytes() const { return passing_bytes_; }
    /// Modelled time of a run.
    double seconds() const { return seconds_; }
    /// The plan as text, with the names of a product.
    std::string explain(const Product& names) const;

private:
    void leave_room_for_lists();
    void build_lists(WorldState& world);
    void note_dry_run(WorldState& world);

    Product product_;
    PlanOptions options_;  ///< with which the steps were planned
    PlannedProduct plan_;
    Product settled_;
    PlanMemory memory_;
    std::vector<StepRun> runs_;
    WorldState* world_;
    bool ready_ = false, is_noted_ = false;
    double seconds_ = 0;
    std::int64_t planned_bytes_ = 0, workspace_bytes_ = 0, new_place_bytes_ = 0, passing_bytes_ = 0, device_bytes_ = 0;
};

}  // namespace arges
