// Arrays of the caller as tensors and back.
#include "arges/error.hpp"
#include "base/element_at.hpp"
#include "comm/collective_call.hpp"
#include "interface/dense/tensor_state.hpp"
#include "interface/world/call_arguments.hpp"
#include "layout/layout.hpp"

#include <algorithm>
#include <cstdint>

namespace arges {

namespace {

/// Is an array aligned as elements of so many bytes are?
bool is_aligned(const void* data, std::int64_t bytes) {
    return reinterpret_cast<std::uintptr_t>(data) % static_cast<std::uintptr_t>(std::min<std::int64_t>(bytes, 16)) == 0;
}

/// Where the entries of a dimension are in the array and here.
struct DimensionPlaces {
    std::vector<std::int64_t> from, to;

    /// The axis; `first` are what the offsets of all entries have in common. Lists are left out where steps are even.
    local::TransferAxis axis(std::int64_t& first_from, std::int64_t& first_to) {
        const auto step = [](const std::vector<std::int64_t>& places) { return places.size() > 1 ? places[1] - places[0] : 0; };
        const auto is_even = [&](const std::vector<std::int64_t>& places) {
            for (std::size_t i = 2; i < places.size(); ++i)
                if (places[i] - places[i - 1] != step(places)) return false;
            return true;
        };
        local::TransferAxis axis{.count = std::ssize(from)};
        if (is_even(from) && is_even(to)) {
            first_from += from[0];
            first_to += to[0];
            axis.from_stride = step(from);
            axis.to_stride = step(to);
        } else {
            axis.from = from.data();
            axis.to = to.data();
        }
        return axis;
    }
};

}  // namespace

void AnyTensor::write_array(const void* data, std::span<const std::int64_t> strides) {
    auto& state = state_of(*this, "set_array");
    const auto& layout = state.shape();
    const CollectiveCall call(state.world->movement_communicator(), "Tensor::set_array", state);
    state.world->agree([&] {
        if (!layout.symmetry().trivial())
            throw InvalidArgument(state.title() + ": set_array of a tensor with the symmetry " + layout.symmetry().to_string() +
                                  "; fill one without symmetry, and take Tensor::with_symmetry() of it");
        if (static_cast<int>(strides.size()) != layout.order())
            throw InvalidArgument(state.title() + ": set_array with " + std::to_string(strides.size()) + " strides for a tensor of order " +
                                  std::to_string(layout.order()) + "; give one for each dimension");
        if (data == nullptr && size() > 0) throw InvalidArgument(state.title() + ": set_array of a null pointer; give an array");
    });
    if (element_type_of(*state.kernels)) call.require_same(StridedArray{data, extents(), strides, state.kernels->size});
    if (state.world->dry() || layout.grid().is_idle(state.rank()) || layout.local_size(state.rank()) == 0) return;
    const auto local_strides = layout.strides(state.rank());
    std::vector<DimensionPlaces> places(layout.slots());
    std::vector<local::TransferAxis> axes;
    std::int64_t first_from = 0, first_to = 0;
    for (int s = 0; s < layout.slots(); ++s) {
        auto& own = places[s];
        const auto stride = strides[layout.slot_dimensions(s)[0]];
        const auto& slot = layout.slot(s);
        if (!slot.is_blocks() && !slot.is_cut()) {  // every grid_length()-th index
            const auto coordinate = layout.coordinate(state.rank(), s);
            first_from += coordinate * stride;
            axes.push_back(
                {.count = slot.local_size(coordinate), .from_stride = slot.grid_length() * stride, .to_stride = local_strides[s]});
            continue;
        }
        slot.for_each(layout.coordinate(state.rank(), s), [&](std::int64_t index, const std::int64_t* tuple) {
            own.from.push_back(tuple[0] * stride);
            own.to.push_back(index * local_strides[s]);
        });
        if (own.from.empty()) return;
        axes.push_back(own.axis(first_from, first_to));
    }
    const auto bytes = state.kernels->size;
    if (state.kernels->space == nullptr) {
        state.kernels->transfer(axes, element_at(data, first_from, bytes), element_at(state.bytes.data(), first_to, bytes), nullptr, {});
    } else {
        ChangedHostElements elements(state);
        state.kernels->transfer(axes, element_at(data, first_from, bytes), element_at(elements.data(), first_to, bytes), nullptr, {});
    }
}

void* AnyTensor::array_here() {
    auto& state = state_of(*this, "array");
    const bool is_whole = !state.world->dry() && state.world->size() == 1 && state.kernels->space == nullptr && is_plain(state.shape());
    if (!is_whole) return nullptr;
    state.stays = true;
    return state.bytes.data();
}

AnyTensor AnyTensor::adopted(const ElementKernels& kernels, const World& world, std::vector<std::int64_t> extents, void* data,
                             std::shared_ptr<const void> owner, std::string name) {
    const auto title = name.empty() ? std::string("tensor") : name;
    if (world.is_dry_run() || world.size() != 1)
        throw InvalidArgument(title + ": over_array on a world of " + std::to_string(world.size()) +
                              (world.is_dry_run() ? " imaginary" : "") + " ranks; on more than one rank set_array() copies");
    if (kernels.space != nullptr || !is_aligned(data, kernels.size) || !owner)
        throw InvalidArgument(title +
                              ": over_array needs an array of the host's memory that is aligned as its elements are, and its owner");
    auto state = TensorState::make(
        kernels, world, [&] { return new_layout(*world.state(), extents, checked_shape(extents, Symmetry(), name)); }, name);
    if (state->shape().has_padding())
        throw InvalidArgument(title + ": over_array needs a layout without padding (World::set_group_mapping)");
    state->bytes = Buffer<std::byte>(static_cast<std::byte*>(data), state->bytes.size(), std::move(owner));
    state->stays = true;
    return AnyTensor(std::move(state));
}

}  // namespace arges
