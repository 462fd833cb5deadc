// Loads and volumes of a distribution estimated from a sample: counts are scaled, and messages as if
// pairs of ranks shared rows independently.
#include "partition/choose_sample.hpp"

#include <cmath>

namespace arges::partition {

namespace {

void scale(std::vector<std::int64_t>& counts, double factor) {
    for (auto& count : counts) count = std::llround(static_cast<double>(count) * factor);
}

/// The messages of all rows from those of a sample: pairs of ranks share rows independently and equally often, so that a
/// fraction f of them in the sample means a fraction 1 - (1 - f)^scale in all.
void scale_messages(std::vector<std::int64_t>& messages, std::int64_t ranks_in_layer, double factor) {
    const auto most = 2 * static_cast<double>(ranks_in_layer - 1);
    for (auto& count : messages)
        if (count > 0) count = std::llround(most * (1 - std::pow(1 - static_cast<double>(count) / most, factor)));
}

/// Reads numbers one after the other.
class Reader {
public:
    explicit Reader(std::span<const std::int64_t> numbers) : at_(numbers.data()) {}
    std::int64_t next() { return *at_++; }
    std::span<const std::int64_t> next(std::int64_t count) {
        at_ += count;
        return {at_ - count, static_cast<std::size_t>(count)};
    }

private:
    const std::int64_t* at_;
};

/// Appends the rows of a rank's share to those of the ranks before.
void append_rows(HolderLists& lists, Reader& share) {
    const auto rows = share.next();
    const auto numbers = share.next(rows), counts = share.next(rows);
    lists.rows.insert(lists.rows.end(), numbers.begin(), numbers.end());
    for (auto count : counts) lists.start.push_back(lists.start.back() + count);
    for (auto rank : share.next(share.next())) lists.ranks.push_back(rank);
}

}  // namespace

DistributionCounts counts_of_shares(const GridLayers& layers, std::span<const std::span<const std::int64_t>> shares,
                                    const TensorTotals& totals, RowRule rule, double excess) {
    DistributionCounts result{ranks(layers.grid), {}};
    std::vector<Reader> readers;
    for (const auto& share : shares) readers.emplace_back(share);
    std::vector<std::int64_t> loads(result.ranks, 0);
    std::int64_t sampled = 0;
    for (auto& share : readers)
        for (auto left = share.next(); left > 0; --left) {
            const auto rank = share.next(), load = share.next();
            loads[rank] += load;
            sampled += load;
        }
    if (sampled > 0) scale(loads, static_cast<double>(totals.nonzeros) / sampled);
    for (std::size_t n = 0; n < layers.grid.size(); ++n) {
        HolderLists holders;
        for (auto& share : readers) append_rows(holders, share);
        const auto mode = mode_layers(layers.grid, n, layers.finders[n]->boundaries());
        auto counts = count_rows(holders, row_owners(holders, mode, rule, excess), result.ranks, Phases::fold_and_expand);
        const auto factor = holders.rows.empty() ? 0 : static_cast<double>(totals.slices[n]) / holders.rows.size();
        for (auto* list : {&counts.owned, &counts.held, &counts.sent, &counts.received}) scale(*list, factor);
        scale_messages(counts.messages, mode.ranks_in_layer(), factor);
        counts.connectivity = std::llround(static_cast<double>(counts.connectivity) * factor);
        counts.nonzeros = loads;
        result.modes.push_back(std::move(counts));
    }
    return result;
}

}  // namespace arges::partition
