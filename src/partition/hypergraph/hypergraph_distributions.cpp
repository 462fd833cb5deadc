// Slices and nonzeros by partitions of the coarse- and fine-grain hypergraphs (hypertensor-sc15, sections 3.1 and 3.2).
#include "partition/hypergraph/hypergraph_distributions.hpp"

namespace arges::partition {

namespace {

std::vector<std::int32_t> parts_of(const Hypergraph& hypergraph, std::int64_t ranks, std::uint64_t seed) {
    PartitionOptions options;
    options.imbalance = 0.05;
    options.seed = seed;
    return partition_hypergraph(hypergraph, ranks, options);
}

}  // namespace

CoarseGrain coarse_by_hypergraph(const IndexView& tensor, const NonemptyRows& rows, std::int64_t ranks, CoarseWeights weights,
                                 std::uint64_t seed) {
    const auto parts = parts_of(coarse_grain_hypergraph(tensor, rows, weights), ranks, seed);
    CoarseGrain result{ranks, {}};
    for (std::size_t m = 0; m < rows.rows.size(); ++m)
        result.owner.emplace_back(parts.begin() + rows.first[m], parts.begin() + rows.first[m + 1]);
    return result;
}

FineGrain fine_by_hypergraph(const IndexView& tensor, const NonemptyRows& rows, std::int64_t ranks, std::uint64_t seed) {
    FineGrain result;
    result.ranks = ranks;
    result.part = parts_of(fine_grain_hypergraph(tensor, rows), ranks, seed);
    return result;
}

}  // namespace arges::partition
