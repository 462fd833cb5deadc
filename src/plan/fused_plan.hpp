/// Plans of products of several tensors that run on one grid: every rank has a block of the iteration space, gathers the blocks of
/// the operands that belong to it, multiplies them in a chain, and the partial results are summed while they move to the output
/// (deinsum-2022, section IV). MTTKRP is such a product: the large tensor stays, factor rows are gathered, the result is
/// reduced and scattered.
#pragma once

#include "plan/contraction_plan.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace arges {

/// Which two are multiplied one after the other: step s multiplies two of the factors and earlier results, which have the numbers factors.size() + s.
using PairOrder = std::vector<std::array<int, 2>>;

/// One product of the chain on a rank.
struct LocalStep {
    int first = 0, second = 0;   ///< inputs, or results of earlier steps
    std::vector<int> labels;     ///< of the result, fastest first
    int buffer = -1;             ///< where the result is kept; -1: it is the result of the chain
    bool operator==(const LocalStep&) const = default;
};

/// What every rank does. Where the output is free, spec.output.layout is the layout that it gets.
struct FusedPlan {
    Product spec;
    PairOrder order;
    RankGrid grid;                            ///< of the ranks that take part; the others are idle
    std::vector<SlotMapping> label_mapping;   ///< per label
    std::vector<WorkingOperand> inputs;       ///< dense over their labels (`groups` are labels)
    WorkingOperand result;
    std::vector<LocalStep> steps;
    int buffers = 0;                          ///< number of arrays for intermediate results
    int sliced_label = -1;                    ///< the chain runs once per window of this label's indices; -1: once
    std::int64_t slices = 1;                  ///< number of windows
    std::vector<std::int64_t> words;          ///< estimated elements received for each input, sent for the output
    /// Per input: where the tensor should stay after this product, if the same product would then move less. Each rank has these
    /// elements in its copy already.
    std::vector<std::optional<Layout>> stay;
    PlanCost cost;

    /// Labels of a node of the chain: an input's block, or the result of a step.
    const std::vector<int>& labels_of(int node) const;
    /// Ranks along a label.
    std::int64_t places(int label) const;
    /// Indices of a label that a rank has in a slice: `place` is its place along the label.
    std::int64_t local_extent(int label, std::int64_t place, std::int64_t slice) const;
    /// True if operand `i` (inputs.size(): the result) has the sliced label.
    bool is_sliced(std::size_t i) const;
    /// The working layout of operand `i` cut to a slice.
    Layout slice_layout(std::size_t i, std::int64_t slice) const;
    /// The movement of input `i` into its block, or for i = inputs.size() that of the result to the output.
    ExchangeSpec movement(std::size_t i) const;
    /// The part of it that belongs to a slice.
    ExchangeSpec movement(std::size_t i, std::int64_t slice) const;
    bool operator==(const FusedPlan&) const = default;
};

/// Finds the fastest of the grids (PlanOptions::grids) and mappings within the memory limit; none if there is no grid that fits.
/// Labels must occur in an operand; labels that are repeated within an operand are diagonals.
std::optional<FusedPlan> plan_fused(const Product& spec, const PairOrder& order, const PlanOptions& options);

/// Seconds on the best grid from block sizes alone, for comparisons between ways to fuse.
double quick_seconds(const Product& spec, const PairOrder& order, const PlanOptions& options);

/// The plan for given mappings of the labels on a grid; used by the search and by tests.
FusedPlan fused_with_mapping(const Product& spec, const PairOrder& order, const RankGrid& grid, std::vector<SlotMapping> mapping, const PlanOptions& options);

/// Cuts the plan into slices of the label that saves most until it fits into the limit. The bytes moved stay as they are; products
/// without the label are repeated.
void slice_to_fit(FusedPlan& plan, const PlanOptions& options);

/// Fills plan.stay.
void choose_where_inputs_stay(FusedPlan& plan);

/// True if a tensor's own array is its block: its slots are labels, mapped as the plan wants them.
bool lies_right(const FusedPlan& plan, const OperandSpec& tensor);

/// The output without labels that the inputs lack, along which the movement of the result broadcasts.
OperandSpec raw_result(const Product& spec);

/// True if the result may be formed in the output's own array: nothing is summed, projected or broadcast on the way there.
bool may_form_in_place(const FusedPlan& plan);

/// The blocks that the plan wants of a tensor, cut further along the torus dimensions that would hold copies or parts of a sum: from
/// there inputs are gathered, and there results are summed, with the fewest bytes. Empty for a diagonal or with symmetry.
std::optional<Layout> scattered_layout(const FusedPlan& plan, const OperandSpec& tensor);
/// The mappings of its slots.
std::optional<std::vector<SlotMapping>> scattered_mapping(const FusedPlan& plan, const OperandSpec& tensor);

/// Text of the plan.
std::string explain(const FusedPlan& plan);

}  // namespace arges
