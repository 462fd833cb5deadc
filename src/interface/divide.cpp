// Elementwise division of an indexed tensor.
#include "arges/tensor.hpp"
#include "base/instantiate.hpp"
#include "comm/collective_call.hpp"
#include "interface/run_movement.hpp"
#include "interface/tensor_state.hpp"

#include <set>

namespace arges {

namespace {

SymmetryNode with_kinds(const SymmetryNode& node, const std::set<NodeKind>& kinds, NodeKind replacement) {
    auto result = node;
    if (kinds.count(node.kind) > 0) result.kind = replacement;
    for (auto& child : result.children) child = with_kinds(child, kinds, replacement);
    return result;
}

Symmetry with_kinds(const Symmetry& symmetry, const std::set<NodeKind>& kinds, NodeKind replacement) {
    std::vector<SymmetryNode> slots;
    for (const auto& slot : symmetry.slots()) slots.push_back(with_kinds(slot, kinds, replacement));
    return Symmetry(symmetry.order(), product(std::move(slots)));
}

}  // namespace

template <class T>
void IndexedTensor<T>::divide_by(const Expression<T>& divisor) {
    const Tensor<T> left(factor().tensor);
    auto& state = state_of(left, "an expression");
    const CollectiveCall call(state.world->exchange_communicator(), "elementwise division");
    const auto& names = factor().labels.names();
    if (std::set<std::string>(names.begin(), names.end()).size() < names.size())
        throw InvalidArgument(state.title() + "[\"" + factor().labels.to_string() + "\"] /= ...: a label is repeated; give each dimension a label of its own");
    const auto& shape = state.shape();
    // Where the tensor is zero by symmetry nothing is stored; the divisor need not vanish there.
    const auto symmetric = with_kinds(shape.symmetry(), {NodeKind::antisymmetric, NodeKind::hollow}, NodeKind::symmetric);
    Tensor<T> whole(left.world(), shape.extents(), symmetric, "the divisor of " + state.title());
    whole[factor().labels] = divisor;
    const auto stored = with_kinds(shape.symmetry(), {NodeKind::antisymmetric}, NodeKind::hollow);
    std::vector<SlotMapping> mapping;
    for (int s = 0; s < shape.slots(); ++s) mapping.push_back(shape.mapping(s));
    const auto layout = state.world->intern(Layout(shape.grid(), shape.extents(), stored, std::move(mapping)));
    const auto there = TensorState<T>::make(left.world(), [&] { return layout; }, whole.name());
    if (state.world->dry()) return;
    const auto& values = state_of(whole, "an expression");
    move_elements(*state.world, values.shape(), values.data.data(), *layout, there->data.data());
    for_each_element(shape, state.rank(), [&](std::int64_t offset, const std::vector<std::int64_t>&) { state.data[offset] /= there->data[offset]; });
}

#define ARGES_INSTANTIATE(T) template void IndexedTensor<T>::divide_by(const Expression<T>&);
ARGES_FOR_EACH_ELEMENT_TYPE(ARGES_INSTANTIATE)

}  // namespace arges
