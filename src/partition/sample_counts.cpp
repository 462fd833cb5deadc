// Loads and volumes of a distribution estimated from a sample: counts are scaled, without what the largest of many random counts lies above
// its expectation, and messages as if pairs of ranks shared rows independently.
#include "partition/choose_sample.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace arges::partition {

namespace {

/// Makes the counts of a sample those of all. The largest of n random counts lies about sqrt(2 log n) standard deviations above what is
/// expected of it; counts above the mean are taken for such.
void scale(std::vector<std::int64_t>& counts, double factor) {
    if (factor <= 1) return;
    const double ranks = counts.size(), mean = std::accumulate(counts.begin(), counts.end(), 0.0) / ranks;
    const double deviations = std::sqrt(2 * std::log(ranks) * (1 - 1 / factor));
    for (auto& count : counts) {
        const double found = count;
        count = std::llround(factor * std::max(std::min(found, mean), found - deviations * std::sqrt(found)));
    }
}

/// The messages of all rows from those of a sample: pairs of ranks share rows independently and equally often, so that a
/// fraction f of them in the sample means a fraction 1 - (1 - f)^scale in all.
void scale_messages(std::vector<std::int64_t>& messages, std::int64_t ranks_in_layer, double factor) {
    const auto most = 2 * static_cast<double>(ranks_in_layer - 1);
    for (auto& count : messages)
        if (count > 0) count = std::llround(most * (1 - std::pow(1 - static_cast<double>(count) / most, factor)));
}

/// Ranks of a grid that nonzeros go to, from the modes that the grid cuts.
class RankFinder {
public:
    /// @param known a mode whose layer is left out; beyond the last mode for none
    RankFinder(const GridLayers& layers, std::span<const std::span<const std::int64_t>> indices, std::size_t known) {
        std::int64_t stride = 1;
        for (auto n = layers.grid.size(); n-- > 0; stride *= layers.grid[n])
            if (n != known && layers.grid[n] > 1)
                cuts_.push_back({layers.finders[n].get(), indices[n].data(), static_cast<std::int32_t>(stride)});
    }
    std::int32_t operator()(std::size_t k) const {
        std::int32_t rank = 0;
        for (const auto& cut : cuts_) rank += (*cut.finder)(cut.indices[k]) * cut.stride;
        return rank;
    }

private:
    struct Cut {
        const LayerFinder* finder;
        const std::int64_t* indices;
        std::int32_t stride;
    };
    std::vector<Cut> cuts_;
};

}  // namespace

std::vector<std::int64_t> loads_of(const IndexView& view, const GridLayers& layers) {
    std::vector<std::int64_t> loads(ranks(layers.grid), 0);
    const RankFinder rank_of(layers, view.indices, layers.grid.size());
    const std::size_t count = view.count();
    for (std::size_t x = 0; x < count; ++x) ++loads[rank_of(x)];
    return loads;
}

HolderLists TensorSample::holders(const GridLayers& layers, std::size_t mode) const {
    const auto& sample = modes_[mode];
    const std::vector<std::span<const std::int64_t>> indices(sample.indices.begin(), sample.indices.end());
    const RankFinder rank_of(layers, indices, mode);
    std::int64_t stride = 1;
    for (auto n = mode + 1; n < layers.grid.size(); ++n) stride *= layers.grid[n];
    HolderCollector collector(ranks(layers.grid));
    for (auto r : sample.used) {
        const std::int32_t first = (*layers.finders[mode])(sample.rows[r]) * stride;
        const auto begin = sample.start[r], end = begin + std::min(size_.heavy, sample.start[r + 1] - begin);
        for (auto k = begin; k < end; ++k) collector.add(first + rank_of(k));
        collector.end_row(sample.rows[r]);
    }
    return collector.take();
}

DistributionCounts TensorSample::counts(const GridLayers& layers, std::vector<std::int64_t> loads, const TensorTotals& totals, RowRule rule,
                                        double excess) const {
    DistributionCounts result{ranks(layers.grid), {}};
    if (loads.empty()) {
        loads = loads_of({tensor_.view.lengths, {used_.indices.begin(), used_.indices.end()}}, layers);
        if (!used_.hashes.empty()) scale(loads, static_cast<double>(totals.nonzeros) / std::ssize(used_.hashes));
    }
    for (std::size_t n = 0; n < layers.grid.size(); ++n) {
        const auto held = holders(layers, n);
        const auto mode = mode_layers(layers.grid, n, layers.finders[n]->boundaries());
        auto counts = count_rows(held, row_owners(held, mode, rule, excess), result.ranks, Phases::fold_and_expand);
        const auto factor = held.rows.empty() ? 0 : static_cast<double>(totals.slices[n]) / held.rows.size();
        for (auto* list : {&counts.owned, &counts.held, &counts.sent, &counts.received}) scale(*list, factor);
        scale_messages(counts.messages, mode.ranks_in_layer(), factor);
        counts.connectivity = std::llround(static_cast<double>(counts.connectivity) * factor);
        counts.nonzeros = loads;
        result.modes.push_back(std::move(counts));
    }
    return result;
}

}  // namespace arges::partition
