/// From the options of a decomposition to a plan of where nonzeros and rows go, and from a sparse tensor to its nonzeros there.
#pragma once

#include "arges/machine.hpp"
#include "decompose/distribution/distribute.hpp"
#include "interface/sparse/sparse_state.hpp"
#include "partition/choose.hpp"
#include "partition/hypergraph/hypergraph_models.hpp"

#include <string>

namespace arges::decompose {

/// The texts of CpOptions.
struct DistributionRequest {
    std::string distribution = "auto", grid, policy, rows = "holders", partition_file, save_partition;
    bool empty_slices = false;  ///< coarse-allgather: rows of empty slices, too
    int columns = 10;
    std::uint64_t seed = 1;
    /// What coarse-grain hypergraph partitions balance: CP-ALS waits after each mode, CP-OPT after all of them.
    partition::CoarseWeights coarse_weights = partition::CoarseWeights::by_mode;
    double iterations = 50;             ///< that the choice is for
    partition::IterationCosts costs{};  ///< the size of elements follows from the nonzeros
};

/// Iterations that a run is expected to take: about ten for each decade of the tolerance, and no more than are allowed. Pure.
double expected_iterations(int most, double tolerance);

/// What CpOptions, TuckerOptions or CompletionOptions say. Pure. @param columns  of a factor
template <class Options>
DistributionRequest request_of(const Options& options, int columns) {
    DistributionRequest request;
    request.distribution = options.distribution;
    request.grid = options.grid;
    request.policy = options.policy;
    request.rows = options.rows;
    request.partition_file = options.partition_file;
    request.save_partition = options.save_partition;
    request.columns = columns;
    request.seed = options.seed;
    request.iterations = expected_iterations(options.max_iterations, options.tolerance);
    return request;
}

/// What a rank pays for on this machine. Beside the bare rate and latency of messages stand packing, waiting and overlap: rows that ranks
/// exchange took 3.2 times the bare time of their bytes, and 0.4 times that of their messages, between two ranks of a node.
partition::IterationCosts iteration_costs(const MachineModel& machine);

/// A plan, and what it is called.
struct ChosenDistribution {
    DistributionPlan plan;
    std::string distribution, grid, policy, rows;
    double seconds = 0;         ///< that the choice took, on this rank
    std::int64_t sampled = -1;  ///< see partition::MediumChoice
};

/// Reads the request and fills in what it leaves open.
///
/// "auto" and a medium-grain distribution without grid or policy take what partition::choose_within() finds for a twentieth of the run
/// as it is expected, among those that agree with what is given; the grid "best" takes the first of partition::choose_medium(), whatever
/// that costs. All ranks work on it, each on some candidates, and on the hypergraph distributions, of which rank 0 partitions what the
/// others leave (see partition::partition_spread()). Collective.
/// @throws InvalidArgument for texts that are not understood or do not fit together, a grid of another number of ranks, and
/// partition files of
///         another tensor
/// @throws Unsupported for a hypergraph distribution of 2^32 nonzeros or more on one rank
ChosenDistribution choose_distribution(const Communicator& comm, const sparse::NonzeroIndices& nonzeros,
                                       const DistributionRequest& request);

/// Likewise for a tensor, by what its nonzeros cost on this machine; and saves the partition where that is asked for. Collective.
ChosenDistribution choose_distribution(const SparseState& source, const DistributionRequest& request);

/// Memory of choose_distribution() beside the nonzeros, an upper bound; what it holds at the end is the plan. Pure.
/// @param distribution as in DistributionRequest @param from_file with a partition file
MemoryTally choice_memory(const SparseShare& share, const std::string& distribution, bool from_file);

/// Nonzeros where they are worked on, and how that was found.
template <class T>
struct DistributedTensor {
    ChosenDistribution chosen;
    Distributed<T> nonzeros;
    SparseShare share;  ///< of this rank, exact
};

/// Chooses a distribution for a tensor and moves its nonzeros; `gives_up`: the tensor keeps none. Collective.
/// @param weights of this rank's nonzeros, which are given up; null: there are none
/// @throws as choose_distribution()
template <class T>
DistributedTensor<T> distribute_tensor(SparseState& source, bool gives_up, const DistributionRequest& request,
                                       std::vector<T>* weights = nullptr) {
    const auto& comm = source.comm();
    DistributedTensor<T> result{choose_distribution(source, request), {}, {}};
    auto& share = result.share;
    share.ranks = comm.size();
    share.value_bytes = sizeof(T);
    share.weight_bytes = weights ? sizeof(T) : 0;
    share.lengths = source.lengths();
    share.before = source.pattern()->count();
    share.keeps_source = !gives_up;
    share.columns = request.columns;
    share.sampled = result.chosen.sampled;
    sparse::Nonzeros<T> mine;
    if (gives_up)
        mine = source.take<T>();
    else
        comm.agree([&] { mine = source.nonzeros<T>(); });
    if (weights) mine.weights = std::move(*weights);
    result.nonzeros = distribute(comm, std::move(mine), result.chosen.plan, weights != nullptr);
    for (const auto& set : result.nonzeros.sets) share.nonzeros.push_back(set.nonzeros.count());
    for (const auto& rows : result.nonzeros.rows) {
        share.rows.push_back(rows.count());
        share.owned.push_back(rows.owned);
        share.shared.push_back(rows.rows_shared());
    }
    return result;
}

}  // namespace arges::decompose
