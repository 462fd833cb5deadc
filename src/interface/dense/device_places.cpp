#include "interface/dense/device_places.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>

namespace arges {

namespace {

bool contains(const std::vector<TensorState*>& tensors, const TensorState* tensor) {
    return std::find(tensors.begin(), tensors.end(), tensor) != tensors.end();
}

/// Tensors that are to lie in the other memory.
struct Moves {
    std::vector<TensorState*> off, there;
};

/// By what this rank has, which may be less than others have: tensors are destroyed by each rank for itself.
Moves chosen(const WorldState& world, const std::vector<TensorState*>& used) {
    Moves moves;
    auto device = world.device();
    auto free_on_host = world.free_bytes();
    for (auto* const tensor : used) {
        if (!tensor->crosses || tensor->on_device || tensor->stays) continue;
        std::vector<TensorState*> others;
        for (auto* const other : world.on_device())
            if (other->last_use < tensor->last_use && !other->stays && !contains(used, other) && !contains(moves.off, other))
                others.push_back(other);
        std::ranges::stable_sort(others, std::less<>(), &TensorState::last_use);
        auto trial = device;
        std::int64_t put_off = 0;
        std::size_t count = 0;
        for (; !trial.has_room(tensor->held()) && count < others.size(); ++count) {
            trial.hold(-others[count]->held());
            put_off += others[count]->held();
        }
        if (!trial.has_room(tensor->held()) || put_off > free_on_host) continue;
        free_on_host -= put_off;
        trial.hold(tensor->held());
        device = trial;
        moves.off.insert(moves.off.end(), others.begin(), others.begin() + static_cast<std::ptrdiff_t>(count));
        moves.there.push_back(tensor);
    }
    return moves;
}

/// What the first rank has chosen. Tensors that this one does not have any more are left out. Collective.
Moves chosen_by_all(const WorldState& world, const std::vector<TensorState*>& used) {
    auto moves = chosen(world, used);
    if (world.movement_communicator() == nullptr) return moves;
    const auto agreed = [&](std::vector<TensorState*>& chosen, const std::vector<TensorState*>& among) {
        std::vector<std::uint64_t> numbers;
        for (const auto* const tensor : chosen) numbers.push_back(tensor->number);
        world.communicator().broadcast(numbers, 0);
        chosen.clear();
        for (const auto number : numbers)
            if (const auto it = std::ranges::find(among, number, &TensorState::number); it != among.end()) chosen.push_back(*it);
    };
    agreed(moves.off, world.on_device());
    agreed(moves.there, used);
    return moves;
}

/// Copies tensors to the other memory; false, and they are as they were, if a rank has no room. Collective.
bool move_all(const WorldState& world, const std::vector<TensorState*>& tensors, bool to_device) {
    std::vector<Buffer<std::byte>> copies;
    bool has_room = true;
    world.agree([&] {
        try {
            for (const auto* const tensor : tensors) {
                copies.emplace_back(tensor->bytes.size(), to_device ? world.kernels(*tensor->kernels).space : nullptr);
                copy_elements(copies.back(), tensor->bytes);
            }
            world.device().check();
        } catch (const OutOfMemory&) {
            has_room = false;
        }
    });
    if (world.movement_communicator() != nullptr) has_room = world.communicator().minimum(has_room ? 1 : 0) == 1;
    for (std::size_t i = 0; has_room && i < tensors.size(); ++i) tensors[i]->put(to_device, std::move(copies[i]));
    return has_room;
}

}  // namespace

bool bring_to_device(WorldState& world, const std::vector<TensorState*>& used) {
    if (world.dry() || std::ranges::none_of(used, [](const auto* tensor) { return tensor->crosses && !tensor->on_device; })) return false;
    const auto moves = chosen_by_all(world, used);
    if (moves.there.empty() || !move_all(world, moves.off, false)) return false;
    return move_all(world, moves.there, true);
}

void note_use(WorldState& world, const std::vector<TensorState*>& used, const std::vector<TensorState*>& crossing) {
    const auto now = world.next_use();
    for (auto* const tensor : used) tensor->last_use = now;
    for (auto* const tensor : crossing) tensor->crosses = true;
}

}  // namespace arges
