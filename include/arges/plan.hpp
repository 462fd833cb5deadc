/// @file plan.hpp
/// What a product of tensors would move and compute, on a machine that need not be there.
#pragma once

#include "arges/element_type.hpp"
#include "arges/group_mapping.hpp"
#include "arges/machine.hpp"
#include "arges/torus.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace arges {

/// A label's length in the tile that a rank should hold in its cache.
struct TileLength {
    std::string label;  ///< of the product
    double length = 1;  ///< at most its size
};

/// What bounds a step from below. Bytes per rank are input words received and results sent, and hold for the busiest rank.
struct StepBounds {
    double memory_independent_bytes = 0;  ///< whatever the memory
    double memory_dependent_bytes = 0;    ///< with the memory that the options allow beside the step's tensors
    double intensity = 0;                 ///< rho: products per word moved into a cache of MachineModel::cache_bytes; infinite if all fits
    std::vector<TileLength> tiles;        ///< that attain the intensity

    /// The larger of both.
    double bytes() const { return memory_independent_bytes > memory_dependent_bytes ? memory_independent_bytes : memory_dependent_bytes; }
};

/// How a step is computed.
enum class StepKind : std::uint8_t {
    movement,  ///< elements change their layout
    pairwise,  ///< one product of two factors, or a sum of one
    rows,      ///< a product that reads a pair node by rows where it lies
    fused      ///< a chain of products on one grid
};

/// "movement", "pairwise", "rows" or "fused".
std::string to_string(StepKind kind);

/// The ranks along an axis: a label or a packed group.
struct GridPart {
    std::string label;                ///< of a group in parentheses
    std::int64_t ranks = 1;           ///< along it
    bool in_blocks = false;           ///< a group whose dimensions are spread each by itself, else by its packed index
    std::int64_t virtual_blocks = 1;  ///< on a rank
};

/// "(ab)=4", or "(ab)=4 (2 virtual blocks)".
std::string to_string(const GridPart& part);

/// An axis that is worked on in ranges.
struct WindowReport {
    std::string label;       ///< of the axis
    std::int64_t count = 1;  ///< of the ranges
    bool is_summed = false;  ///< over the axis
};

/// What a movement puts on the links, if all ranks move as much as the busiest one.
struct LinkReport {
    double busiest = 0;               ///< bytes on the busiest link
    double mean = 0;                  ///< bytes on a link on average
    double hops = 0;                  ///< of a message on average
    std::int64_t messages = 0;        ///< of a rank
    std::vector<std::string> stages;  ///< of a movement that is relayed: "ring of 16", "line of 4", "4 each to each"
};

/// What happens to one tensor of a step. Bytes of the busiest rank, and of all ranks.
struct OperandReport {
    std::string name;                 ///< of the tensor
    std::string at_rest;              ///< layout of the tensor itself
    std::string working;              ///< layout that the step multiplies in, or for a movement the target's
    std::vector<std::string> broken;  ///< groups that are stored as one but not multiplied as one: the tensor is unpacked for this step
    bool is_result = false;           ///< else a factor
    bool stays = false;               ///< it lies right: nothing moves
    std::int64_t most_sent = 0;       ///< bytes that a rank sends
    std::int64_t most_received = 0;   ///< bytes that a rank receives
    std::int64_t total = 0;           ///< bytes of all ranks
    std::optional<LinkReport> links;  ///< where the machine has links to tell apart, and all ranks take part
};

/// One step. Bytes are counted from the movements' lists.
struct StepReport {
    std::string statement;                ///< C[ij] <- A[ik] * B[kj]
    StepKind kind = StepKind::pairwise;   ///< how it is computed
    std::int64_t ranks = 1;               ///< of the machine
    std::vector<GridPart> grid;           ///< every axis; empty for a movement
    std::int64_t working_ranks = 1;       ///< the others are idle
    std::int64_t repetition = 1;          ///< so many ranks do the same work
    std::string rows_of;                  ///< the tensor that is read by rows
    std::vector<WindowReport> windows;    ///< ranges, one after the other, for lack of memory
    bool streams = false;                 ///< the next window's inputs are under way during products
    std::vector<std::string> chain;       ///< products on each rank, for fused steps: ij,jk->ik
    std::vector<OperandReport> operands;  ///< the tensors of the step
    std::int64_t counted_ranks = 1;       ///< bytes are from so many ranks, evenly chosen
    std::int64_t bytes = 0;               ///< inputs received and results sent by the busiest rank
    std::int64_t bytes_sent = 0;          ///< all that the busiest rank sends
    std::int64_t bytes_total = 0;         ///< sent by all ranks
    StepBounds bounds;                    ///< of `bytes`
    double flops = 0;                     ///< of the busiest rank
    double useful_flops = 0;              ///< over all ranks
    double padding = 0;                   ///< of products: so many more than useful ones are done, as a share; repetition does not count
    std::int64_t working_bytes = 0;       ///< on the busiest rank
    std::string place;                    ///< "device" or "host", where there is a device for the elements; else empty
    std::int64_t crossing_bytes = 0;      ///< that pass between the memories of host and device on the busiest rank, messages apart
    double seconds = 0;                   ///< predicted
};

/// A whole product.
struct PlanReport {
    std::vector<StepReport> steps;  ///< in order
    std::string reason;             ///< a sentence, if a product is computed in parts: why
    std::int64_t ranks = 1;         ///< of the machine
    std::int64_t bytes = 0;         ///< as in StepReport, over all steps
    std::int64_t bytes_sent = 0;    ///< likewise
    std::int64_t bytes_total = 0;   ///< likewise
    double bound_bytes = 0;         ///< the largest bound of a step: it holds for every way that computes these steps
    StepBounds at_once;             ///< binds only algorithms that evaluate the product at once, point by point
    double flops = 0;               ///< likewise
    double useful_flops = 0;        ///< likewise
    double seconds = 0;             ///< predicted
    std::int64_t tensor_bytes = 0;  ///< factors and output on the busiest rank
    double tensor_padding = 0;      ///< so many more than they would take if each rank had its share of the packed elements, as a share
    std::int64_t peak_bytes = 0;    ///< intermediates and working memory on the busiest rank
};

/// The steps one by one: grid, bytes of each tensor, flops, memory, lower bounds, intensity and predicted seconds; and the whole
/// where there are several.
std::string explain(const PlanReport& report);

/// A product of tensors that need not exist, and the machine to plan it for.
struct PlanRequest {
    std::string einsum;                                 ///< as for einsum(); its operands are called A, B, ..., its result R
    std::map<char, std::int64_t> sizes{};               ///< of each label
    ElementType element = ElementType::float64;         ///< of the tensors: float32, float64 or complex128
    std::map<std::size_t, std::string> symmetries{};    ///< by operand, from 0: "antisym(i,j)", see Symmetry::parse()
    PlannedMachine machine{};                           ///< ranks, shape and constants
    GroupMapping group_mapping = GroupMapping::packed;  ///< how symmetric groups are spread
    std::optional<std::int64_t> memory_limit{};         ///< bytes per rank, of tensors and working memory; none: no limit
    int run = 1;  ///< the plan is for this run of the same product: tensors lie where the one before has left them
};

/// A plan and what it has cost.
struct EinsumPlan {
    Torus torus;                   ///< that was planned for
    PlanReport report;             ///< what the plan does
    double planning_seconds = 0;   ///< to find it
    double reporting_seconds = 0;  ///< to count its bytes and bounds
};

/// What operand `number` of a planned einsum, from 0, is called: A to Q, then A18, ...
std::string operand_name(std::size_t number);

/// Plans an einsum over tensors in the layouts that new ones get; tensors stay where a run leaves them. Local, without MPI.
/// @throws InvalidArgument if the parts of the request do not fit together; OutOfMemory if the limit is too low
EinsumPlan plan_einsum(const PlanRequest& request);

}  // namespace arges
