/// How the arrays of tensors, as they lie, relate to the axes of a product. Pure.
#pragma once

#include "plan/product/product_plan.hpp"

#include <optional>
#include <vector>

namespace arges {

/// A tensor's own array.
struct TensorStorage {
    bool fits = false;         ///< its slots are axes, once each
    std::vector<int> axes;     ///< of the slots, if it fits
    bool odd = false;          ///< antisymmetric slots and axes differ in sign, all together
    bool may_scatter = false;  ///< it fits, and no slot is spread by rows or in blocks
};

TensorStorage storage_of(const ProductPlan& unmapped, std::size_t o);

/// The axis that a slot of operand `o` is; -1: none.
int axis_of_slot(const ProductPlan& unmapped, std::size_t o, int slot);

/// The layout of an axis alone where it is spread by rows or in blocks, so that ranks differ in what they have of it; else none.
std::optional<Layout> uneven_axis(const ProductPlan& unmapped, const RankGrid& grid, std::size_t axis, const SlotMapping& mapping);

/// Elements that a rank has of a tensor, unpacked, at most.
double unpacked_elements(const Layout& layout);

}  // namespace arges
