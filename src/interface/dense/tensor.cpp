#include "arges/tensor.hpp"

#include "base/element_at.hpp"
#include "base/math.hpp"
#include "base/text.hpp"
#include "comm/collective_call.hpp"
#include "interface/sparse/sparse_state.hpp"
#include "interface/sparse/sparse_tensor_keys.hpp"
#include "interface/world/call_arguments.hpp"
#include "layout/slot_layout.hpp"

#include <algorithm>
#include <array>

namespace arges {

namespace {

std::string extents_text(const std::vector<std::int64_t>& extents) { return extents.empty() ? "scalar" : joined(extents, " x "); }

void check_equal_extents(const SymmetryNode& node, const std::vector<std::int64_t>& extents, const std::string& name) {
    for (const auto& child : node.children) check_equal_extents(child, extents, name);
    if (node.kind == NodeKind::leaf || node.kind == NodeKind::product) return;
    const auto first = node.children[0].dimensions();
    for (const auto& child : node.children) {
        const auto dims = child.dimensions();
        for (std::size_t l = 0; l < dims.size(); ++l) {
            const std::size_t a = first[l], b = dims[l];
            if (extents[a] != extents[b])
                throw InvalidArgument(name + ": dimensions " + std::to_string(a) + " and " + std::to_string(b) +
                                      " are related by symmetry but have extents " + std::to_string(extents[a]) + " and " +
                                      std::to_string(extents[b]) + "; make them equal or remove the symmetry");
        }
    }
}

}  // namespace

Symmetry checked_symmetry(const std::vector<std::int64_t>& extents, const Symmetry& symmetry, const std::string& title) {
    const int order = extents.size();
    if (symmetry.order() > order)
        throw InvalidArgument(title + ": a symmetry of order " + std::to_string(symmetry.order()) + " for a tensor of order " +
                              std::to_string(order) + "; leave out the dimensions that do not exist");
    const auto whole = symmetry.order() == order ? symmetry : Symmetry(order, product(symmetry.slots()));
    for (const auto& slot : whole.slots()) {
        check_equal_extents(slot, extents, title);
        if (slot.dimensions().size() > static_cast<std::size_t>(max_slot_order))
            throw Unsupported(title + ": a symmetric group of more than " + std::to_string(max_slot_order) + " dimensions");
    }
    return whole;
}

Symmetry checked_shape(const std::vector<std::int64_t>& extents, const Symmetry& symmetry, const std::string& name) {
    const auto title = name.empty() ? std::string("tensor") : name;
    for (std::size_t d = 0; d < extents.size(); ++d)
        if (extents[d] < 0)
            throw InvalidArgument(title + ": extent " + std::to_string(extents[d]) + " of dimension " + std::to_string(d) +
                                  "; extents must not be negative");
    auto whole = checked_symmetry(extents, symmetry, title);
    std::int64_t full = 1;
    for (auto n : extents) full = checked_product(full, std::max<std::int64_t>(1, n));
    return whole;
}

Layout new_layout(WorldState& world, const std::vector<std::int64_t>& extents, const Symmetry& symmetry) {
    const auto& grid = extents.empty() ? world.grid() : world.tensor_grid;  // every rank has each number
    if (world.group_mapping() == GroupMapping::blocks) return world.intern(block_layout(grid, extents, symmetry));
    return world.intern(grid == world.grid() ? spread_layout(world.grids(), extents, symmetry) : default_layout(grid, extents, symmetry));
}

TensorState::TensorState(const ElementKernels& element, World handle, Layout shape, std::string title, bool there)
    : AnyTensorState(element, std::move(handle), std::move(title), false), on_device(there), layout(std::move(shape)) {
    if (!element.has_negative && contains_kind(layout.symmetry(), NodeKind::antisymmetric))
        throw InvalidArgument((name.empty() ? "tensor" : name) + ": elements of type " + readable_type(element.name) +
                              " have no negatives, which antisymmetry needs; use another type, or a hollow tree");
    const auto needed = saturated_product(layout.max_local_size(), element.size);
    if (!on_device) world->require_for_tensor(needed, name.empty() ? "tensor" : name);
    if (!world->dry()) {
        const auto local = layout.local_size(rank());
        const auto* const zero = static_cast<const unsigned char*>(element.zero);
        const auto size = array_bytes(local, element.size);
        const bool elsewhere = element.space != nullptr;
        bytes = elsewhere ? Buffer<std::byte>(size, element.space) : Buffer<std::byte>::zeros(size);
        if (elsewhere || std::any_of(zero, zero + element.size, [](unsigned char byte) { return byte != 0; }))
            element.fill(bytes.data(), local, zero);
    }
    held_ = needed;
    last_use = world->last_use();
    world->hold(held_, on_device);
    if (on_device) world->comes_to_device(this);
}

std::shared_ptr<TensorState> TensorState::make(const ElementKernels& kernels, const World& world, const std::function<Layout()>& layout,
                                               std::string name) {
    world.size();  // refuses World::outside()
    auto& state = *world.state();
    const CollectiveCall call(state.movement_communicator(), "Tensor");
    std::shared_ptr<TensorState> made;
    // The largest number that a rank is at, inverted: calls that failed on some ranks leave them at different ones.
    std::array<std::int64_t, 3> ends{0, 0, ~static_cast<std::int64_t>(state.next_number())};
    state.agree(
        [&] {
            auto where = layout();
            const auto& device = state.device();
            const bool may_be_there = device.computes(kernels) && (kernels.space != nullptr || state.dry());
            const bool is_there = may_be_there && device.has_room(saturated_product(where.max_local_size(), kernels.size));
            const auto& here = may_be_there && !is_there ? kernels.on_host() : kernels;
            made = std::make_shared<TensorState>(here, world, std::move(where), std::move(name), is_there);
            const auto digest =
                static_cast<std::int64_t>(Digest().add(state.digest(made->layout)).add(std::string_view(kernels.type->name())).value());
            ends[0] = digest;
            ends[1] = ~digest;
        },
        ends);
    state.set_number(static_cast<std::uint64_t>(~ends[2]));
    made->number = ~ends[2];
    if (ends[0] != ~ends[1])
        throw InvalidArgument(
            "Tensor: extents, symmetry or element type differ between ranks; make the tensor with the same ones on every rank");
    return made;
}

void TensorState::keep_real() {
    if (!kernels->is_complex || !contains_kind(shape().symmetry(), NodeKind::hermitian) || world->dry() || shape().grid().is_idle(rank()))
        return;
    const auto strides = shape().strides(rank()), sizes = shape().local_sizes(rank());
    const auto elements = shape().local_size(rank());
    for (int s = 0; s < shape().slots() && elements > 0; ++s) {
        const auto stride = strides[s], round = stride * sizes[s];
        for (auto index : real_indices(shape().slot(s), shape().coordinate(rank(), s)))
            for (std::int64_t outer = index * stride; outer < elements; outer += round)
                kernels->make_real(element_at(bytes.data(), outer, kernels->size), stride);
    }
}

AnyTensorState& any_state_of(const AnyTensor& tensor, const char* where) {
    if (!tensor.any_state())
        throw InvalidArgument(std::string(where) + ": the tensor has no shape yet (default-constructed or moved from); "
                                                   "construct it with a world and extents");
    return *tensor.any_state();
}

TensorState& state_of(const AnyTensor& tensor, const char* where) {
    auto& state = any_state_of(tensor, where);
    if (state.is_sparse) throw InvalidArgument(tensor.title() + ": " + where + " needs a dense tensor; make one with to_dense()");
    return static_cast<TensorState&>(state);
}

SparseState& sparse_state_of(const AnyTensor& tensor, const char* where) {
    auto& state = any_state_of(tensor, where);
    if (!state.is_sparse) throw InvalidArgument(tensor.title() + ": " + where + " needs a sparse tensor; make one with to_sparse()");
    return static_cast<SparseState&>(state);
}

std::shared_ptr<TensorState> new_tensor(const ElementKernels& kernels, const World& world, const std::vector<std::int64_t>& extents,
                                        const Symmetry& symmetry, const std::string& name) {
    return TensorState::make(
        kernels, world, [&] { return new_layout(*world.state(), extents, checked_shape(extents, symmetry, name)); }, name);
}

GivenSymmetry::GivenSymmetry(std::vector<Relation> relations)
    : made_([given = std::move(relations)](int order, const std::string& title) {
          if (std::ssize(given) != order)
              throw InvalidArgument(title + ": a symmetry vector of " + std::to_string(given.size()) + " entries for a tensor of order " +
                                    std::to_string(order) + "; give one entry per dimension");
          return Symmetry::from_relations(given);
      }),
      is_given_(true) {}

GivenSymmetry::GivenSymmetry(std::string_view letters, std::string_view text)
    : made_([names = std::string(letters), tree = std::string(text)](int order, const std::string& title) {
          if (std::ssize(names) != order)
              throw InvalidArgument(title + ": " + std::to_string(names.size()) + " letters in \"" + names + "\" for a tensor of order " +
                                    std::to_string(order) + "; give one letter per dimension");
          return Symmetry::parse(names, tree);
      }),
      is_given_(true) {}

namespace {

/// @throws InvalidArgument for a name that is meant as a symmetry
void check_name(const std::string& name, Storage storage) {
    const auto has = [&](const char* part) { return name.find(part) != std::string::npos; };
    if (storage == Storage::dense ? has("(") : has("sym(") || has("hollow(") || has("hermitian("))
        throw InvalidArgument((storage == Storage::dense ? "Tensor: \"" : "SparseTensor: \"") + name +
                              "\" stands where the name of a tensor without symmetry does; for a symmetry give letters for the dimensions "
                              "too, e.g. Tensor<double>(world, {4, 4}, \"ij\", \"antisym(i,j)\"), and a name without parentheses");
}

}  // namespace

AnyTensor::AnyTensor(const ElementKernels& kernels, Storage storage, const World& world, std::vector<std::int64_t> extents,
                     const GivenSymmetry& symmetry, std::string name) {
    const int order = extents.size();
    const auto title = name.empty() ? "tensor" : name;
    if (storage == Storage::sparse) {
        const auto tree = symmetry.of(order, title);
        const CollectiveCall call(ranks_of(world), "SparseTensor", extents, tree, std::string_view(kernels.type->name()));
        world.size();  // refuses World::outside()
        if (tree.trivial()) check_name(name, storage);
        state_ = std::make_shared<SparseState>(kernels, world, std::move(extents), tree, std::move(name));
        return;
    }
    const auto layout = [&] {
        if (!symmetry.is_given()) check_name(name, storage);
        return new_layout(*world.state(), extents, checked_shape(extents, symmetry.of(order, title), name));
    };
    world.size();  // refuses World::outside()
    state_ = TensorState::make(world.state()->kernels(kernels), world, layout, name);
}

AnyTensor::AnyTensor(ElementType element, Storage storage, const World& world, std::vector<std::int64_t> extents, const Symmetry& symmetry,
                     std::string name)
    : AnyTensor(element_kernels(element), storage, world, std::move(extents), GivenSymmetry(symmetry), std::move(name)) {}

AnyTensor::AnyTensor(std::shared_ptr<TensorState> state) : state_(std::move(state)) {}
AnyTensor::AnyTensor(std::shared_ptr<SparseState> state) : state_(std::move(state)) {}

AnyTensor& AnyTensor::operator=(const AnyTensor& other) {
    if (this == &other) return *this;
    if (!other.state_ || other.is_sparse()) {
        state_ = other.state_ ? other.sparse_state()->copy() : nullptr;
        return *this;
    }
    const auto& from = state_of(other, "a copy");
    const CollectiveCall call(from.world->movement_communicator(), "Tensor", from);
    auto copy = TensorState::make(
        from.world->kernels(*from.kernels), from.world_handle, [&] { return from.layout; }, state_ ? state_->name : std::string());
    copy_elements(copy->bytes, from.bytes);
    state_ = std::move(copy);
    return *this;
}

std::shared_ptr<TensorState> AnyTensor::dense_state() const {
    return is_sparse() ? nullptr : std::static_pointer_cast<TensorState>(state_);
}
std::shared_ptr<SparseState> AnyTensor::sparse_state() const {
    return is_sparse() ? std::static_pointer_cast<SparseState>(state_) : nullptr;
}
const ElementKernels& AnyTensor::kernels() const { return *any_state_of(*this, "a tensor").kernels; }

AnyTensor&& AnyTensor::checked(const ElementKernels& wanted, Storage storage) && {
    if (state_ && (*state_->kernels->type != *wanted.type || state_->is_sparse != (storage == Storage::sparse)))
        throw InvalidArgument(title() + ": a " + (is_sparse() ? "sparse" : "dense") + " tensor of " + readable_type(state_->kernels->name) +
                              " as a " + (storage == Storage::sparse ? "sparse" : "dense") + " one of " + readable_type(wanted.name) +
                              "; convert it (converted, to_dense, to_sparse)");
    return std::move(*this);
}

bool AnyTensor::is_sparse() const { return state_ && state_->is_sparse; }
int AnyTensor::order() const {
    any_state_of(*this, "order");
    return static_cast<int>(extents().size());
}
const std::vector<std::int64_t>& AnyTensor::extents() const {
    return is_sparse() ? sparse_state_of(*this, "extents").lengths() : state_of(*this, "extents").shape().extents();
}
const Symmetry& AnyTensor::symmetry() const {
    return is_sparse() ? sparse_state_of(*this, "symmetry").symmetry : state_of(*this, "symmetry").shape().symmetry();
}
const World& AnyTensor::world() const { return any_state_of(*this, "world").world_handle; }
const std::string& AnyTensor::name() const { return any_state_of(*this, "name").name; }
void AnyTensor::set_name(std::string name) { any_state_of(*this, "set_name").name = std::move(name); }
std::string AnyTensor::title() const { return name().empty() ? "tensor" : name(); }

bool AnyTensor::has_keys() const {
    std::int64_t product = 1;
    for (auto n : extents())
        if (__builtin_mul_overflow(product, std::max<std::int64_t>(1, n), &product)) return false;
    return true;
}

std::int64_t AnyTensor::size() const {
    if (!is_sparse()) return state_of(*this, "size").shape().full_size();
    check_keys(*this);
    std::int64_t product = 1;
    for (auto n : extents()) product *= n;
    return product;
}

std::int64_t AnyTensor::stored() const {
    return is_sparse() ? sparse_state_of(*this, "stored").pattern()->total : state_of(*this, "stored").shape().packed_size();
}

std::string AnyTensor::layout_to_string() const {
    const auto& state = state_of(*this, "layout_to_string");
    return state.title() + " " + extents_text(state.shape().extents()) + ": " + state.shape().to_string();
}

std::int64_t AnyTensor::key(Index index) const {
    if (is_sparse()) check_keys(*this);
    const auto& n = extents();
    if (index.size() != n.size())
        throw InvalidArgument(title() + ": an index of " + std::to_string(index.size()) + " entries for a tensor of order " +
                              std::to_string(n.size()));
    std::int64_t key = 0;
    for (std::size_t d = n.size(); d-- > 0;) {
        if (index[d] < 0 || index[d] >= n[d])
            throw InvalidArgument(title() + ": index " + std::to_string(index[d]) + " in dimension " + std::to_string(d) + " of extent " +
                                  std::to_string(n[d]) + "; indices run from 0");
        key = key * n[d] + index[d];
    }
    return key;
}

CanonicalKey AnyTensor::canonical_key(Index index) const {
    key(index);
    CanonicalKey result;
    std::vector<std::int64_t> sorted(index.begin(), index.end()), tuple;
    for (const auto& slot : symmetry().slots()) {
        const auto dims = slot.dimensions();
        tuple.clear();
        for (int d : dims) tuple.push_back(index[d]);
        const auto found = PackedNode(slot, extents(), false).canonicalize(tuple.data(), nullptr);
        for (std::size_t i = 0; i < dims.size(); ++i) sorted[dims[i]] = tuple[i];
        result.negative ^= found.negative;
        result.conjugate ^= found.conjugate;
        result.zero |= found.zero;
        result.real |= found.real;
    }
    result.real = result.real && !result.zero;
    result.key = key(sorted);
    return result;
}

std::vector<std::int64_t> AnyTensor::index(std::int64_t key) const {
    const auto all = size();
    if (key < 0 || key >= all)
        throw InvalidArgument(title() + ": key " + std::to_string(key) + " is out of range; the tensor has " + std::to_string(all) +
                              " elements, keys run from 0");
    std::vector<std::int64_t> result;
    for (auto n : extents()) {
        result.push_back(key % n);
        key /= n;
    }
    return result;
}

Factor AnyTensor::labelled(const Labels& labels) const {
    any_state_of(*this, "indexing");
    return {dense_state(), labels, false, sparse_state()};
}

ElementValue AnyTensor::only_element() const {
    const auto& state = state_of(*this, "scalar");
    if (order() != 0)
        throw InvalidArgument(state.title() + ": scalar() of a tensor of order " + std::to_string(order()) +
                              "; sum its labels into a tensor of order 0 first");
    const HostElements elements(state);
    return ElementValue(state.count() > 0 ? elements.data() : state.kernels->zero, state.kernels->size);
}

}  // namespace arges
