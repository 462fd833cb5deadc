// Loads and volumes of medium-, coarse- and fine-grain distributions, counted exactly; ratios of irregularity-aware-cpd-2023, section 3.1,
// and Table 2 of hypertensor-sc15.
#include "partition/statistics.hpp"

#include "arges/error.hpp"
#include "base/math.hpp"
#include "base/splitmix.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>

namespace arges::partition {

namespace {

void check_ranks(std::int64_t ranks) {
    if (ranks < 1 || ranks > std::numeric_limits<std::int32_t>::max())
        throw InvalidArgument("a distribution over " + std::to_string(ranks) + " ranks cannot be; there must be 1 to 2^31 - 1");
}

void check_owners(std::span<const std::int32_t> owners, std::int64_t expected, std::int64_t ranks, const std::string& what) {
    if (std::ssize(owners) != expected)
        throw InvalidArgument("the distribution names ranks for " + std::to_string(owners.size()) + " " + what + "; the tensor has " +
                              std::to_string(expected));
    for (auto rank : owners)
        if (rank < 0 || rank >= ranks)
            throw InvalidArgument("the distribution gives one of its " + what + " to rank " + std::to_string(rank) + " of " +
                                  std::to_string(ranks));
}

/// Holders of all rows of a mode, from the rank of each nonzero.
HolderLists holders_of(const ModeSlices& mode, std::span<const std::int32_t> part, std::int64_t ranks) {
    HolderCollector collector(ranks);
    for (std::size_t s = 0; s < mode.slices.size(); ++s) {
        for (auto k = mode.start[s]; k < mode.start[s + 1]; ++k) collector.add(part[mode.order[k]]);
        collector.end_row(mode.slices[s]);
    }
    return collector.take();
}

/// The same for layers of up to 64 ranks, a few times faster: a bit for each rank, set in the order of the nonzeros.
HolderLists holders_by_masks(const ModeSlices& mode, const ModeLayers& layers, std::span<const std::int32_t> part) {
    std::vector<std::uint64_t> masks(mode.slices.size(), 0), bits;
    for (std::int64_t rank = 0; rank < layers.ranks; ++rank) bits.push_back(std::uint64_t{1} << layers.number_in_layer(rank));
    for (std::size_t k = 0; k < part.size(); ++k) masks[mode.slice[k]] |= bits[part[k]];
    HolderLists lists;
    lists.rows = mode.slices;
    lists.start.reserve(masks.size() + 1);
    const auto layer = layers_of_slices(mode.slices, layers.boundaries);
    for (std::size_t s = 0; s < masks.size(); ++s) {
        for (auto mask = masks[s]; mask != 0; mask &= mask - 1) lists.ranks.push_back(layers.rank_of(layer[s], std::countr_zero(mask)));
        lists.start.push_back(std::ssize(lists.ranks));
    }
    return lists;
}

std::vector<std::int64_t> nonzeros_by_rank(std::span<const std::int32_t> part, std::int64_t ranks) {
    std::vector<std::int64_t> counts(ranks, 0);
    for (auto p : part) ++counts[p];
    return counts;
}

/// Holders of a mode's rows in coarse grain: the owner, and the owners of the other rows of the nonzeros of the slice.
HolderLists coarse_holders(const SliceTable& table, std::size_t mode, const CoarseGrain& distribution) {
    HolderCollector collector(distribution.ranks);
    const auto& slices = table.modes[mode];
    for (std::size_t s = 0; s < slices.slices.size(); ++s) {
        collector.add(distribution.owner[mode][s]);
        for (auto k = slices.start[s]; k < slices.start[s + 1]; ++k)
            for (std::size_t other = 0; other < table.modes.size(); ++other)
                if (other != mode) collector.add(distribution.owner[other][table.modes[other].slice[slices.order[k]]]);
        collector.end_row(slices.slices[s]);
    }
    return collector.take();
}

std::vector<std::int64_t> coarse_nonzeros(const ModeSlices& mode, std::span<const std::int32_t> owner, std::int64_t ranks) {
    std::vector<std::int64_t> counts(ranks, 0);
    for (std::size_t s = 0; s < owner.size(); ++s) counts[owner[s]] += mode.start[s + 1] - mode.start[s];
    return counts;
}

void check(const SliceTable& table, const CoarseGrain& distribution) {
    check_ranks(distribution.ranks);
    if (distribution.owner.size() != table.modes.size())
        throw InvalidArgument("the distribution has owners for " + std::to_string(distribution.owner.size()) + " modes; the tensor has " +
                              std::to_string(table.modes.size()));
    for (std::size_t n = 0; n < table.modes.size(); ++n)
        check_owners(distribution.owner[n], table.modes[n].count(), distribution.ranks,
                     "slices with nonzeros in mode " + std::to_string(n));
}

}  // namespace

CoarseGrain coarse_blocks(const SliceTable& table, std::int64_t ranks) {
    check_ranks(ranks);
    CoarseGrain result{ranks, {}};
    for (const auto& mode : table.modes) result.owner.push_back(layers_of_slices(mode.slices, cut_mode(mode, LayerRule{}, ranks)));
    return result;
}

FineGrain fine_random(std::int64_t nonzeros, std::int64_t ranks, std::uint64_t seed) {
    check_ranks(ranks);
    FineGrain result;
    result.ranks = ranks;
    const auto p = static_cast<std::uint64_t>(ranks), key = splitmix(seed);
    for (std::uint64_t k = 0; k < static_cast<std::uint64_t>(nonzeros); ++k) result.part.push_back((splitmix(key + k) >> 32) * p >> 32);
    return result;
}

FineGrain fine_blocks(std::int64_t nonzeros, std::int64_t ranks) {
    check_ranks(ranks);
    FineGrain result;
    result.ranks = ranks;
    for (std::int64_t k = 0, p = 0; k < nonzeros; ++k) {
        while (static_cast<std::int64_t>(Wide{p + 1} * nonzeros / ranks) <= k) ++p;
        result.part.push_back(p);
    }
    return result;
}

DistributionCounts count_distribution(const SliceTable& table, const MediumGrain& distribution) {
    const auto& grid = distribution.grid;
    if (static_cast<int>(grid.size()) != table.order())
        throw InvalidArgument("the grid " + to_string(grid) + " is not for a tensor of order " + std::to_string(table.order()));
    for (auto g : grid) check_ranks(g);
    check_ranks(ranks(grid));
    DistributionCounts result{ranks(grid), {}};
    std::vector<ModeLayers> layers;
    std::vector<std::int32_t> part(table.nonzeros, 0);
    for (std::size_t n = 0; n < grid.size(); ++n) {
        const auto& mode = table.modes[n];
        layers.push_back(mode_layers(grid, n, cut_mode(mode, distribution.layers, grid[n])));
        auto offset = layers_of_slices(mode.slices, layers[n].boundaries);
        for (auto& layer : offset) layer *= static_cast<std::int32_t>(layers[n].inner);
        for (std::size_t k = 0; k < part.size(); ++k) part[k] += offset[mode.slice[k]];
    }
    const auto nonzeros = nonzeros_by_rank(part, result.ranks);
    for (std::size_t n = 0; n < grid.size(); ++n) {
        const auto holders = layers[n].ranks_in_layer() <= 64 ? holders_by_masks(table.modes[n], layers[n], part)
                                                              : holders_of(table.modes[n], part, result.ranks);
        const auto owners = row_owners(holders, layers[n], distribution.rows, distribution.excess);
        result.modes.push_back(count_rows(holders, owners, result.ranks, Phases::fold_and_expand));
        result.modes.back().nonzeros = nonzeros;
    }
    return result;
}

DistributionCounts count_distribution(const SliceTable& table, const FineGrain& distribution) {
    check_ranks(distribution.ranks);
    check_owners(distribution.part, table.nonzeros, distribution.ranks, "nonzeros");
    DistributionCounts result{distribution.ranks, {}};
    const auto nonzeros = nonzeros_by_rank(distribution.part, distribution.ranks);
    for (const auto& mode : table.modes) {
        const auto holders = holders_of(mode, distribution.part, distribution.ranks);
        const ModeLayers whole{{0, mode.length}, 1, distribution.ranks};
        const auto owners = row_owners(holders, whole, distribution.rows, distribution.excess);
        result.modes.push_back(count_rows(holders, owners, distribution.ranks, Phases::fold_and_expand));
        result.modes.back().nonzeros = nonzeros;
    }
    return result;
}

DistributionCounts count_distribution(const SliceTable& table, const CoarseGrain& distribution) {
    check(table, distribution);
    DistributionCounts result{distribution.ranks, {}};
    for (std::size_t n = 0; n < table.modes.size(); ++n) {
        const auto holders = coarse_holders(table, n, distribution);
        result.modes.push_back(count_rows(holders, distribution.owner[n], distribution.ranks, Phases::expand));
        result.modes.back().nonzeros = coarse_nonzeros(table.modes[n], distribution.owner[n], distribution.ranks);
    }
    return result;
}

DistributionCounts count_allgather(const SliceTable& table, const CoarseGrain& distribution) {
    check(table, distribution);
    DistributionCounts result{distribution.ranks, {}};
    const std::size_t ranks = distribution.ranks;
    for (std::size_t n = 0; n < table.modes.size(); ++n) {
        const auto rows = table.modes[n].count();
        ModeCounts counts;
        counts.nonzeros = coarse_nonzeros(table.modes[n], distribution.owner[n], distribution.ranks);
        counts.owned = nonzeros_by_rank(distribution.owner[n], distribution.ranks);
        counts.held.assign(ranks, rows);
        counts.messages.assign(ranks, distribution.ranks - 1);
        for (auto owned : counts.owned) {
            counts.sent.push_back(owned * (distribution.ranks - 1));
            counts.received.push_back(rows - owned);
        }
        counts.connectivity = rows * (distribution.ranks - 1);
        result.modes.push_back(std::move(counts));
    }
    return result;
}

std::vector<std::int64_t> total(const DistributionCounts& counts, std::vector<std::int64_t> ModeCounts::*what) {
    std::vector<std::int64_t> sums(counts.ranks, 0);
    for (const auto& mode : counts.modes)
        for (std::size_t p = 0; p < sums.size(); ++p) sums[p] += (mode.*what)[p];
    return sums;
}

std::vector<std::int64_t> total_volume(const DistributionCounts& counts) {
    auto sums = total(counts, &ModeCounts::sent);
    const auto received = total(counts, &ModeCounts::received);
    std::transform(sums.begin(), sums.end(), received.begin(), sums.begin(), std::plus<>());
    return sums;
}

Imbalances imbalances(const DistributionCounts& counts) {
    return {imbalance(total(counts, &ModeCounts::nonzeros)), imbalance(total_volume(counts)), imbalance(total(counts, &ModeCounts::owned))};
}

Imbalances imbalances(const ModeCounts& counts) {
    std::vector<std::int64_t> volume;
    for (std::size_t p = 0; p < counts.sent.size(); ++p) volume.push_back(counts.volume(p));
    return {imbalance(counts.nonzeros), imbalance(volume), imbalance(counts.owned)};
}

MaxMean max_mean(const std::vector<std::int64_t>& by_rank) {
    if (by_rank.empty()) return {};
    const auto sum = std::accumulate(by_rank.begin(), by_rank.end(), std::int64_t{0});
    return {*std::max_element(by_rank.begin(), by_rank.end()), static_cast<double>(sum) / by_rank.size()};
}

std::vector<ModeSummary> summaries(const DistributionCounts& counts) {
    std::vector<ModeSummary> result;
    for (const auto& mode : counts.modes)
        result.push_back({max_mean(mode.nonzeros), max_mean(mode.sent), max_mean(mode.messages), max_mean(mode.owned)});
    return result;
}

}  // namespace arges::partition
