// Who holds and owns which rows of a mode, and what ranks send in fold and expand; sent and received rows as SPLATT counts them.
#include "partition/distribution_counts.hpp"

#include <algorithm>

namespace arges::partition {

namespace {

/// Positions of the rows, ordered by owner.
std::vector<std::size_t> by_owner(std::span<const std::int32_t> owners, const std::vector<std::int64_t>& owned) {
    std::vector<std::size_t> next(owned.size() + 1, 0), order(owners.size());
    for (std::size_t p = 0; p < owned.size(); ++p) next[p + 1] = next[p] + static_cast<std::size_t>(owned[p]);
    for (std::size_t r = 0; r < owners.size(); ++r) order[next[owners[r]]++] = r;
    return order;
}

}  // namespace

ModeLayers mode_layers(const Grid& grid, std::size_t mode, Boundaries boundaries) {
    ModeLayers result{std::move(boundaries), 1, ranks(grid)};
    for (auto n = mode + 1; n < grid.size(); ++n) result.inner *= grid[n];
    return result;
}

std::vector<std::int32_t> row_owners(const HolderLists& holders, const ModeLayers& layers, RowRule rule, double excess) {
    std::vector<std::int32_t> owners;
    owners.reserve(holders.rows.size());
    std::size_t row = 0;
    for (std::int64_t l = 0; l < layers.layers(); ++l) {
        RowHolders layer;
        layer.begin = layers.boundaries[l];
        layer.end = layers.boundaries[l + 1];
        layer.ranks = layers.ranks_in_layer();
        for (; row < holders.rows.size() && holders.rows[row] < layer.end; ++row) {
            layer.rows.push_back(holders.rows[row]);
            for (auto k = holders.start[row]; k < holders.start[row + 1]; ++k)
                layer.holders.push_back(layers.number_in_layer(holders.ranks[k]));
            layer.start.push_back(std::ssize(layer.holders));
        }
        for (int number : owners_of_rows(layer, rule, excess)) owners.push_back(layers.rank_of(l, number));
    }
    return owners;
}

ModeCounts count_rows(const HolderLists& holders, std::span<const std::int32_t> owners, std::int64_t ranks, Phases phases) {
    const std::vector<std::int64_t> zeros(ranks, 0);
    ModeCounts counts{{}, zeros, zeros, zeros, zeros, zeros, 0};
    for (auto owner : owners) ++counts.owned[owner];
    counts.connectivity = holders.ranks.size() - holders.rows.size();
    const bool two = phases == Phases::fold_and_expand;
    std::vector<std::int32_t> partner_of(ranks, -1);  // the last owner that sends to the rank
    for (auto row : by_owner(owners, counts.owned)) {
        const std::size_t owner = owners[row];
        for (auto k = holders.start[row]; k < holders.start[row + 1]; ++k) {
            const std::size_t holder = holders.ranks[k];
            ++counts.held[holder];
            if (holder == owner) continue;
            ++counts.sent[owner];
            ++counts.received[holder];
            counts.sent[holder] += two;
            counts.received[owner] += two;
            if (partner_of[holder] == owners[row]) continue;
            partner_of[holder] = owners[row];
            ++counts.messages[owner];
            counts.messages[holder] += two;
        }
    }
    return counts;
}

}  // namespace arges::partition
