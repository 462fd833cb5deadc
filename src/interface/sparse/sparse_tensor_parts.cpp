// Parts of sparse tensors, and other symmetries of them.
#include "base/text.hpp"
#include "comm/collective_call.hpp"
#include "interface/dense/tensor_state.hpp"
#include "interface/sparse/sparse_calls.hpp"
#include "interface/sparse/sparse_symmetry.hpp"
#include "interface/sparse/sparse_tensor_merge.hpp"
#include "interface/world/call_arguments.hpp"

#include <algorithm>

namespace arges {

namespace {

std::string range_text(const std::vector<std::int64_t>& begin, const std::vector<std::int64_t>& end) {
    std::string text;
    for (std::size_t m = 0; m < begin.size(); ++m)
        text += (text.empty() ? "" : ", ") + std::to_string(begin[m]) + " to " + std::to_string(end[m]);
    return text;
}

/// A range within a tensor.
void check_range(const SparseState& state, const std::vector<std::int64_t>& begin, const std::vector<std::int64_t>& end) {
    const auto& lengths = state.lengths();
    if (begin.size() != lengths.size() || end.size() != lengths.size())
        throw InvalidArgument(state.title() + ": a range of " + std::to_string(begin.size()) + " and " + std::to_string(end.size()) +
                              " numbers for a tensor of order " + std::to_string(lengths.size()) + "; give begin and end of each mode");
    for (std::size_t m = 0; m < lengths.size(); ++m)
        if (begin[m] < 0 || end[m] < begin[m] || end[m] > lengths[m])
            throw InvalidArgument(state.title() + ": the range " + range_text(begin, end) + " is not within the tensor, mode " +
                                  std::to_string(m + 1) + " of which has length " + std::to_string(lengths[m]));
}

/// The nonzeros that are within a range, or those that are not.
std::vector<std::size_t> places_within(const sparse::NonzeroIndices& nonzeros, const std::vector<std::int64_t>& begin,
                                       const std::vector<std::int64_t>& end, bool within) {
    std::vector<std::size_t> places;
    for (std::int64_t k = 0; k < nonzeros.count(); ++k) {
        bool is_within = true;
        for (std::size_t m = 0; m < begin.size(); ++m)
            is_within = is_within && nonzeros.indices[m][k] >= begin[m] && nonzeros.indices[m][k] < end[m];
        if (is_within == within) places.push_back(k);
    }
    return places;
}

}  // namespace

std::shared_ptr<SparseState> sparse_calls::slice(const AnyTensor& tensor, const std::vector<std::int64_t>& begin,
                                                 const std::vector<std::int64_t>& end) {
    const auto& own = sparse_state_of(tensor, "slice");
    const CollectiveCall call(own.world->movement_communicator(), "SparseTensor::slice", own, begin, end);
    const auto whole = whole_state_of(tensor, "slice");
    std::shared_ptr<SparseState> result;
    AnyNonzeros part;
    whole->world->agree([&] {
        check_range(*whole, begin, end);
        part = selected(*whole->pattern(), whole->values(), places_within(*whole->pattern(), begin, end, true));
        for (std::size_t m = 0; m < begin.size(); ++m) {
            part.lengths[m] = end[m] - begin[m];
            for (auto& index : part.indices[m]) index -= begin[m];
        }
        result = std::make_shared<SparseState>(*whole->kernels, whole->world_handle, part.lengths, Symmetry(), "");
    });
    result->replace(std::move(part), SparsePattern::Place::anywhere);
    return result;
}

void sparse_calls::set_slice(SparseState& state, const std::vector<std::int64_t>& begin, const SparseState& from) {
    const CollectiveCall call(state.world->movement_communicator(), "SparseTensor::set_slice", state, from, begin);
    AnyNonzeros all;
    state.world->agree([&] {
        if (from.world != state.world)
            throw InvalidArgument(state.title() + " and " + from.title() + " live on different worlds; use one world for both");
        if (!state.symmetry.trivial() || !from.symmetry.trivial())
            throw InvalidArgument(state.title() + ": set_slice of sparse tensors with symmetry; take with_symmetry({}) of them, or write "
                                                  "elements by write_at()");
        auto end = begin;
        for (std::size_t m = 0; m < std::min(begin.size(), from.lengths().size()); ++m) end[m] += from.lengths()[m];
        if (from.lengths().size() != begin.size()) end.clear();
        check_range(state, begin, end);
        all = selected(*state.pattern(), state.values(), places_within(*state.pattern(), begin, end, false));
        AnyNonzeros moved{*from.pattern(), from.values().copy()};
        for (std::size_t m = 0; m < begin.size(); ++m)
            for (auto& index : moved.indices[m]) index += begin[m];
        append(all, moved);
    });
    state.replace(std::move(all), SparsePattern::Place::anywhere);
}

std::shared_ptr<SparseState> sparse_calls::with_symmetry(const AnyTensor& tensor, const Symmetry& symmetry) {
    const auto& own = sparse_state_of(tensor, "with_symmetry");
    const CollectiveCall call(own.world->movement_communicator(), "SparseTensor::with_symmetry", own, symmetry);
    const auto whole = whole_state_of(tensor, "with_symmetry");
    return representatives_of(whole, symmetry);
}

namespace {

/// The one value that each orbit has. @param parts  of all elements, run by run  @throws InvalidArgument where they differ, or some are
/// missing
Buffer<std::byte> values_of_orbits(const SparseState& whole, const Symmetry& symmetry, const sparse::Runs& runs,
                                   const IndexColumns& indices, const std::byte* parts) {
    const auto& kernels = *whole.kernels;
    Buffer<std::byte> values(runs.count() * kernels.size);
    const auto group = group_of(symmetry);
    std::vector<std::int64_t> x(indices.size());
    for (std::int64_t run = 0; run < runs.count(); ++run) {
        const auto* const first = element_at(parts, runs.first(run), kernels.size);
        const auto begin = runs.start[run], end = runs.start[run + 1];
        for (std::size_t m = 0; m < x.size(); ++m) x[m] = indices[m][run];
        bool is_equal = kernels.is_zero(first) || end - begin == std::ssize(group) || end - begin == orbit_size(group, x);
        for (auto k = begin + 1; k < end && is_equal; ++k)
            is_equal = kernels.agree(first, element_at(parts, runs.order[k], kernels.size), 0);
        if (!is_equal)
            throw InvalidArgument(whole.title() + ": the elements related to that at " + coordinate_text(x, 0) + " by " +
                                  symmetry.to_string() +
                                  " do not have the values that follow from it; assign with canonical(...) if one of each orbit is meant");
        copy_element(element_at(values.data(), run, kernels.size), first, kernels.size);
    }
    return values;
}

}  // namespace

std::shared_ptr<SparseState> representatives_of(const std::shared_ptr<SparseState>& whole, const Symmetry& symmetry) {
    auto& world = *whole->world;
    std::shared_ptr<SparseState> result;
    world.agree(
        [&] { result = std::make_shared<SparseState>(*whole->kernels, whole->world_handle, whole->lengths(), symmetry, whole->name); });
    if (result->symmetry.trivial()) {
        SparseValues values;
        world.agree([&] { values = whole->values().copy(); });
        result->adopt(whole->pattern(), std::move(values));
        return result;
    }
    AnyNonzeros moved;
    world.agree([&] {
        world.require_free(3 * (SparsePattern::bytes(whole->order(), whole->count()) + whole->values().bytes()),
                           whole->title() + ": comparing the elements of orbits");
        moved = whole->nonzeros();
        take_representatives(result->symmetry, *whole->kernels, whole->title() + " under " + result->symmetry.to_string(), moved);
    });
    // All elements of an orbit come together.
    const auto lengths = whole->lengths();
    const auto layout = SparseLayout::along_longest(lengths, world.size());
    const auto require = [&](std::int64_t bytes) {
        world.require_everywhere(bytes, whole->title() + ": comparing the elements of orbits");
    };
    const SparseMatch match(world.movement_communicator(), {spans_of(moved.indices)}, layout, lengths, require);
    Buffer<std::byte> room, values;
    const auto* const parts = match.values(0, moved.values.data(), whole->kernels->size, room);
    IndexColumns indices;
    world.agree([&] {
        indices = match.indices_of();
        values = values_of_orbits(*whole, result->symmetry, match.runs(), indices, parts);
    });
    const auto bytes = whole->kernels->size;
    result->adopt(SparseState::pattern_of(whole->world, {lengths, std::move(indices)}, layout), {std::move(values), bytes});
    return result;
}

}  // namespace arges
