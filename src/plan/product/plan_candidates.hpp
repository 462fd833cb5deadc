/// Estimates of many plans of one product on one grid, without their layouts; and the plan of one of them, or of one whose input
/// with a pair node, such as (pq|rs), stays where it is and is read row by row. Pure.
#pragma once

#include "plan/movement/moved_words.hpp"
#include "plan/product/estimate_cost.hpp"
#include "plan/product/fold_order.hpp"
#include "plan/product/product_plan.hpp"

#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace arges {

/// Looks at one mapping of the axes after the other. What is known of axes that are mapped alike is kept.
class PlanCandidates {
public:
    /// @param unmapped see unmapped_plan(); it, grid and options must outlive this
    PlanCandidates(const ProductPlan& unmapped, const RankGrid& grid, const PlanOptions& options);
    PlanCandidates(const PlanCandidates&) = delete;
    PlanCandidates& operator=(const PlanCandidates&) = delete;

    /// An axis that is mapped in one way.
    struct MappedAxis {
        SlotMapping mapping;
        std::int64_t grid_length = 1;
        double length = 1;             ///< indices of the busiest rank
        std::vector<SlotShare> share;  ///< by operand that has it
        std::vector<bool> as_stored;   ///< by operand: its slot is mapped in the same way
    };
    /// Finds out what a mapping of an axis means; the result stays where it is.
    const MappedAxis& map_axis(std::size_t axis, const SlotMapping& mapping);
    /// A bound from below of the seconds of a mapping: what is larger than a rank's part of the tensor is not in place.
    double least_seconds(const std::vector<const MappedAxis*>& axes) const;
    /// Looks at the plan with a mapping, cut into windows where by estimate it does not fit into the memory limit as a whole.
    void look_at(std::vector<const MappedAxis*> axes);
    /// Of the plan that was looked at last, seconds of one of the expected runs on average: for later ones, lasting inputs stay where the
    /// first leaves them.
    double average_seconds();
    /// The plan that was looked at last.
    ProductPlan plan();
    /// The same, cut further until the bound of its workspace is within the memory limit, or nothing saves memory.
    ProductPlan fitting_plan();

private:
    using Mapped = std::vector<const MappedAxis*>;

    std::size_t result() const { return plan_.result(); }
    void find_places();
    void copy_what_does_not_fold(const std::vector<bool>& as_stored);
    void estimate(bool may_copy);
    double words(std::size_t o) const;
    double words_from(std::size_t o, const std::vector<SlotMapping>& scattered);
    void find_ways(std::size_t o, const std::vector<SlotMapping>* scattered);
    void set_stages(ProductPlan& plan) const;
    std::optional<std::vector<SlotMapping>> where_it_stays(std::size_t o);
    bool is_as_wanted(std::size_t o, const std::vector<SlotMapping>& scattered) const;
    void cut_to_fit();
    bool cut_once();
    void cut_like_this(ProductPlan& plan) const;
    bool stream_faster();

    const PlanOptions& options_;
    ProductPlan plan_;  // without layouts
    CostModel model_;
    std::vector<std::vector<int>> spaces_;  // axes of each local product
    std::vector<TensorStorage> storage_;    // by operand
    std::vector<bool> on_grid_;
    std::vector<double> owned_;      // elements that a rank has of an operand, unpacked
    std::optional<FoldOrder> fold_;  // of a product of two factors or a sum of one
    CountedRanks ranks_;
    std::vector<MovedWords> moved_;              // by operand
    std::vector<std::vector<SlotMatch>> match_;  // by axis and operand, see MovedWords::match()
    std::vector<int> weighted_axes_;
    bool may_bound_words_ = true;  // no slot is spread by rows, of which the ranks that are counted may have few, or in blocks
    bool is_whole_;                // all ranks take part
    std::vector<std::map<std::vector<int>, MappedAxis>> known_;  // by axis
    // Of the plan that was looked at last:
    Mapped mapped_;
    std::vector<bool> as_stored_;  // by operand: its own array is mapped as the axes are
    WorkingSizes sizes_;
    double working_ = 0;    // bytes
    bool may_copy_ = true;  // operands that could be used in place
    bool copies_ = false;   // and there are such copies
};

/// The plan, if one of two inputs is a single node over two equal children that is stored by rows (or on one rank), and the product
/// breaks it up into its children or their factors.
/// @param mirror a relabelling that leaves the exact result as it is and exchanges the children of the pair node: then only half
///               of the products are computed, and the mirror image is added when the result is moved to the output
std::optional<ProductPlan> plan_by_rows(const Product& spec, const PlanOptions& options, const std::optional<LabelTerm>& mirror = {});

}  // namespace arges
