// Slices and nonzeros by partitions of the coarse- and fine-grain hypergraphs (hypertensor-sc15, sections 3.1 and 3.2).
#include "partition/hypergraph/hypergraph_distributions.hpp"

namespace arges::partition {

PartitionOptions distribution_options(std::uint64_t seed) {
    PartitionOptions options;
    options.imbalance = 0.05;
    options.seed = seed;
    return options;
}

CoarseGrain coarse_by_hypergraph(const IndexView& tensor, const NonemptyRows& rows, std::int64_t ranks, CoarseWeights weights,
                                 std::uint64_t seed) {
    const auto parts = partition_hypergraph(coarse_grain_hypergraph(tensor, rows, weights), ranks, distribution_options(seed));
    CoarseGrain result{ranks, {}};
    for (std::size_t m = 0; m < rows.rows.size(); ++m)
        result.owner.emplace_back(parts.begin() + rows.first[m], parts.begin() + rows.first[m + 1]);
    return result;
}

FineGrain fine_by_hypergraph(const IndexView& tensor, const NonemptyRows& rows, std::int64_t ranks, std::uint64_t seed) {
    FineGrain result;
    result.ranks = ranks;
    result.part = partition_hypergraph(fine_grain_hypergraph(tensor, rows), ranks, distribution_options(seed));
    return result;
}

}  // namespace arges::partition
