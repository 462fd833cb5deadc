/// @file sparse_statistics.hpp
/// What a sparse tensor looks like, what its distributions would load and move, and its hypergraph for other partitioners. One rank looks
/// at all indices.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace arges {

/// @cond
class AnyTensor;
/// @endcond

/// The slices of a mode.
struct ModeStatistics {
    std::int64_t length = 0;             ///< slices
    std::int64_t nonempty = 0;           ///< those with nonzeros
    std::int64_t heaviest = 0;           ///< the first slice, from 0, that has most nonzeros
    std::int64_t heaviest_nonzeros = 0;  ///< how many it has
    double gini = 0;                     ///< of the nonzeros of nonempty slices: 0 all equal, near 1 all in one
};

/// Largest and mean over the ranks.
struct MaxMean {
    std::int64_t max = 0;  ///< of the rank that has most
    double mean = 0;       ///< over all ranks
};

/// The ratios of irregularity-aware-cpd-2023, section 3.1: (largest - least) / largest over the ranks, of sums over the modes.
struct Imbalances {
    double nonzeros = 0;  ///< r_nnz
    double volume = 0;    ///< r_vol
    double rows = 0;      ///< r_Ip, of owned rows
};

/// What ranks have of a mode, and send in an iteration: a row of HyperTensor's Table 2 (hypertensor-sc15, section 4).
struct ModeSummary {
    MaxMean nonzeros;  ///< that a rank multiplies
    MaxMean sent;      ///< rows
    MaxMean messages;  ///< sent
    MaxMean rows;      ///< owned
};

/// A distribution on a number of ranks: what an iteration of ALS loads and moves, which is one MTTKRP in each mode.
struct DistributionStatistics {
    std::string name;                ///< "coarse", "medium, best", "fine", ...
    std::string grid;                ///< of medium-grain ones, as in CpOptions
    std::string policy;              ///< likewise
    Imbalances imbalances;           ///< over the ranks
    MaxMean nonzeros;                ///< in all modes
    MaxMean volume;                  ///< rows sent and received
    MaxMean rows;                    ///< owned
    MaxMean messages;                ///< sent
    std::vector<ModeSummary> modes;  ///< by mode
    double seconds = 0;              ///< predicted, of an iteration
};

/// What to count.
struct StatisticsOptions {
    std::vector<std::int64_t> ranks{};  ///< numbers of ranks to count distributions for
    int columns = 16;                   ///< components, for the predicted seconds
    std::string rows = "holders";       ///< as CpOptions::rows
    bool hypergraphs = false;           ///< the hypergraph distributions, too: they take minutes for millions of nonzeros
};

/// A sparse tensor and its distributions.
struct SparseStatistics {
    std::int64_t nonzeros = 0;                                         ///< over all ranks
    double density = 0;                                                ///< nonzeros divided by elements
    std::vector<ModeStatistics> modes{};                               ///< by mode
    std::vector<std::vector<DistributionStatistics>> distributions{};  ///< by number of ranks
};

/// Looks at a sparse tensor; costs are those of the machine that its world is on. Collective.
/// @returns on rank 0; elsewhere nothing
/// @throws InvalidArgument on every rank for a dense tensor, or options that make no sense
SparseStatistics sparse_statistics(const AnyTensor& tensor, const StatisticsOptions& options = {});

/// Memory of sparse_statistics() on rank 0 beside its part of the tensor, in bytes: an upper bound. Pure.
std::int64_t statistics_memory(std::int64_t nonzeros, const std::vector<std::int64_t>& lengths, const StatisticsOptions& options);

/// The hypergraphs of a sparse tensor (hypertensor-sc15, sections 3.1 and 3.2), whose cut is rows that are sent.
enum class HypergraphModel : std::uint8_t {
    fine,          ///< a vertex for each nonzero
    coarse,        ///< a vertex for each nonempty slice, with a weight for each mode
    coarse_summed  ///< likewise with one weight: for CpAlgorithm::opt
};

/// What was written.
struct HypergraphReport {
    std::int64_t vertices = 0;  ///< how many
    std::int64_t nets = 0;      ///< how many
    std::int64_t pins = 0;      ///< of all nets
    std::int64_t weights = 0;   ///< of a vertex
    std::int64_t bytes = 0;     ///< of the file
};

/// Writes the hypergraph of a sparse tensor in hMETIS form; its vertices are the nonzeros in their order, or the nonempty slices,
/// ascending, mode after mode. The file appears under its name when it is complete. Collective. @returns the same on every rank
/// @throws InvalidArgument on every rank for a dense tensor, or if the file cannot be written
HypergraphReport write_hypergraph(const AnyTensor& tensor, const std::string& path, HypergraphModel model = HypergraphModel::fine);

/// Memory of write_hypergraph() on rank 0 beside its part of the tensor, in bytes: an upper bound. Pure.
std::int64_t hypergraph_memory(std::int64_t nonzeros, std::int64_t order);

}  // namespace arges
