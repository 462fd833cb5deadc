// Parts of slices and nonzeros by partitions of the coarse- and fine-grain hypergraphs (hypertensor-sc15, section 3), which all ranks find
// together, or from the file of another partitioner, which one rank reads.
#include "decompose/distribution/given_parts.hpp"

#include "arges/error.hpp"
#include "comm/values.hpp"
#include "decompose/distribution/slice_counts.hpp"
#include "interface/sparse/sparse_tensor_slices.hpp"
#include "partition/hypergraph/hmetis.hpp"
#include "partition/hypergraph/hypergraph_models.hpp"
#include "partition/hypergraph/spread_hypergraph.hpp"

#include <fstream>

namespace arges::decompose {

namespace {

/// @param what is partitioned, for messages
std::vector<std::int32_t> read_parts(const std::string& path, const std::string& what, std::int64_t count, std::int64_t ranks) {
    std::ifstream file(path);
    if (!file) throw InvalidArgument(path + " cannot be read; give the name of a partition file");
    return partition::read_partition(file, path, count, ranks, what);
}

/// Gives each rank its part of what rank 0 has: rank r's nonzeros follow those of the ranks before.
std::vector<std::int32_t> scattered(const Communicator& comm, const std::vector<std::int32_t>& parts, std::int64_t mine) {
    const auto counts = gathered(comm, std::vector<std::int64_t>{mine});
    std::vector<std::vector<std::int32_t>> outgoing(comm.size());
    comm.agree([&] {
        auto at = parts.begin();
        for (std::size_t r = 0; r < outgoing.size() && comm.rank() == 0; ++r) {
            outgoing[r].assign(at, at + counts[r]);
            at += counts[r];
        }
    });
    return std::move(exchanged(comm, std::move(outgoing))[0]);
}

}  // namespace

std::vector<std::vector<std::int64_t>> gather_indices(const Communicator& comm, const sparse::NonzeroIndices& nonzeros) {
    std::vector<std::vector<std::int64_t>> result;
    for (const auto& indices : nonzeros.indices) result.push_back(gathered_on(comm, 0, indices));
    return result;
}

std::vector<SliceOwners> slices_by_hypergraph(const Communicator& comm, const sparse::NonzeroIndices& nonzeros,
                                              partition::CoarseWeights weights, std::uint64_t seed) {
    auto coarse = coarse_grain_share(comm, nonzeros, weights);
    const auto parts =
        partition::partition_spread(RankTeam(comm), std::move(coarse.share), comm.size(), partition::distribution_options(seed));
    std::vector<SliceOwners> owners(coarse.slices.size());
    auto at = parts.begin();
    for (std::size_t m = 0; m < owners.size(); ++m) {
        const auto end = at + static_cast<std::ptrdiff_t>(coarse.slices[m].size());
        owners[m] = {gathered(comm, coarse.slices[m]), gathered(comm, std::vector<std::int32_t>(at, end))};
        at = end;
    }
    return owners;
}

std::vector<SliceOwners> slices_from_file(const Communicator& comm, const sparse::NonzeroIndices& nonzeros, const std::string& path) {
    std::vector<SliceOwners> owners(nonzeros.lengths.size());
    std::int64_t count = 0;
    for (std::size_t m = 0; m < owners.size(); ++m) {
        owners[m].slices = gathered(comm, nonempty_slices(comm, nonzeros.indices[m]).mine);
        count += std::ssize(owners[m].slices);
    }
    std::vector<std::int32_t> parts;
    comm.agree([&] {
        if (comm.rank() == 0) parts = read_parts(path, "nonempty slices of all modes", count, comm.size());
    });
    comm.broadcast(parts, 0);
    comm.agree([&] {
        auto at = parts.begin();
        for (auto& mode : owners) {
            mode.owner.assign(at, at + static_cast<std::ptrdiff_t>(mode.slices.size()));
            at += mode.slices.size();
        }
    });
    return owners;
}

std::vector<std::int32_t> nonzeros_by_hypergraph(const Communicator& comm, const sparse::NonzeroIndices& nonzeros, std::uint64_t seed) {
    return partition::partition_spread(RankTeam(comm), fine_grain_share(comm, nonzeros), comm.size(),
                                       partition::distribution_options(seed));
}

std::vector<std::int32_t> nonzeros_from_file(const Communicator& comm, const sparse::NonzeroIndices& nonzeros, const std::string& path) {
    const auto count = comm.sum(nonzeros.count());
    std::vector<std::int32_t> parts;
    comm.agree([&] {
        if (comm.rank() == 0) parts = read_parts(path, "nonzeros", count, comm.size());
    });
    return scattered(comm, parts, nonzeros.count());
}

}  // namespace arges::decompose
