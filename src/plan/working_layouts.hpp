/// Order of the groups in each operand's working array, chosen so that as few operands as possible are copied.
#pragma once

#include "plan/estimate_cost.hpp"
#include "plan/moved_words.hpp"

#include <array>
#include <deque>
#include <optional>
#include <vector>

namespace arges {

/// Finds the working operands of plans of one contraction. Its plans, of which a search looks at many, share what does not depend on the mapping of
/// the groups, and what is known of groups that are mapped alike.
class WorkingLayouts {
public:
    /// @param grid of all ranks
    WorkingLayouts(const Product& spec, const std::vector<IndexGroup>& groups, const RankGrid& grid);
    WorkingLayouts(const WorkingLayouts&) = delete;
    WorkingLayouts& operator=(const WorkingLayouts&) = delete;

    /// A group that is mapped in one way.
    struct MappedGroup {
        SlotMapping mapping;
        std::int64_t places = 1;
        double length = 1;               ///< indices of the busiest rank
        bool is_spread = false;          ///< it lies along torus dimensions
        std::array<bool, 3> as_stored{}; ///< by operand whose slots are groups: its slot is mapped in the same way
        std::array<SlotShare, 3> share;  ///< by operand that has it
    };

    /// Finds out what a mapping of group `g` means; the result stays where it is.
    const MappedGroup& map_group(std::size_t g, SlotMapping mapping);
    /// Maps the groups of a plan whose spec and grid are set: sets places, weights, no panels, and finds out what set_operands() will do.
    WorkingSizes map_groups(ContractionPlan& plan, std::vector<const MappedGroup*> groups);
    /// Sets the working operands (order of groups, layout, in place or not) of the plan that was mapped last.
    void set_operands(ContractionPlan& plan) const;

private:
    /// Role of a group in the folded product: C[m n b] = A[m k b] B[k n b].
    enum Role : std::size_t { m, n, k, batch };
    using GroupList = std::vector<int>;
    /// Order of the groups of each role.
    using Order = std::array<const GroupList*, 4>;
    /// The orders that operands have, by role.
    using Choices = std::array<std::vector<const GroupList*>, 4>;

    /// What an operand's own array is like, for any mapping of the groups.
    struct Storage {
        bool exists = false, fits = false;  ///< there is such an operand; its slots are groups, once each
        GroupList groups;                   ///< of the slots, if it fits
        bool odd = false;                   ///< antisymmetric slots and groups differ in sign, all together
        Role first_role = m;                ///< of the fastest index; where groups lack it, the one that a copy begins with
        std::array<GroupList, 4> by_storage, by_labels;  ///< groups of a role, as the slots and as the labels follow each other
    };
    static Role role_of(const IndexGroup& group);
    const OperandSpec& spec_of(Operand o) const { return o == operand_c ? spec_.output : spec_.factors[o]; }
    Storage storage_of(Operand o) const;
    int find_group(Operand o, const SymmetryNode& tree) const;
    double local_elements(Operand o) const;
    bool has_small_matrices() const;
    bool is_eligible(const ContractionPlan& plan, Operand o) const;
    Choices order_choices() const;
    Order best_order();
    void arrange(Operand o, const Order& order, bool first_role_first, GroupList& result) const;
    bool folds(Operand o, const Order& order) const;
    GroupList working_order(Operand o) const;

    const Product& spec_;
    const std::vector<IndexGroup>& groups_;
    const RankGrid& grid_;
    std::vector<Role> role_;
    std::array<Storage, 3> storage_;
    CountedRanks ranks_;
    std::vector<MovedWords> moved_;                         // by operand; the second is the first's where there is one input
    std::vector<std::array<int, 3>> match_;                 // by group and operand that has it, see MovedWords::match()
    std::deque<MappedGroup> known_;
    std::array<std::optional<Choices>, 8> choices_;         // by natural_, as bits
    // Of the plan that was mapped last:
    std::vector<const MappedGroup*> mapped_;  // by group
    std::array<bool, 3> natural_{};           // by operand: its own array is mapped as the groups are
    std::array<bool, 3> eligible_{};          // and can be used
    std::array<bool, 3> in_place_{};          // and is
    std::array<double, 3> elements_{};
    bool batch_first_ = false;
    Order order_{};
    mutable GroupList scratch_;
};

}  // namespace arges
