/// Estimates of many plans of one product on one grid, without their layouts; and the plan of one of them, or of one whose input
/// with a pair node, such as (pq|rs), stays where it is and is read row by row. Pure.
#pragma once

#include "plan/movement/moved_words.hpp"
#include "plan/product/estimate_cost.hpp"
#include "plan/product/fold_order.hpp"
#include "plan/product/product_plan.hpp"

#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace arges {

/// An axis that is mapped in one way. What a search does not ask for is not worked out.
struct MappedAxis {
    SlotMapping mapping;
    std::vector<int> torus;  ///< all dimensions, in the order in which they make up the coordinate
    std::int64_t grid_length = 1;
    double length = 1;  ///< indices of the busiest rank
    std::optional<WantedSlot> wanted;
    std::vector<std::optional<SlotShare>> share;              ///< by operand
    std::vector<std::pair<Dimensions, MappedAxis*>> further;  ///< along these dimensions behind its own
};

/// A candidate on a grid: a mapping of each axis, and what follows from it.
struct GridCandidate : Candidate {
    std::vector<MappedAxis*> axes;
    std::vector<int> weighted;  ///< by axis that needs weights: the operand that is scaled
    double weight = 1;
    bool may_copy = true;  ///< operands that could be used in place, for the order of their axes
    bool copies = false;   ///< and there are such copies
    FoldOrder::Choice fold;

    bool is_weighted(std::size_t o) const { return contains(weighted, static_cast<int>(o)); }
};

/// Makes and prices candidates. What is known of axes that are mapped alike is kept.
class PlanCandidates {
public:
    /// @param unmapped see unmapped_plan(); it, grid and options must outlive this
    PlanCandidates(const ProductPlan& unmapped, const RankGrid& grid, const PlanOptions& options);
    PlanCandidates(const PlanCandidates&) = delete;
    PlanCandidates& operator=(const PlanCandidates&) = delete;

    /// Finds out what a mapping of an axis means; the result stays where it is.
    MappedAxis& map_axis(std::size_t axis, const SlotMapping& mapping);
    /// A bound from below of the seconds of a mapping: what is larger than a rank's part of the tensor is not in place.
    double least_seconds(const std::vector<MappedAxis*>& axes);
    /// The candidate with a mapping, cut into windows where by estimate it does not fit into the memory limit as a whole.
    GridCandidate candidate(std::vector<MappedAxis*> axes);
    /// Seconds of one of the expected runs on average: for later ones, lasting inputs stay where the first leaves them.
    double average_seconds(const GridCandidate& candidate);
    ProductPlan plan(const GridCandidate& candidate);
    /// Cuts a candidate further until the bound of its workspace is within the memory limit, or nothing saves memory.
    ProductPlan fitting_plan(GridCandidate& candidate);

private:
    using Mapped = std::vector<MappedAxis*>;

    std::size_t result() const { return plan_.result(); }
    GridCandidate placed(Mapped axes, bool may_copy);
    void weigh(GridCandidate& candidate) const;
    void copy_what_does_not_fold(GridCandidate& candidate) const;
    void move_from(GridCandidate& candidate, std::size_t o, const Mapped* there);
    bool is_as_stored(std::size_t o, const Mapped& axes) const;
    const WantedSlot& wanted(std::size_t axis, MappedAxis& mapped);
    Moved moved(const GridCandidate& candidate, std::size_t o);
    Moved moved_from(const GridCandidate& candidate, std::size_t o, const Mapped& there);
    std::span<const Links::Way> ways(const GridCandidate& candidate, std::size_t o, const Mapped* there) const;
    MappedAxis& further_along(std::size_t axis, MappedAxis& mapped, Dimensions further);
    std::optional<Mapped> scattered(const Mapped& axes, std::size_t o);
    std::optional<Mapped> where_it_stays(const GridCandidate& candidate, std::size_t o);
    bool is_as_wanted(const GridCandidate& candidate, std::size_t o, const Mapped& there) const;
    Layout layout_of(std::size_t o, const Mapped& there) const;
    void set_stages(ProductPlan& plan, const GridCandidate& candidate) const;
    bool fits(const Candidate& candidate) const { return saturated(model_.memory(candidate)) <= options_.memory_limit; }
    bool cut_once(GridCandidate& candidate) const;

    const PlanOptions& options_;
    ProductPlan plan_;  // unmapped
    CostModel model_;
    std::vector<TensorStorage> storage_;  // by operand
    std::vector<bool> on_grid_;
    std::vector<double> owned_;      // elements that a rank has of an operand, unpacked
    std::vector<int> copied_;        // torus dimensions along which the output has copies
    std::optional<FoldOrder> fold_;  // of a product of two factors or a sum of one
    CountedRanks ranks_;
    std::vector<MovedWords> tables_;             // by operand
    std::vector<std::vector<SlotMatch>> match_;  // by axis and operand, see MovedWords::match()
    std::vector<int> weighted_axes_;
    bool may_bound_words_ = true;  // no slot is spread by rows, of which the ranks that are counted may have few, or in blocks
    bool is_whole_;                // all ranks take part
    std::vector<std::map<std::vector<int>, MappedAxis>> known_;  // by axis
    // Of what is looked at, so that they are not allocated again and again:
    std::vector<const SlotShare*> shares_;
    std::vector<const WantedSlot*> block_, own_;
    std::vector<double> length_, remaining_;
    std::vector<Dimensions> further_;
};

/// The plan, if one of two inputs is a single node over two equal children that is stored by rows (or on one rank), and the product
/// breaks it up into its children or their factors.
/// @param mirror a relabelling that leaves the exact result as it is and exchanges the children of the pair node: then only half
///               of the products are computed, and the mirror image is added when the result is moved to the output
std::optional<ProductPlan> plan_by_rows(const Product& spec, const PlanOptions& options, const std::optional<LabelTerm>& mirror = {});

}  // namespace arges
