// Elements by their numbers: other extents, and shares of the ranks.
#include "arges/error.hpp"
#include "comm/collective_call.hpp"
#include "interface/dense/tensor_shares.hpp"
#include "interface/dense/tensor_state.hpp"
#include "interface/world/call_arguments.hpp"
#include "layout/layout.hpp"
#include "redistribute/numbering.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace arges {

namespace {

/// Between a rank's array and its elements as a list in an order of dimensions.
void transpose(const TensorState& state, const std::vector<int>& order, const std::byte* from, std::byte* to, bool to_list) {
    const auto sizes = state.shape().local_sizes(state.rank());
    const auto strides = state.shape().strides(state.rank());
    std::vector<local::TransferAxis> axes(order.size());
    std::int64_t step = 1;
    for (const int d : order) {
        const std::size_t s = d;
        axes[s] = {.count = sizes[s], .from_stride = to_list ? strides[s] : step, .to_stride = to_list ? step : strides[s]};
        step *= sizes[s];
    }
    if (step > 0) state.kernels->transfer(axes, from, to, nullptr, {});
}

bool is_transposed(const std::vector<int>& order, const TensorState& state) {
    std::vector<int> longer;
    for (const int d : order)
        if (state.shape().extents()[d] != 1) longer.push_back(d);
    return !std::is_sorted(longer.begin(), longer.end());
}

/// One end of a movement: a tensor with a plain layout in an order of its dimensions, or shares of which this rank has one.
struct End {
    TensorState* tensor = nullptr;
    const std::vector<int>& order;
    const std::vector<std::int64_t>* bounds = nullptr;
    std::byte* share = nullptr;

    bool is_copied() const { return tensor != nullptr && is_transposed(order, *tensor); }
    std::int64_t memory() const { return is_copied() ? tensor->shape().max_local_size() * tensor->kernels->size : 0; }
    ElementNumbers numbering() const { return tensor != nullptr ? ElementNumbers(tensor->shape(), order) : ElementNumbers(*bounds); }
};

/// This rank's elements at an end as a list: where they lie, or in a buffer. Local.
class List {
public:
    List(const End& end, bool is_written) : end_(end), data_(end.share) {
        if (end.tensor == nullptr) return;
        if (is_written)
            data_ = changed_.emplace(*end.tensor).data();
        else
            data_ = const_cast<std::byte*>(here_.emplace(*end.tensor).data());
        if (!end.is_copied()) return;
        copy_ = Buffer<std::byte>(end.tensor->bytes.size());
        if (!is_written) transpose(*end.tensor, end.order, data_, copy_.data(), true);
    }
    std::byte* data() { return end_.is_copied() ? copy_.data() : data_; }
    /// Puts what was written where it lies.
    void finish() {
        if (end_.is_copied()) transpose(*end_.tensor, end_.order, copy_.data(), data_, false);
    }

private:
    const End& end_;
    std::optional<HostElements> here_;
    std::optional<ChangedHostElements> changed_;
    Buffer<std::byte> copy_;
    std::byte* data_;
};

/// Collective. @throws OutOfMemory
void move(const TensorState& state, const End& from, const End& to, const char* what) {
    auto& world = *state.world;
    const auto* const comm = world.movement_communicator();
    const auto from_numbering = from.numbering(), to_numbering = to.numbering();
    std::optional<NumberedMovement> movement;
    std::optional<List> source, target;
    world.agree([&] { movement.emplace(from_numbering, to_numbering, world.size(), state.rank(), state.kernels->size); });
    world.require_everywhere(world.most(movement->memory()) + from.memory() + to.memory(), state.title() + ": " + what);
    world.agree([&] {
        movement->reserve();
        source.emplace(from, false);
        target.emplace(to, true);
    });
    movement->run(comm, source->data(), target->data());
    target->finish();
}

/// The same elements without symmetry, in a plain layout: of the tensor itself, or of a copy. Collective.
class PlainTensor : public AnyTensor {
public:
    explicit PlainTensor(const AnyTensor& tensor)
        : AnyTensor(is_plain(tensor.dense_state()->shape()) ? AnyTensor(tensor.any_state())
                                                            : tensor.with_symmetry(Symmetry::none(tensor.order()))) {}
    TensorState& state() const { return state_of(*this, "a tensor without symmetry"); }
};

std::vector<int> order_of(int dimensions, bool last_fastest) {
    std::vector<int> order(dimensions);
    std::iota(order.begin(), order.end(), 0);
    if (last_fastest) std::reverse(order.begin(), order.end());
    return order;
}

void check(const TensorState& state, const Shares& shares, const char* what) {
    auto sorted = shares.order;
    std::sort(sorted.begin(), sorted.end());
    if (sorted != order_of(state.shape().order(), false))
        throw InvalidArgument(state.title() + ": " + what + " with an order of other dimensions than its own; name each once");
    const auto& bounds = shares.bounds;
    if (std::ssize(bounds) != state.world->size() + 1 || bounds.front() != 0 || bounds.back() != state.shape().full_size() ||
        !std::is_sorted(bounds.begin(), bounds.end()))
        throw InvalidArgument(state.title() + ": " + what + " with bounds that do not share " + std::to_string(state.shape().full_size()) +
                              " elements among " + std::to_string(state.world->size()) +
                              " ranks; they ascend from 0 to the number of elements");
}

}  // namespace

AnyTensor AnyTensor::reshaped(const std::vector<std::int64_t>& extents, bool last_fastest) const {
    const auto& given = state_of(*this, "reshaped");
    const CollectiveCall call(given.world->movement_communicator(), "Tensor::reshaped", given, extents, last_fastest);
    auto result = TensorState::make(
        given.world->kernels(*given.kernels), given.world_handle,
        [&] {
            auto layout = new_layout(*given.world, extents, checked_shape(extents, Symmetry(), given.name));
            if (layout.full_size() != size())
                throw InvalidArgument(given.title() + ": " + std::to_string(size()) + " elements in a shape of " +
                                      std::to_string(layout.full_size()) + "; give extents with the same product");
            return layout;
        },
        given.name);
    if (size() == 0 || given.world->dry()) return AnyTensor(std::move(result));
    const PlainTensor plain(*this);
    auto& from = plain.state();
    const auto from_order = order_of(order(), last_fastest), to_order = order_of(result->shape().order(), last_fastest);
    const End here{.tensor = &from, .order = from_order}, there{.tensor = result.get(), .order = to_order};
    if (given.world->movement_communicator() != nullptr) {
        move(from, here, there, "reshaping it");
        return AnyTensor(std::move(result));
    }
    // On one rank a list on one side is the list on the other.
    given.world->require_everywhere(there.is_copied() ? here.memory() : 0, given.title() + ": reshaping it");
    ChangedHostElements target(*result);
    if (there.is_copied())
        transpose(*result, to_order, List(here, false).data(), target.data(), false);
    else
        transpose(from, from_order, HostElements(from).data(), target.data(), true);
    return AnyTensor(std::move(result));
}

void read_share(const AnyTensor& tensor, const Shares& shares, void* to) {
    const auto& given = state_of(tensor, "read_share");
    const auto* const comm = given.world->movement_communicator();
    const CollectiveCall call(comm, "read_share", given, shares.order, shares.bounds);
    check(given, shares, "read_share");
    if (tensor.size() == 0 || given.world->dry()) return;
    const PlainTensor plain(tensor);
    move(plain.state(), {.tensor = &plain.state(), .order = shares.order},
         {.order = shares.order, .bounds = &shares.bounds, .share = static_cast<std::byte*>(to)}, "reading a share");
}

void write_share(AnyTensor& tensor, const Shares& shares, const void* from) {
    auto& state = state_of(tensor, "write_share");
    const auto* const comm = state.world->movement_communicator();
    const CollectiveCall call(comm, "write_share", state, shares.order, shares.bounds);
    check(state, shares, "write_share");
    if (!is_plain(state.shape()))
        throw InvalidArgument(state.title() + ": write_share of a tensor that is not without symmetry; write to one that is");
    if (tensor.size() == 0 || state.world->dry()) return;
    move(state, {.order = shares.order, .bounds = &shares.bounds, .share = const_cast<std::byte*>(static_cast<const std::byte*>(from))},
         {.tensor = &state, .order = shares.order}, "writing shares");
}

}  // namespace arges
