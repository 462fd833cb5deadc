/// Several starts of a CP decomposition side by side: groups of ranks make them, each on a copy of the tensor.
#pragma once

#include "arges/cpd.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace arges::decompose {

/// Contiguous blocks of ranks, each a world of its own, with the limit of what memory was free.
struct RankGroups {
    std::vector<std::int64_t> first;  ///< rank of each group, and behind the last one
    int own;                          ///< the group of this rank
    World world;                      ///< of the own group

    int count() const { return static_cast<int>(first.size()) - 1; }
    /// Ranks of a group.
    std::int64_t size(int group) const { return first[group + 1] - first[group]; }
};

/// The options of one group, with as many starts as it makes. Pure.
CpOptions options_of_group(CpOptions options, int groups);

/// @throws InvalidArgument where groups do not fit to the other options, which have a number of starts, or to the ranks. Pure.
void check_groups(const CpOptions& options, std::int64_t ranks, bool has_weights);

/// The groups that the options ask for; none where one start follows the other on all ranks. Collective.
/// @param gives_up  the tensor's memory is free when it has been copied
template <class T, class Tensor>
std::optional<RankGroups> rank_groups(const Tensor& tensor, bool gives_up, const CpOptions& options);

/// Makes the start with a number, from 0, on the ranks of a group, as cp_decompose() does if it is the only one. Collective there.
template <class T, class Tensor>
using MakeStart = std::function<CpResult<T>(const Tensor& copy, const CpOptions& options, const CpProgress<T>& progress, int number)>;

/// All starts in rounds: group g makes numbers g, g + count, ... What one group throws, all ranks throw, but for divergence. Collective.
/// @param gives_up  the tensor loses its elements when they have been copied; sparse
/// @throws as cp_decompose()
template <class T, class Tensor>
CpResult<T> starts_in_groups(const Tensor& tensor, bool gives_up, const RankGroups& groups, const CpOptions& options,
                             const CpProgress<T>& progress, const MakeStart<T, Tensor>& make);

}  // namespace arges::decompose
