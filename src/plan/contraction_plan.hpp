/// The plan of one pairwise operation: a value that says everything the executor will do.
#pragma once

#include "plan/index_groups.hpp"
#include "plan/plan_options.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace arges {

/// An operand as the local kernel sees it: a dense array over the groups that it contains.
struct WorkingOperand {
    std::vector<int> groups;  ///< group of each slot, fastest first
    std::vector<int> labels;  ///< label of each dimension of the layout
    Layout layout;
    bool in_place = false;    ///< the tensor's own array is used; nothing moves
    bool operator==(const WorkingOperand&) const = default;
};

/// A contracted group that is cut into `count` windows of packed indices: one level of recursive SUMMA.
struct PanelLevel {
    int group = 0;
    std::int64_t count = 1;
    bool operator==(const PanelLevel&) const = default;
};

/// An input that is one pair node, read where it lies: row by row, each rank the rows that it has. The other input is copied to
/// every rank and the result is a sum over the ranks, so this pays where they are much smaller.
struct PairRows {
    Operand operand = operand_a;                ///< the input that stays
    std::array<std::vector<int>, 2> factors;    ///< by child: the groups that make up its packed index, fastest first
    bool once = false;                          ///< the mirror image of the result is added by its movement to the output
    bool operator==(const PairRows&) const = default;
};

/// Predictions for the busiest rank. Times in seconds, sizes in bytes.
struct PlanCost {
    double seconds = 0;
    double flops = 0;                   ///< executed on the busiest rank, padding included
    double useful_flops = 0;            ///< needed over all ranks, each orbit once
    std::int64_t working_bytes = 0;     ///< peak of working copies and message buffers
    std::array<std::int64_t, 3> words{};///< estimated elements received for A and B, sent for C
    bool operator==(const PlanCost&) const = default;
};

/// Steps in order: move or gather A and B into their working layouts (panel by panel if there are panels), multiply, and move,
/// reduce and project the result into the output.
struct ContractionPlan {
    Product spec;
    RankGrid grid;                           ///< of all ranks
    std::vector<SlotMapping> group_mapping;  ///< per group
    std::vector<std::int64_t> group_places;  ///< per group: ranks along it
    std::array<WorkingOperand, 3> operand;   ///< A, B, raw result R (B unused with one input)
    std::optional<PairRows> rows;            ///< set: the local product is one over rows, the groups are on no torus dimension
    std::vector<PanelLevel> panels;          ///< empty: everything is gathered at once
    int weighted_operand = -1;               ///< the working copy that is scaled by orbit sizes, or -1
    double weight = 1;                       ///< constant orbit size of summed groups
    PlanCost cost;

    bool unary() const { return spec.factors.size() == 1; }
    std::vector<IndexGroup> groups() const { return index_groups(spec); }
    /// The movement of an input into its working layout (without windows), or of the result into the output.
    ExchangeSpec movement(Operand o) const;
    bool operator==(const ContractionPlan&) const = default;
};

/// Finds the fastest plan over all assignments of torus dimensions to groups within the memory limit.
/// @throws OutOfMemory with the need and the limit if no plan fits
ContractionPlan plan_contraction(const Product& spec, const PlanOptions& options);

/// The plan for given mappings of the groups; used by the search and by tests.
ContractionPlan plan_with_mapping(const Product& spec, const std::vector<IndexGroup>& groups,
                                  const std::vector<SlotMapping>& mapping, const PlanOptions& options);

/// Exact elements moved by a rank for each operand; A and B into working layouts, C out.
std::array<Volume, 3> exact_volume(const ContractionPlan& plan, std::int64_t rank);

/// Number of panels in all.
std::int64_t panel_count(const ContractionPlan& plan);

/// The working layout of an operand cut to one panel.
Layout panel_layout(const ContractionPlan& plan, Operand o, std::int64_t panel);

/// Text of the plan: grid, steps with bytes per rank, flops, padding, memory, lower bound.
std::string explain(const ContractionPlan& plan);

}  // namespace arges
