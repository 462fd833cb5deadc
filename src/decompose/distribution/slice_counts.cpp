#include "decompose/distribution/slice_counts.hpp"

#include "base/first_error.hpp"
#include "interface/sparse/sparse_tensor_slices.hpp"

namespace arges::decompose {

namespace {

/// Memory of numbers as a piece to send or to receive.
Piece piece(std::int64_t peer, partition::Team::Numbers& numbers) {
    return {peer, reinterpret_cast<std::byte*>(numbers.data()), static_cast<std::int64_t>(numbers.size() * sizeof(std::int64_t))};
}

}  // namespace

std::vector<partition::Team::Numbers> RankTeam::all_to_all(std::vector<Numbers> to_rank) const {
    if (comm_.size() == 1) return to_rank;
    return exchanged(comm_, std::move(to_rank));
}

partition::SlicePart RankTeam::count(std::span<const std::int64_t> indices) const {
    auto list = nonempty_slices(comm_, indices);
    partition::SlicePart result{std::move(list.mine), {0}};
    comm_.agree([&] {
        result.start.reserve(result.slices.size() + 1);
        for (auto count : list.counts) result.start.push_back(result.start.back() + count);
    });
    return result;
}

partition::Team::Numbers RankTeam::pass_along(Numbers state, const std::function<Numbers(const Numbers&)>& step) const {
    constexpr std::int64_t failed = -1;  // in place of the size, behind a rank whose step has thrown
    FirstError error;
    Numbers size(1);
    if (comm_.rank() > 0) {
        comm_.exchange({}, {piece(comm_.rank() - 1, size)});
        state.resize(std::max<std::int64_t>(0, size[0]));
        comm_.exchange({}, {piece(comm_.rank() - 1, state)});
    }
    if (size[0] != failed) error.run([&] { state = step(state); });
    if (error.any() || size[0] == failed) state.clear();
    size[0] = error.any() || size[0] == failed ? failed : std::ssize(state);
    if (comm_.rank() + 1 < comm_.size()) comm_.exchange({piece(comm_.rank() + 1, size), piece(comm_.rank() + 1, state)}, {});
    comm_.agree([&] { error.rethrow(); });
    comm_.broadcast(state, comm_.size() - 1);
    return state;
}

}  // namespace arges::decompose
