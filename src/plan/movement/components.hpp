/// Splits a movement into independent components. The elements that one rank sends to another are then the Cartesian
/// product of the components' element lists, which are short, so that no keys need to be sent.
#pragma once

#include "plan/movement/movement.hpp"
#include "symmetry/permutation_group.hpp"

#include <vector>

namespace arges {

/// Slots of source and target that share labels, with the terms restricted to those labels.
struct MovementComponent {
    std::vector<int> from_slots, to_slots;
    std::vector<int> labels;       ///< labels of the component
    std::vector<LabelTerm> terms;  ///< images are over all labels; identity outside the component
    /// Source and target have one slot each with the same group over the same labels, and one term moves each stored
    /// element to one stored element.
    bool one_to_one = false;
    /// The same, and an element has the same packed index on both sides, by which both distribute it: what two coordinates share are
    /// arithmetic progressions.
    bool progressions = false;
    /// The target's labels are repeated or cut to a slice, so a stored element may be named by another one of its orbit.
    bool pattern = false;
    /// Groups of the source slots (acting on tuples by position), one per source slot, unless one_to_one.
    std::vector<std::vector<SignedPermutation>> from_groups;
    /// Groups of the target slots where `pattern` is set.
    std::vector<std::vector<SignedPermutation>> to_groups;
};

/// The components of a movement, in an order that source and target agree on.
std::vector<MovementComponent> movement_components(const Movement& spec);

}  // namespace arges
