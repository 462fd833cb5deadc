/// Elements that a rank lacks of a working layout, estimated from sizes and from the overlap of present and wanted layouts. Pure.
#pragma once

#include "plan/contraction_plan.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace arges {

/// What ranks have of one slot of a working layout. Slots that are put on the torus alike share it.
struct SlotShare {
    int match = -1;               ///< slot of the tensor over the same labels; -1: none
    std::vector<double> wanted;   ///< by counted rank: elements
    std::vector<double> present;  ///< those of them that the rank has in the tensor already, about; exact for slots that match
};

/// Counts what the busiest rank receives for working copies of a tensor (or sends of its parts of the result): on all ranks where they are few,
/// else on a sample. exact_volume() counts what is moved.
class MovedWords {
public:
    /// @param grid of the working layouts
    MovedWords(const OperandSpec& tensor, const RankGrid& grid);

    /// @param labels of the slot, @param tree its node, @param layout has it as slot `s`
    SlotShare share(std::vector<int> labels, NodeKind tree, const Layout& layout, int s) const;
    /// Elements for a working layout of these slots.
    double count(std::span<const SlotShare* const> slots) const;
    /// What ranks lack that have `owned` slots of the `wanted` ones, of which `cut` ranks have a share each.
    double count_lacking(std::span<const SlotShare* const> wanted, std::span<const SlotShare* const> owned, double cut) const;

private:
    const Layout present_;
    std::vector<std::vector<int>> labels_;  // of the tensor's slots, ascending
    bool one_rank_, one_grid_;
    std::vector<std::int64_t> ranks_;       // that are counted
};

/// The same for one working layout.
double moved_words(const OperandSpec& tensor, const WorkingOperand& working);

}  // namespace arges
