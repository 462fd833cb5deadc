// Layers of a tensor that lies on several ranks, many cuts at once: one sum over the ranks, then the states
// of SPLATT's chains pass from rank to rank.
#include "partition/tensor_part.hpp"

#include "partition/sample_hash.hpp"
#include "partition/value_counts.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace arges::partition {

namespace {

bool is_chain(const LayerCut& cut) { return cut.rule.policy == LayerPolicy::nonzeros; }

/// The indices of this rank's nonzeros whose hash is small, by mode.
std::vector<std::vector<std::int64_t>> sampled_indices(const Team& team, const IndexView& view, double share) {
    std::vector<std::vector<std::int64_t>> result(view.indices.size());
    team.agree([&] {
        std::vector<std::uint32_t> positions;
        for_each_hashed_block(view, [&](std::size_t begin, const auto& hashes, const auto&) {
            for (const auto i : sampled_positions(hashes, share, positions))
                for (std::size_t m = 0; m < result.size(); ++m) result[m].push_back(view.indices[m][begin + i]);
        });
    });
    return result;
}

/// Makes counts of some nonzeros, behind each other, those of all: each slice by itself, as slices of other ranks must not matter.
void scale_counts(std::vector<std::int64_t>& start, double share) {
    std::int64_t before = 0, sum = 0;
    for (auto& end : start) {
        sum += std::llround(static_cast<double>(end - std::exchange(before, end)) / share);
        end = sum;
    }
}

/// Appends this rank's nonzeros in each of `layers` equal layers.
void append_layer_counts(Team::Numbers& counts, const TensorPart& tensor, std::size_t mode, std::int64_t layers) {
    const auto& part = tensor.modes[mode];
    const auto mine = nonzeros_of_equal_layers(part.slices, part.start, tensor.view.lengths[mode], layers);
    counts.insert(counts.end(), mine.begin(), mine.end());
}

/// Nonzeros of the equal layers of all cuts that need them, one cut behind the other.
Team::Numbers count_equal_layers(const Team& team, const TensorPart& tensor, const std::vector<LayerCut>& cuts) {
    Team::Numbers counts;
    for (const auto& cut : cuts)
        if (!is_chain(cut)) append_layer_counts(counts, tensor, cut.mode, cut.layers);
    team.sum(counts);
    return counts;
}

/// Appends a chain's state with its length in front.
void append(Team::Numbers& states, const LayerChain& chain) {
    const auto state = chain.state();
    states.push_back(std::ssize(state));
    states.insert(states.end(), state.begin(), state.end());
}

/// Takes the chain whose state begins at `at`, and moves on.
LayerChain next_chain(const Team::Numbers& states, std::size_t& at) {
    const auto begin = states.begin() + at + 1, end = begin + states[at];
    at += static_cast<std::size_t>(states[at]) + 1;
    return LayerChain::from_state({begin, end});
}

/// Runs the chains of all cuts that need one over the slices of all ranks.
Team::Numbers run_chains(const Team& team, const TensorPart& tensor, const std::vector<LayerCut>& cuts) {
    Team::Numbers nonzeros, states;
    for (const auto& mode : tensor.modes) nonzeros.push_back(mode.start.back());
    team.sum(nonzeros);
    for (const auto& cut : cuts)
        if (is_chain(cut)) append(states, LayerChain(tensor.view.lengths[cut.mode], nonzeros[cut.mode], cut.layers));
    return team.pass_along(std::move(states), [&](const Team::Numbers& before) {
        Team::Numbers after;
        std::size_t at = 0;
        for (const auto& cut : cuts) {
            if (!is_chain(cut)) continue;
            auto chain = next_chain(before, at);
            chain.feed(tensor.modes[cut.mode].slices, tensor.modes[cut.mode].start);
            append(after, chain);
        }
        return after;
    });
}

}  // namespace

SlicePart Team::count(std::span<const std::int64_t> indices) const {
    auto known = counted(indices);
    SlicePart result{std::move(known.values), {0}};
    for (auto count : known.counts) result.start.push_back(result.start.back() + count);
    return result;
}

TensorPart counted_tensor(const Team& team, const IndexView& view, double share) {
    TensorPart result{view, {}, share};
    const auto some = share < 1 ? sampled_indices(team, view, share) : std::vector<std::vector<std::int64_t>>();
    for (std::size_t m = 0; m < view.indices.size(); ++m) {
        auto& mode = result.modes.emplace_back(team.count(share < 1 ? some[m] : view.indices[m]));
        if (share < 1) scale_counts(mode.start, share);
    }
    return result;
}

TensorPart whole_tensor(const IndexView& view, const SliceTable& table) {
    TensorPart result{view, {}};
    for (const auto& mode : table.modes) result.modes.push_back({mode.slices, mode.start});
    return result;
}

std::vector<std::int64_t> count_layers(const Team& team, const TensorPart& tensor, std::size_t mode, std::int64_t layers) {
    Team::Numbers counts;
    append_layer_counts(counts, tensor, mode, layers);
    team.sum(counts);
    return counts;
}

std::vector<Boundaries> cut_modes(const Team& team, const TensorPart& tensor, const std::vector<LayerCut>& cuts) {
    const auto counts = count_equal_layers(team, tensor, cuts);
    const auto chains = run_chains(team, tensor, cuts);
    std::vector<Boundaries> result;
    auto count = counts.begin();
    std::size_t at = 0;
    for (const auto& cut : cuts) {
        if (is_chain(cut)) {
            result.push_back(next_chain(chains, at).finish());
            continue;
        }
        result.push_back(corrected_layers(cut.rule, tensor.view.lengths[cut.mode], {count, count + cut.layers}));
        count += cut.layers;
    }
    return result;
}

std::vector<Boundaries> cut_grid(const Team& team, const IndexView& view, const Grid& grid, const LayerRule& rule) {
    TensorPart tensor{view, std::vector<SlicePart>(grid.size())};
    std::vector<LayerCut> cuts;
    for (std::size_t m = 0; m < grid.size(); ++m) {
        if (grid[m] > 1 && rule.policy != LayerPolicy::set) tensor.modes[m] = team.count(view.indices[m]);
        cuts.push_back({m, grid[m], rule});
    }
    return cut_modes(team, tensor, cuts);
}

}  // namespace arges::partition
