// How stored slots match the axes of a product.
#include "plan/product/tensor_storage.hpp"

#include <algorithm>

namespace arges {

namespace {

/// The node of a slot over labels.
SymmetryNode slot_tree(const Operand& tensor, int slot) { return with_labels(tensor.layout.symmetry().slots()[slot], tensor.labels); }

}  // namespace

int axis_of_slot(const ProductPlan& unmapped, std::size_t o, int slot) {
    const auto tree = slot_tree(unmapped.tensor(o), slot);
    for (std::size_t a = 0; a < unmapped.axes.size(); ++a)
        if (unmapped.axes[a].in(o) && same_tree(*unmapped.axes[a].tree[o], tree)) return a;
    return -1;
}

TensorStorage storage_of(const ProductPlan& unmapped, std::size_t o) {
    const auto& tensor = unmapped.tensor(o);
    const auto& layout = tensor.layout;
    TensorStorage storage;
    const auto present = std::count_if(unmapped.axes.begin(), unmapped.axes.end(), [&](const auto& axis) { return axis.in(o); });
    if (layout.slots() != present) return storage;
    storage.may_scatter = layout.order() > 0;
    for (int s = 0; s < layout.slots(); ++s) {
        const int a = axis_of_slot(unmapped, o, s);
        if (a < 0 || std::find(storage.axes.begin(), storage.axes.end(), a) != storage.axes.end()) return {};
        storage.axes.push_back(a);
        // Antisymmetric axes are stored in the tensor's order of dimensions.
        storage.odd ^= odd_order(*unmapped.axes[a].tree[o], slot_tree(tensor, s));
        storage.may_scatter = storage.may_scatter && !layout.mapping(s).rows && !layout.mapping(s).is_blocks();
    }
    storage.fits = true;
    return storage;
}

std::optional<Layout> uneven_axis(const ProductPlan& unmapped, const RankGrid& grid, std::size_t a, const SlotMapping& mapping) {
    if (!mapping.rows && !mapping.is_blocks()) return std::nullopt;
    const auto& axis = unmapped.axes[a];
    std::vector<SymmetryNode> slots{with_positions(axis.node(), axis.labels)};
    std::vector<std::int64_t> extents;
    for (int l : axis.labels) extents.push_back(unmapped.spec.label_extents[l]);
    return Layout(grid, extents, Symmetry(extents.size(), product(std::move(slots))), {mapping});
}

double unpacked_elements(const Layout& layout) {
    double elements = 1;
    for (int s = 0; s < layout.slots(); ++s) {
        double unpacked = 1;
        for (int d : layout.slot_dimensions(s)) unpacked *= layout.extents()[d];
        elements *=
            std::max(unpacked / static_cast<double>(layout.slot(s).grid_length()), static_cast<double>(layout.slot(s).max_local_size()));
    }
    return elements;
}

}  // namespace arges
