/// A product with one or two sparse factors: what it computes, and the grid of labels on which it runs. Pure.
#pragma once

#include "arges/sparse_loops.hpp"
#include "base/digest.hpp"
#include "base/splitmix.hpp"
#include "plan/product/plan_options.hpp"
#include "plan/product/product.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace arges {

/// How large a product of two sparse factors is.
struct ProductCounts {
    double products = 0;             ///< multiplications
    std::optional<double> nonzeros;  ///< of the result
};

/// Parts that a product is made in at most.
inline constexpr std::int64_t most_phases = std::int64_t{1} << 20;

/// Parts of a product that are made one after the other, where memory does not suffice for all at once: each takes the nonzeros with some
/// indices of a label, spread by a hash, so that parts are alike.
struct SparsePhases {
    int label = -1;           ///< that divides the nonzeros; -1: there is one part
    std::int64_t parts = 1;   ///< how many there are
    std::int64_t number = 0;  ///< which one is meant

    /// Is an index in this part?
    bool has(std::int64_t index) const {
        const auto hash = splitmix(splitmix(static_cast<std::uint64_t>(index)));  // another one than that of layouts
        return static_cast<std::int64_t>(hash >> 2U) % parts == number;
    }
};

/// result = sum over the other labels of a sparse factor times dense ones, or of two sparse factors, or of two and a third that has all
/// labels of the result, and no others: a mask, beside whose nonzeros nothing is computed. The output is dense or sparse.
struct SparseStep : Product {
    std::vector<int> kept;                ///< labels of the result, each once; those of a dense output may occur twice
    std::optional<ProductCounts> counts;  ///< of the first two sparse factors, from samples; none: nonzeros lie at random
    SparsePhases phase;                   ///< which part of the product is meant

    /// The factors are one to three sparse ones, then dense ones; with more than one sparse factor there are none.
    std::span<const Operand> sparse() const;
    std::span<const Operand> dense() const { return std::span(factors).subspan(sparse().size()); }
    std::int64_t extent(int label) const { return label_extents[label]; }
    std::vector<std::int64_t> extents(const std::vector<int>& labels) const;
    bool has_output(int label) const;
    bool in_factors(int label) const;
    bool has_mask() const { return sparse().size() == 3; }
    /// Bytes of the elements of a factor, as they move and as they are multiplied.
    std::int64_t bytes_of(const Operand& factor) const { return factor.element_bytes != 0 ? factor.element_bytes : element_bytes; }
    std::int64_t multiplied_bytes_of(const Operand& factor) const { return factor.role == Role::actor ? bytes_of(factor) : element_bytes; }
    /// Bytes of the elements of a factor that are converted where they arrive; 0: none are.
    static std::int64_t converted_bytes_of(const Operand& factor) { return factor.role == Role::actor ? 0 : factor.element_bytes; }
    /// For kernels.
    local::Acting acting() const;
    /// Labels of dense factors, or of the result alone, that the sparse factors lack; ascending.
    std::vector<int> dense_labels() const;
    /// May labels be spread by a hash? With one sparse factor rows of dense tensors are moved then, which must lie on one rank each.
    bool may_be_hashed() const;
    /// True if the modes have the label.
    static bool has(const std::vector<int>& labels, int label);
    /// Each label once.
    static std::vector<int> distinct(const std::vector<int>& labels);
};

/// Ranks in a grid over labels: a label is spread cyclically over its parts, or by a hash; then no label that only dense factors have is
/// spread. rank = sum of coordinate * stride; the first label is fastest.
struct LabelGrid {
    std::vector<std::int64_t> parts;  ///< by label
    bool by_hash = false;             ///< how a label's indices are spread

    std::int64_t ranks() const;
    std::vector<std::int64_t> strides() const;
    /// Where the nonzeros of an operand lie before they are copied to the ranks that differ in other labels.
    SparseLayout layout_of(const std::vector<int>& labels) const;
    /// What those ranks add to a rank's number: 0, and more where there are copies.
    std::vector<std::int64_t> copies_of(const std::vector<int>& labels) const;
    /// The torus of the labels that are spread, unfolded, and by label its dimensions there.
    RankGrid torus() const;
    std::vector<std::vector<int>> dimensions() const;
    /// Where a sparse result with these labels lies when parts of its sums have been added up: ranks that share them divide the elements.
    SparseLayout result_layout(const std::vector<std::int64_t>& extents, const std::vector<int>& labels) const;
    /// An array with these labels, the first fastest; ranks that differ in other labels hold copies, or parts of sums.
    Layout array(const std::vector<std::int64_t>& extents, const std::vector<int>& labels, Spread others) const;
    /// Text such as "i/4 j/2"; "one rank" without parts.
    std::string to_string(const std::vector<std::string>& names) const;
};

/// A grid and what it is expected to cost, on the busiest rank.
struct SparseStepPlan {
    LabelGrid grid;
    SparsePhases phases;                                         ///< in which the product is made
    double sparse_bytes = 0, dense_bytes = 0, result_bytes = 0;  ///< received
    double memory_bytes = 0;                                     ///< of operands and result where they are multiplied
    double finished_bytes = 0;                                   ///< of that, parts of the result that wait for others
    double products = 0;                                         ///< multiplications
    double result_nonzeros = 0;                                  ///< of a sparse result, over all ranks
    double seconds = 0;
};

/// Nonzeros that a sparse result is expected to have, if nonzeros lie at random.
double expected_nonzeros(const SparseStep& step);

/// Labels as a part of a text that something is kept by.
void append_labels(std::string& key, const std::vector<int>& labels);
/// What an inspected step is kept by: a step of equal bytes serves for all that have them.
std::string key_of(const SparseStep& step);

/// The fastest grid within the memory limit, with as few phases as fit there. The same on all ranks.
/// @param least_phases  known to be needed
/// @param by_hash       labels of one sparse factor beside dense ones are spread by a hash
/// @throws OutOfMemory if nothing fits, with what the smallest takes
SparseStepPlan plan_sparse_step(const SparseStep& step, std::int64_t ranks, const PlanOptions& options, std::int64_t least_phases = 1,
                                bool by_hash = false);

/// How many times the mean the rank has that has most nonzeros of a step's first factor under a layout; none: that cannot be found out.
using MeasuredImbalances = std::vector<std::pair<SparseLayout, std::optional<double>>>;

/// The fastest plan, or the layout whose imbalance must be measured before it is known. With one sparse factor labels are spread
/// cyclically, or by a hash where that leaves ranks with too uneven parts. @throws OutOfMemory as plan_sparse_step()
std::variant<SparseStepPlan, SparseLayout> plan_by_imbalance(const SparseStep& step, std::int64_t ranks, const PlanOptions& options,
                                                             std::int64_t least_phases, const MeasuredImbalances& measured);

/// What ranks must have planned alike.
void add_to(Digest& digest, const SparseStepPlan& plan);

/// The plan as text: grid, bytes and multiplications as they are expected, marked by ~.
std::string to_string(const SparseStepPlan& plan, const SparseStep& step);

}  // namespace arges
