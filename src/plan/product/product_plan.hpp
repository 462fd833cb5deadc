/// The plan of a product that runs on one grid: a value that says everything the executor will do. Every rank has a block of the iteration
/// space, gathers the blocks of the operands that belong to it, multiplies them in a chain, and the partial results are summed while they
/// move to the output (deinsum-2022, section IV; with packed axes, cyclops-2012). A product of two factors is a chain of one link. MTTKRP
/// is a longer one: the large tensor stays, factor rows are gathered, the result is reduced and scattered.
#pragma once

#include "plan/movement/movement.hpp"
#include "plan/product/axes.hpp"
#include "plan/product/plan_options.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace arges {

/// Which two are multiplied one after the other: step s multiplies two of the factors and earlier results, which have the numbers
/// factors.size() + s.
using PairOrder = std::vector<std::array<int, 2>>;

/// An operand as the local products see it: a dense array over its axes.
struct WorkingOperand {
    std::vector<int> axes;    ///< of each slot, fastest first
    std::vector<int> labels;  ///< label of each dimension of the layout
    Layout layout;
    bool in_place = false;  ///< the tensor's own array is used; nothing moves
    bool operator==(const WorkingOperand&) const = default;
};

/// One product of the chain on a rank.
struct LocalProduct {
    int first = 0, second = no_second;    ///< factors, or results of earlier products
    std::vector<int> axes;                ///< of the result, fastest first
    int buffer = -1;                      ///< where the result is kept; -1: it is the result of the chain
    static constexpr int no_second = -1;  ///< the first is summed alone
    bool operator==(const LocalProduct&) const = default;
};

/// An axis of which a range is worked on at a time: a panel, if it is summed (one level of recursive SUMMA), else a slice. Of a group in
/// blocks, it is a range of the local indices of each rank, which are the same elements in all operands.
struct Window {
    int axis = 0;
    std::int64_t count = 1;  ///< ranges
    bool operator==(const Window&) const = default;
};

/// Windows in all.
std::int64_t window_count(const std::vector<Window>& windows);
/// Into so many windows an axis is cut.
std::int64_t windows_of(const std::vector<Window>& windows, int axis);

/// The parts into which windows cut an operand.
struct WindowParts {
    std::int64_t parts = 1;        ///< distinct ones
    std::int64_t repetitions = 1;  ///< how often each of them moves
    /// The fastest window that cuts the operand; none: it is worked on as a whole.
    std::optional<std::size_t> fastest;
};

/// @param windows  the first runs fastest
WindowParts window_parts(const std::vector<Window>& windows, const std::vector<Axis>& axes, std::size_t o);

/// An input that is one pair node, read where it lies: row by row, each rank the rows that it has. The other input is copied to
/// every rank and the result is a sum over the ranks, so this pays where they are much smaller.
struct PairRows {
    std::size_t operand = 0;                  ///< the input that stays
    std::array<std::vector<int>, 2> factors;  ///< by child: the axes that make up its packed index, fastest first
    std::int64_t threads = 1;                 ///< that multiply, at most
    bool once = false;                        ///< the mirror image of the result is added by its movement to the output
    bool operator==(const PairRows&) const = default;
};

/// Predictions for the busiest rank. Times in seconds, sizes in bytes.
struct PlanCost {
    double seconds = 0;
    double flops = 0;                 ///< executed on the busiest rank, padding included
    double useful_flops = 0;          ///< needed over all ranks, each orbit once
    std::int64_t working_bytes = 0;   ///< peak of working copies and message buffers
    std::vector<std::int64_t> words;  ///< estimated elements received for each input, sent for the output
    bool operator==(const PlanCost&) const = default;
};

/// What every rank does. Operands are numbered: the factors, then the result. Where the output is free, spec.output.layout is the layout
/// that it gets.
struct ProductPlan {
    Product spec;
    PairOrder order;
    RankGrid grid;  ///< of the ranks that take part; the others are idle
    std::vector<Axis> axes;
    std::vector<SlotMapping> mapping;        ///< per axis
    std::vector<std::int64_t> grid_lengths;  ///< per axis: ranks along it
    std::vector<WorkingOperand> operands;
    std::vector<LocalProduct> chain;
    int buffers = 0;                              ///< number of arrays for results inside of the chain
    std::optional<PairRows> rows;                 ///< set: the local product is one over rows, the axes are on no torus dimension
    std::vector<std::vector<RelayStage>> stages;  ///< by operand: of its movement, see Movement; empty: of none
    std::vector<Window> windows;                  ///< the first runs fastest; empty: everything is gathered at once
    bool streams = false;                         ///< see doubles_arrays(); inputs of a window come while those before are multiplied
    std::vector<int> weighted;                    ///< per axis: the factor whose working copy is scaled by orbit sizes, or -1
    double weight = 1;                            ///< constant orbit size of summed axes, and sign
    /// Per input: where the tensor should stay after this product, if the same product would then move less. Each rank has these
    /// elements in its copy already.
    std::vector<std::optional<Layout>> stay;
    /// Bytes of the lists of an operand's parts that are kept from run to run, at most; more of them are built as they are needed.
    std::int64_t most_kept_lists = std::int64_t{16} << 20;
    PlanCost cost;

    std::size_t result() const { return spec.factors.size(); }
    const Operand& tensor(std::size_t o) const { return o < result() ? spec.factors[o] : spec.output; }
    /// Axes of a node of the chain: of a factor, or of the result of a product.
    const std::vector<int>& axes_of_node(int node) const;
    /// Axes that a product of the chain runs over: those of its first factor, then the others of the second.
    std::vector<int> iteration_axes(const LocalProduct& product) const;
    bool is_weighted(std::size_t o) const;
    /// Windows in all.
    std::int64_t window_count() const { return arges::window_count(windows); }
    /// The fastest window that cuts an operand; none: it is worked on as a whole.
    std::optional<std::size_t> window_that_cuts(std::size_t o) const { return window_parts(windows, axes, o).fastest; }
    /// What windows cut is never in a rank's copy as a whole: such inputs stay where they were.
    void move_whole_inputs_only();
    /// On a device the inputs of a window arrive while those of the one before are multiplied, and the part of the result before leaves;
    /// on the host their messages are under way.
    bool doubles_arrays() const { return streams && spec.on_device; }
    /// Rooms for parts of an operand that are not in place.
    std::int64_t rooms(std::size_t o) const { return doubles_arrays() && window_that_cuts(o) ? 2 : 1; }
    /// Distinct parts into which the windows cut an operand.
    std::int64_t parts(std::size_t o) const { return window_parts(windows, axes, o).parts; }
    /// How often each of them moves.
    std::int64_t repetitions(std::size_t o) const { return window_parts(windows, axes, o).repetitions; }
    /// What is moved of an operand that often.
    Volume repeated(std::size_t o, const Volume& once) const;
    /// Is it moved in parts whose lists are all that is built, so that those of the whole never are?
    bool moves_in_parts(std::size_t o) const { return window_that_cuts(o) && (o >= stages.size() || stages[o].empty()); }
    /// Do the windows cut it along a group in blocks, so that its parts are not alike?
    bool has_uneven_parts(std::size_t o) const;
    /// True if windows cut a relayed operand into parts of which a ring passes halves on both ways: an odd one's halves differ, so that
    /// what a rank sends of all parts does not follow from the whole.
    bool has_halved_parts(std::size_t o) const;
    /// Calls f(range) for each of its parts, with a range of each window; those that do not cut it stay at their beginning.
    void for_each_part(std::size_t o, const std::function<void(const std::vector<std::int64_t>&)>& f) const;
    /// The working layout of an operand cut to one range of each window (`range` by window).
    Layout window_layout(std::size_t o, const std::vector<std::int64_t>& range) const;
    /// The movement of an input into its working layout (without windows), or of the result into the output.
    Movement movement(std::size_t o) const;
    /// The part of it that belongs to a range of each window.
    Movement movement(std::size_t o, const std::vector<std::int64_t>& range) const;
    /// From the working copy of an input to where the tensor should stay; no rank needs another for it.
    Movement movement_to_stay(std::size_t o) const;
    bool operator==(const ProductPlan&) const = default;
};

/// A plan without a grid: axes, and the chain of local products.
ProductPlan unmapped_plan(const Product& spec, const PairOrder& order);

/// Finds the fastest of the grids (PlanOptions::grids), mappings and windows whose workspace is within the memory limit (see
/// workspace_bound()); if there is none, the one with the smallest workspace.
/// @param order empty for a single factor
ProductPlan plan_on_grid(const Product& spec, const PairOrder& order, const PlanOptions& options);

/// The plan for given mappings of the axes on a grid; used where a plan is adapted, and by tests.
ProductPlan plan_with_mapping(const Product& spec, const PairOrder& order, const RankGrid& grid, const std::vector<SlotMapping>& mapping,
                              const PlanOptions& options);

/// Seconds on the best grid from block sizes alone, for comparisons between ways to fuse.
double quick_seconds(const Product& spec, const PairOrder& order, const PlanOptions& options);

/// The output without labels that the inputs lack, along which the movement of the result broadcasts.
Operand raw_result(const Product& spec);

/// A dense array over some axes of operand `o`, put on the torus as the plan's mapping says.
/// @param partial torus dimensions along which ranks hold parts of a sum
WorkingOperand working_copy(const ProductPlan& plan, std::size_t o, std::vector<int> axes, const std::vector<int>& partial);

/// Exact elements moved by a rank for an operand.
Volume exact_volume(const ProductPlan& plan, std::size_t o, std::int64_t rank);

/// Likewise for each operand.
std::vector<Volume> exact_volume(const ProductPlan& plan, std::int64_t rank);

}  // namespace arges
