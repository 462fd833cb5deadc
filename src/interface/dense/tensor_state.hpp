/// What a Tensor holds.
#pragma once

#include "arges/tensor.hpp"
#include "base/buffer.hpp"
#include "base/digest.hpp"
#include "interface/world/world_state.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace arges {

/// What dense and sparse tensors have in common.
class AnyTensorState {
public:
    AnyTensorState(const ElementKernels& element, World handle, std::string title, bool sparse)
        : kernels(&element), world_handle(std::move(handle)), world(world_handle.state()), name(std::move(title)), is_sparse(sparse) {}
    virtual ~AnyTensorState() = default;
    AnyTensorState(const AnyTensorState&) = delete;
    AnyTensorState& operator=(const AnyTensorState&) = delete;
    std::int64_t rank() const { return world->rank(); }
    /// Name for messages.
    std::string title() const { return !name.empty() ? name : is_sparse ? "sparse tensor" : "tensor"; }

    const ElementKernels* kernels;  // of the element type, under plus-times if that is defined
    World world_handle;
    std::shared_ptr<WorldState> world;
    std::string name;
    const bool is_sparse;
    int moves = 0;             // how often it was moved for the sake of later runs of a statement
    std::uint64_t number = 0;  // tells the tensors of a world apart, on all ranks alike
};

/// The memory by which two arrays are copied.
inline const MemorySpace* space_of(const Buffer<std::byte>& a, const Buffer<std::byte>& b) {
    return a.space() != nullptr ? a.space() : b.space();
}

/// Copies elements of the same type, as many as the target has, between any two memories.
inline void copy_elements(Buffer<std::byte>& to, const Buffer<std::byte>& from) {
    copy_array(to.data(), from.data(), to.size(), space_of(to, from));
}

/// Shape, layout and local elements of one dense tensor, whose type is known at run time.
class TensorState : public AnyTensorState {
public:
    /// Zeros. Local; make() is the way to all ranks' state. @throws OutOfMemory
    /// @param on_device  the elements lie in the memory of the world's device, which has room for them
    TensorState(const ElementKernels& kernels, World world, Layout layout, std::string name, bool on_device = false);
    /// Zeros in the layout that the function gives, in the memory of the kernels; on the host if the device has no room. Collective.
    /// @throws what the function throws, OutOfMemory, or InvalidArgument if the layout or the element type is not the same on all ranks: on
    /// every rank
    static std::shared_ptr<TensorState> make(const ElementKernels& kernels, const World& world, const std::function<Layout()>& layout,
                                             std::string name);
    ~TensorState() override {
        world->hold(-held_, on_device);
        if (on_device) world->leaves_device(this);
    }

    /// Takes over elements that lie in another layout. The account is the same on all ranks. Local.
    void relocate(Layout where, Buffer<std::byte> elements) {
        const auto needed = where.max_local_size() * kernels->size;
        world->hold(needed - held_, on_device);
        held_ = needed;
        const auto* const space = space_of(bytes, elements);
        if (stays && where == layout) return copy_array(bytes.data(), elements.data(), elements.size(), space);
        layout = std::move(where);
        if (elements.space() == kernels->space) {
            bytes = std::move(elements);
            return;
        }
        bytes = Buffer<std::byte>(elements.size(), kernels->space);
        copy_array(bytes.data(), elements.data(), elements.size(), space);
    }
    /// Takes over the same elements in the other memory, which has room for them. Local.
    void put(bool there, Buffer<std::byte> elements) {
        world->hold(-held_, on_device);
        world->hold(held_, there);
        there ? world->comes_to_device(this) : world->leaves_device(this);
        on_device = there;
        kernels = there ? &world->kernels(*kernels) : &kernels->on_host();
        bytes = std::move(elements);
        crosses = false;
    }
    /// Bytes on a rank, as the world accounts for them.
    std::int64_t held() const { return held_; }
    /// Drops imaginary parts, be they of rounding, where the symmetry makes elements real. Free without hermitian nodes. Local.
    void keep_real();
    const Layout& shape() const { return layout; }
    /// Elements on this rank; none in a dry run.
    std::int64_t count() const { return bytes.size() / kernels->size; }

    bool on_device;  // in a dry run of a machine with a device kernels are those of the host
    Layout layout;
    Buffer<std::byte> bytes;    // of the elements on this rank; empty in a dry run
    bool stays = false;         // the caller has the address of the elements
    bool crosses = false;       // it lies on the host, and a step on the device has copied it
    std::int64_t last_use = 0;  // number of the last statement that used it, see WorldState::next_use()

private:
    std::int64_t held_ = 0;
};

/// Which tensor it is.
inline void add_to(Digest& digest, const TensorState& tensor) { digest.add(tensor.number); }

/// The elements of a tensor on this rank for the host's code: themselves, or a copy where they lie in another memory. The tensor must stay
/// where it is meanwhile. Local.
class HostElements {
public:
    /// @throws OutOfMemory
    explicit HostElements(const TensorState& state) : state_(&state) {
        if (state.bytes.space() == nullptr) return;
        copy_ = Buffer<std::byte>(state.bytes.size());
        copy_array(copy_.data(), state.bytes.data(), copy_.size(), state.bytes.space());
    }
    const std::byte* data() const { return state_->bytes.space() == nullptr ? state_->bytes.data() : copy_.data(); }
    /// Of their type.
    template <class T>
    const T* of() const {
        assert(*state_->kernels->type == typeid(T));
        return reinterpret_cast<const T*>(data());
    }

protected:
    const TensorState* state_;
    Buffer<std::byte> copy_;
};

/// Likewise to change them: a copy takes their place in the destructor.
class ChangedHostElements : HostElements {
public:
    /// @throws OutOfMemory
    explicit ChangedHostElements(TensorState& state) : HostElements(state), changed_(&state) {}
    ~ChangedHostElements() { copy_array(changed_->bytes.data(), copy_.data(), copy_.size(), changed_->bytes.space()); }
    ChangedHostElements(const ChangedHostElements&) = delete;
    ChangedHostElements& operator=(const ChangedHostElements&) = delete;
    std::byte* data() { return copy_.size() > 0 ? copy_.data() : changed_->bytes.data(); }
    /// Of their type.
    template <class T>
    T* of() {
        return const_cast<T*>(HostElements::of<T>());
    }

private:
    TensorState* changed_;
};

/// Calls f(offset, indices) for each element that `rank` stores under a layout.
template <class F>
void for_each_element(const Layout& layout, std::int64_t rank, F&& f) {
    if (layout.grid().is_idle(rank) || layout.local_size(rank) == 0) return;
    std::vector<std::int64_t> x(layout.order());
    const auto strides = layout.strides(rank);
    auto walk = [&](auto&& self, int s, std::int64_t offset) -> void {
        if (s < 0) {
            f(offset, static_cast<const std::vector<std::int64_t>&>(x));
            return;
        }
        const auto& dims = layout.slot_dimensions(s);
        layout.slot(s).for_each(layout.coordinate(rank, s), [&](std::int64_t index, const std::int64_t* tuple) {
            for (std::size_t i = 0; i < dims.size(); ++i) x[dims[i]] = tuple[i];
            self(self, s - 1, offset + index * strides[s]);
        });
    };
    walk(walk, layout.slots() - 1, 0);
}

/// Number of elements of the full tensor that a stored element stands for.
inline std::int64_t orbit_size(const Layout& layout, const std::vector<std::int64_t>& x) {
    std::int64_t product = 1;
    std::array<std::int64_t, max_slot_order> tuple;
    for (int s = 0; s < layout.slots(); ++s) {
        const auto& dims = layout.slot_dimensions(s);
        if (dims.size() == 1) continue;
        for (std::size_t i = 0; i < dims.size(); ++i) tuple[i] = x[dims[i]];
        product *= layout.slot(s).orbit_size(tuple.data());
    }
    return product;
}

/// True if a node of this kind is in the tree.
inline bool contains_kind(const SymmetryNode& node, NodeKind kind) {
    return node.kind == kind ||
           std::any_of(node.children.begin(), node.children.end(), [&](const auto& c) { return contains_kind(c, kind); });
}

inline bool contains_kind(const Symmetry& symmetry, NodeKind kind) {
    return std::any_of(symmetry.slots().begin(), symmetry.slots().end(), [&](const auto& slot) { return contains_kind(slot, kind); });
}

/// The layout that new tensors of a world get.
Layout new_layout(WorldState& world, const std::vector<std::int64_t>& extents, const Symmetry& symmetry);

/// Zeros in the layout of new tensors. Collective. @throws InvalidArgument or OutOfMemory on every rank as the constructors of Tensor
std::shared_ptr<TensorState> new_tensor(const ElementKernels& kernels, const World& world, const std::vector<std::int64_t>& extents,
                                        const Symmetry& symmetry, const std::string& name);

/// Throws InvalidArgument unless a symmetry fits extents; returns it with its order set.
Symmetry checked_symmetry(const std::vector<std::int64_t>& extents, const Symmetry& symmetry, const std::string& title);

/// Likewise unless they make a tensor.
Symmetry checked_shape(const std::vector<std::int64_t>& extents, const Symmetry& symmetry, const std::string& name);

/// The state of any tensor. @throws InvalidArgument if there is none
AnyTensorState& any_state_of(const AnyTensor& tensor, const char* where);

/// The state of a dense tensor. @throws InvalidArgument if there is none, or it is sparse
TensorState& state_of(const AnyTensor& tensor, const char* where);

}  // namespace arges
