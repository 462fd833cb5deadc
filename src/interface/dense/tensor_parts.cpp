// Sub-tensors, other symmetries, other element types, other worlds.
#include "base/element_at.hpp"
#include "base/text.hpp"
#include "comm/collective_call.hpp"
#include "comm/values.hpp"
#include "interface/dense/run_movement.hpp"
#include "interface/dense/tensor_shares.hpp"
#include "interface/dense/tensor_state.hpp"
#include "interface/sparse/sparse_calls.hpp"
#include "interface/world/call_arguments.hpp"
#include "local/transfer.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

namespace arges {

namespace {

void run_movement(TensorState& to, const TensorState& from, const Movement& spec, const void* alpha, const void* beta) {
    run_movement(*to.world, *to.kernels, spec, {from.bytes.data(), from.kernels}, to.bytes.data(), alpha, beta);
    to.keep_real();
}

/// Zeros on the world of a tensor.
std::shared_ptr<TensorState> made_like(const TensorState& state, const std::vector<std::int64_t>& extents, const Symmetry& symmetry) {
    return new_tensor(state.world->kernels(*state.kernels), state.world_handle, extents, symmetry, state.name);
}

/// The tree that a slice keeps: a node survives where corresponding dimensions of its children have equal ranges.
SymmetryNode sliced(const SymmetryNode& node, const Ranges& ranges) {
    if (node.kind == NodeKind::leaf) return node;
    SymmetryNode result{node.kind, -1, {}};
    bool equal = true;
    const auto first = node.children[0].dimensions();
    for (const auto& child : node.children) {
        const auto dims = child.dimensions();
        for (std::size_t l = 0; l < dims.size() && node.kind != NodeKind::product; ++l) equal = equal && ranges.equal(first[l], dims[l]);
    }
    if (!equal) result.kind = NodeKind::product;
    for (const auto& child : node.children) result.children.push_back(sliced(child, ranges));
    return result;
}

/// A shape on the wire: order, extents, then the tree in prefix form.
void write_tree(const SymmetryNode& node, std::vector<std::int64_t>& out) {
    out.push_back(static_cast<std::int64_t>(node.kind));
    out.push_back(node.dimension);
    out.push_back(std::ssize(node.children));
    for (const auto& child : node.children) write_tree(child, out);
}

SymmetryNode read_tree(const std::vector<std::int64_t>& in, std::size_t& at) {
    SymmetryNode node{static_cast<NodeKind>(in[at]), static_cast<int>(in[at + 1]), {}};
    const auto children = in[at + 2];
    at += 3;
    for (std::int64_t c = 0; c < children; ++c) node.children.push_back(read_tree(in, at));
    return node;
}

}  // namespace

AnyTensor AnyTensor::slice(const std::vector<std::int64_t>& begin, const std::vector<std::int64_t>& end) const {
    if (is_sparse()) return AnyTensor(sparse_calls::slice(*this, begin, end));
    const auto& state = state_of(*this, "slice");
    const CollectiveCall call(state.world->movement_communicator(), "Tensor::slice", state, begin, end);
    const Ranges ranges{begin, end};
    check_ranges(state.title(), extents(), ranges);
    std::vector<SymmetryNode> slots;
    for (const auto& slot : symmetry().slots()) slots.push_back(arges::sliced(slot, ranges));
    std::vector<std::int64_t> lengths;
    for (std::size_t d = 0; d < begin.size(); ++d) lengths.push_back(end[d] - begin[d]);
    auto result = made_like(state, lengths, Symmetry(order(), product(slots)));
    auto spec = copy_between(state.shape(), result->shape());
    spec.label_extents = lengths;
    spec.from_offset = begin;
    run_movement(*result, state, spec, nullptr, state.kernels->zero);
    return AnyTensor(std::move(result));
}

void AnyTensor::set_slice(const std::vector<std::int64_t>& begin, const AnyTensor& part) {
    auto& state = any_state_of(*this, "set_slice");
    const auto& from = any_state_of(part, "set_slice");
    state.world->agree([&] {
        const auto form = [](const AnyTensorState& one) { return readable_type(one.kernels->name) + (one.is_sparse ? ", sparse" : ""); };
        if (form(state) != form(from))
            throw InvalidArgument(title() + ": a part of type " + form(from) + " in a tensor of type " + form(state) +
                                  "; bring it into the form of the tensor (convert it, to_dense, to_sparse)");
    });
    if (state.is_sparse) return sparse_calls::set_slice(sparse_state_of(*this, "set_slice"), begin, sparse_state_of(part, "set_slice"));
    write_slice(begin, part, nullptr, state.kernels->zero);
}

void AnyTensor::write_slice(const std::vector<std::int64_t>& begin, const AnyTensor& part, const void* alpha, const void* beta) {
    auto& state = state_of(*this, "set_slice");
    const auto& from = state_of(part, "set_slice");
    const auto& kernels = *state.kernels;
    const CollectiveCall call(state.world->movement_communicator(), "Tensor::set_slice", state, from, begin,
                              ElementArgument{kernels, alpha}, ElementArgument{kernels, beta});
    if (from.world != state.world)
        throw InvalidArgument(state.title() + ": set_slice from a tensor on another world; use transfer() first");
    auto end = begin;
    if (part.order() != order() || end.size() != extents().size())
        throw InvalidArgument(state.title() + ": set_slice of a part of order " + std::to_string(part.order()) +
                              " into a tensor of order " + std::to_string(order()));
    for (std::size_t d = 0; d < end.size(); ++d)
        end[d] = begin[d] > extents()[d] ? begin[d] : begin[d] + part.extents()[d];  // no overflow before it is refused
    const Ranges ranges{begin, end};
    check_ranges(state.title(), extents(), ranges);
    const auto is_real = [&](const void* number) { return number == nullptr || kernels.as_number(number).imag() == 0; };
    if (!(is_real(alpha) && is_real(beta)) && contains_kind(symmetry(), NodeKind::hermitian))
        throw InvalidArgument(state.title() + ": set_slice into a hermitian tensor needs real factors; multiply the part before");
    check_part(state.title(), symmetry(), part.symmetry(), ranges);
    if (&from == &state) return write_slice(begin, AnyTensor(part), alpha, beta);
    auto spec = copy_between(from.shape(), state.shape());
    spec.to_offset = begin;
    run_movement(state, from, spec, alpha, beta);
}

AnyTensor AnyTensor::joined(int dimension, const std::vector<const AnyTensor*>& parts) {
    const auto& first = state_of(*parts[0], "concatenated");
    const CollectiveCall call(first.world->movement_communicator(), "concatenated", dimension, TensorArguments{parts});
    auto extents = parts[0]->extents();
    const std::size_t d = dimension;
    if (dimension < 0 || d >= extents.size())
        throw InvalidArgument("concatenated: " + first.title() + " has no dimension " + std::to_string(dimension) + "; the first is 0");
    std::vector<SymmetryNode> slots;
    for (const auto& slot : parts[0]->symmetry().slots()) {
        const auto dimensions = slot.dimensions();
        const bool kept = std::find(dimensions.begin(), dimensions.end(), dimension) == dimensions.end() &&
                          std::all_of(parts.begin(), parts.end(), [&](const AnyTensor* part) {
                              const auto& own = part->symmetry().slots();
                              return std::find(own.begin(), own.end(), slot) != own.end();
                          });
        if (kept) slots.push_back(slot);
        for (const int free : dimensions)
            if (!kept) slots.push_back(leaf(free));
    }
    extents[d] = 0;
    for (const auto* part : parts) {
        const auto& state = state_of(*part, "concatenated");
        auto others = part->extents();
        if (others.size() == extents.size()) others[d] = extents[d] += others[d];
        if (state.world != first.world || others != extents)
            throw InvalidArgument("concatenated: " + first.title() + " and " + state.title() +
                                  " differ in world, order, or extents other than that of dimension " + std::to_string(dimension) +
                                  "; make them agree");
    }
    auto result = made_like(first, extents, Symmetry(extents.size(), product(slots)));
    std::vector<std::int64_t> offset(extents.size(), 0);
    for (const auto* part : parts) {
        const auto& state = state_of(*part, "concatenated");
        auto spec = copy_between(state.shape(), result->shape());
        spec.label_extents = part->extents();
        spec.to_offset = offset;
        run_movement(*result, state, spec, nullptr, first.kernels->zero);
        offset[d] += part->extents()[d];
    }
    return AnyTensor(std::move(result));
}

AnyTensor AnyTensor::with_symmetry(const Symmetry& symmetry) const {
    if (is_sparse()) return AnyTensor(sparse_calls::with_symmetry(*this, symmetry));
    const auto& state = state_of(*this, "with_symmetry");
    const CollectiveCall call(state.world->movement_communicator(), "Tensor::with_symmetry", state, symmetry);
    auto result = made_like(state, extents(), symmetry);
    run_movement(*result, state, copy_between(state.shape(), result->shape()), nullptr, state.kernels->zero);
    return AnyTensor(std::move(result));
}

AnyTensor AnyTensor::converted_to(const ElementKernels& elements) const {
    const auto& from = state_of(*this, "a tensor from one of another type");
    const auto& kernels = from.world->kernels(elements);
    const CollectiveCall call(from.world->movement_communicator(), "Tensor", from, std::string_view(kernels.type->name()));
    auto result = TensorState::make(
        kernels, from.world_handle, [&] { return from.layout; }, "");
    const auto& reaching_both = from.on_device ? kernels : *result->kernels;
    local::convert_elements(*from.kernels->type, reaching_both, from.bytes.data(), result->bytes.data(), from.count());
    return AnyTensor(std::move(result));
}

AnyTensor AnyTensor::conjugated() const {
    const auto& from = state_of(*this, "conj");
    const CollectiveCall call(from.world->movement_communicator(), "conj", from);
    AnyTensor result(*this);
    auto& state = state_of(result, "conj");
    if (state.kernels->is_complex)
        state.kernels->transfer_listed({.count = state.count(), .factor = 2}, state.bytes.data(), state.bytes.data(), nullptr, {});
    return result;
}

namespace {

SymmetryNode replaced(const SymmetryNode& node, NodeKind hermitian_becomes) {
    auto result = node;
    if (node.kind == NodeKind::hermitian) result.kind = hermitian_becomes;
    for (auto& child : result.children) child = replaced(child, hermitian_becomes);
    return result;
}

}  // namespace

AnyTensor AnyTensor::part_of_complex(bool imaginary, const ElementKernels& elements) const {
    const auto becomes = imaginary ? NodeKind::antisymmetric : NodeKind::symmetric;
    const auto& given = state_of(*this, "real or imag");
    const auto& real = given.world->kernels(elements);
    const CollectiveCall call(given.world->movement_communicator(), "real or imag", given, becomes);
    std::vector<SymmetryNode> slots;
    for (const auto& slot : symmetry().slots()) slots.push_back(replaced(slot, becomes));
    const Symmetry tree(order(), product(slots));
    const auto moved = tree == symmetry() ? *this : with_symmetry(tree);
    const auto& from = state_of(moved, "real or imag");
    auto result = TensorState::make(
        real, world(), [&] { return from.layout; }, name());
    // Parts of complex numbers are real numbers at every second place.
    const std::array axes{local::TransferAxis{.count = result->count(), .from_stride = 2, .to_stride = 1}};
    const auto& reaching_both = from.on_device ? real : *result->kernels;
    reaching_both.transfer(axes, element_at(from.bytes.data(), imaginary ? 1 : 0, real.size), result->bytes.data(), nullptr, {});
    return AnyTensor(std::move(result));
}

namespace {

/// Throws unless as many ranks take part as the one world that they are in has; `size` is 0 on ranks outside. Collective.
void check_present(const Communicator& comm, std::int64_t size, const std::string& which) {
    const auto present = comm.sum(size > 0 ? 1 : 0), largest = comm.maximum(size);
    const auto smallest = comm.minimum(size > 0 ? size : largest);
    if (present == 0 || present != largest || smallest != largest)
        throw InvalidArgument("transfer: " + std::to_string(present) + " ranks of the meeting world are in " + which + ", which has " +
                              std::to_string(largest) + "; the meeting world needs every rank of one source and of one target");
}

/// What a tensor is made of.
struct GivenShape {
    Storage storage;
    std::vector<std::int64_t> extents;
    Symmetry symmetry;
    std::string name;
};

/// That of a tensor which one rank has. Collective.
GivenShape shape_from(const Communicator& comm, std::int64_t giver, const AnyTensor& source) {
    std::vector<std::int64_t> numbers;
    if (comm.rank() == giver) {
        numbers = {source.is_sparse() ? 1 : 0, source.order()};
        numbers.insert(numbers.end(), source.extents().begin(), source.extents().end());
        write_tree(product(source.symmetry().slots()), numbers);
    }
    comm.broadcast(numbers, giver);
    std::string name = source.any_state() ? source.name() : "";
    comm.broadcast(name, giver);
    const std::size_t order = numbers[1];
    const auto first = numbers.begin() + 2;
    std::size_t at = 2 + order;
    return {numbers[0] == 1 ? Storage::sparse : Storage::dense, {first, first + numbers[1]}, Symmetry(order, read_tree(numbers, at)), name};
}

/// Keys and elements.
struct ElementPairs {
    std::vector<std::int64_t> keys;
    std::vector<std::byte> values;
};

/// Those of the source, for the ranks that receive, in turn: a write() of the target then finds where they belong. Collective.
ElementPairs pairs_for_receivers(const Communicator& comm, const AnyTensor& source, std::int64_t element_bytes, bool receives) {
    const auto all = gathered(comm, std::vector<std::int64_t>{receives ? comm.rank() : -1});
    std::vector<std::int64_t> receivers;
    std::copy_if(all.begin(), all.end(), std::back_inserter(receivers), [](auto rank) { return rank >= 0; });
    std::vector<std::vector<std::int64_t>> keys(all.size());
    std::vector<std::vector<std::byte>> values(all.size());
    comm.agree([&] {
        if (!source.any_state()) return;
        Buffer<std::byte> elements;
        const auto own = source.pairs_here([&](std::int64_t count) -> void* {
            elements = Buffer<std::byte>(count * element_bytes);
            return elements.data();
        });
        for (std::size_t i = 0; i < own.size(); ++i) {
            const auto to = receivers[i % receivers.size()];
            keys[to].push_back(own[i]);
            const auto* const element = element_at(std::as_const(elements).data(), i, element_bytes);
            values[to].insert(values[to].end(), element, element + element_bytes);
        }
    });
    keys = exchanged(comm, std::move(keys));
    values = exchanged(comm, std::move(values));
    ElementPairs mine;
    comm.agree([&] {
        for (const auto& list : keys) mine.keys.insert(mine.keys.end(), list.begin(), list.end());
        for (const auto& list : values) mine.values.insert(mine.values.end(), list.begin(), list.end());
    });
    return mine;
}

}  // namespace

AnyTensor AnyTensor::transferred(const ElementKernels& kernels, const World& meeting, const AnyTensor& source, const World& target) {
    if (meeting.is_dry_run()) {
        any_state_of(source, "transfer");
        if (!target.takes_part() || !target.is_dry_run() || !source.world().is_dry_run())
            throw InvalidArgument("transfer: the meeting world is a dry run; source and target must be dry runs, too");
        return AnyTensor(kernels, Storage::dense, target, source.extents(), source.symmetry(), source.name());
    }
    const auto& comm = meeting.state()->communicator();
    const CollectiveCall call(meeting.state()->movement_communicator(), "transfer");
    comm.agree([&] {
        if ((source.any_state() && source.world().is_dry_run()) || (target.takes_part() && target.is_dry_run()))
            throw InvalidArgument("transfer: source and target must be worlds of real ranks, because the meeting world is one; "
                                  "a dry run has no data");
    });
    const auto giver = comm.minimum(source.any_state() ? comm.rank() : comm.size());
    if (giver == comm.size()) throw InvalidArgument("transfer: no rank of the meeting world has the source tensor");
    check_present(comm, source.any_state() ? source.world().size() : 0, "the source's world");
    check_present(comm, target.takes_part() ? target.size() : 0, "the target world");
    require_same_in_worlds(meeting.state()->movement_communicator(), source.any_state() ? source.world().state().get() : nullptr,
                           Digest().add(source).value(), "transfer");
    const auto shape = shape_from(comm, giver, source);
    AnyTensor result;
    comm.agree([&] {
        if (target.takes_part()) result = AnyTensor(kernels, shape.storage, target, shape.extents, shape.symmetry, shape.name);
    });
    const auto pairs = pairs_for_receivers(comm, source, kernels.size, target.takes_part());
    comm.agree([&] {
        if (target.takes_part()) result.write_pairs(pairs.keys, pairs.values.data(), std::ssize(pairs.keys), Duplicates::refuse);
    });
    return result;
}

}  // namespace arges
