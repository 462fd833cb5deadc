// The coarse- and fine-grain hypergraphs of a sparse tensor, whose cut is the rows that are sent (hypertensor-sc15, sections 3.1 and 3.2),
// and slices and nonzeros by their partitions.
#include "partition/hypergraph/hypergraph_models.hpp"

#include <algorithm>
#include <utility>

namespace arges::partition {

namespace {

/// Appends the net of every slice of a mode: the slice itself, and all slices of other modes in its nonzeros.
void add_coarse_nets(const SliceTable& table, const std::vector<std::int64_t>& first, std::size_t mode, HypergraphData& data) {
    const auto& own = table.modes[mode];
    std::vector<std::int64_t> seen_in(first.back(), -1);
    for (std::size_t s = 0; s < own.slices.size(); ++s) {
        const auto net = first[mode] + static_cast<std::int64_t>(s);
        const std::ptrdiff_t begin = data.pins.size();
        data.pins.push_back(net);
        for (auto k = own.start[s]; k < own.start[s + 1]; ++k)
            for (std::size_t other = 0; other < table.modes.size(); ++other) {
                if (other == mode) continue;
                const auto vertex = first[other] + table.modes[other].slice[own.order[k]];
                if (std::exchange(seen_in[vertex], net) != net) data.pins.push_back(vertex);
            }
        std::sort(data.pins.begin() + begin, data.pins.end());
        data.net_begin.push_back(std::ssize(data.pins));
    }
}

}  // namespace

std::vector<std::int64_t> first_slices(const SliceTable& table) {
    std::vector<std::int64_t> first{0};
    for (const auto& mode : table.modes) first.push_back(first.back() + mode.count());
    return first;
}

Hypergraph coarse_grain_hypergraph(const SliceTable& table, CoarseWeights weights) {
    const bool by_mode = weights == CoarseWeights::by_mode && table.order() > 0;
    const auto first = first_slices(table);
    HypergraphData data;
    data.vertices = first.back();
    data.constraints = by_mode ? table.order() : 1;
    data.weights.assign(data.vertices * data.constraints, 0);
    for (std::size_t m = 0; m < table.modes.size(); ++m) {
        const std::int64_t constraint = by_mode ? m : 0;
        for (auto slice : table.modes[m].slice) ++data.weights[(first[m] + slice) * data.constraints + constraint];
        add_coarse_nets(table, first, m, data);
    }
    return Hypergraph(std::move(data));
}

Hypergraph fine_grain_hypergraph(const SliceTable& table) {
    HypergraphData data;
    data.vertices = table.nonzeros;
    for (const auto& mode : table.modes) {
        const auto before = std::ssize(data.pins);
        data.pins.insert(data.pins.end(), mode.order.begin(), mode.order.end());
        for (std::size_t s = 1; s < mode.start.size(); ++s) data.net_begin.push_back(before + mode.start[s]);
    }
    return Hypergraph(std::move(data));
}

PartitionOptions distribution_options(std::uint64_t seed) {
    PartitionOptions options;
    options.imbalance = 0.05;
    options.seed = seed;
    return options;
}

CoarseGrain coarse_by_hypergraph(const SliceTable& table, std::int64_t ranks, CoarseWeights weights, std::uint64_t seed) {
    const auto parts = partition_hypergraph(coarse_grain_hypergraph(table, weights), ranks, distribution_options(seed));
    const auto first = first_slices(table);
    CoarseGrain result{ranks, {}};
    for (std::size_t m = 0; m < table.modes.size(); ++m) result.owner.emplace_back(parts.begin() + first[m], parts.begin() + first[m + 1]);
    return result;
}

FineGrain fine_by_hypergraph(const SliceTable& table, std::int64_t ranks, std::uint64_t seed) {
    FineGrain result;
    result.ranks = ranks;
    result.part = partition_hypergraph(fine_grain_hypergraph(table), ranks, distribution_options(seed));
    return result;
}

}  // namespace arges::partition
