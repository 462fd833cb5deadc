/// Ranks of a Tucker decomposition by iterations (rank-adaptive HOOI: Xiao and Yang, SIAM J. Sci. Comput. 43, 2021), for dense and sparse
/// tensors alike.
#pragma once

#include "arges/tucker.hpp"

#include <cstdint>
#include <limits>
#include <vector>

namespace arges::decompose {

/// What a core has and may leave.
struct CoreState {
    std::vector<int> ranks;
    std::vector<std::vector<double>> slices;  ///< squares of the core's, by mode
    double lost = 0, allowed = 0;             ///< squares: that the core has not, and that it need not have
};

/// Modes whose last slice is small enough to be left out, those first that save most. Pure.
std::vector<int> modes_to_shrink(const CoreState& core);

/// Larger ranks for a core that lacks more than is allowed, up to `limits` and to so many columns beside a mode: about twice as large in
/// the modes whose last slices are not small. The same ranks if none may grow. Pure.
std::vector<int> grown_ranks(const CoreState& core, const std::vector<std::int64_t>& limits, std::int64_t max_width);

/// Iterates while the error can still fall to what is allowed. @param may_go_on, iterate  false: no further iteration
template <class Work, class MayGoOn, class Iterate>
bool reaches(const Work& work, double relative_error, const MayGoOn& may_go_on, const Iterate& iterate) {
    constexpr double worth_waiting = 0.1;  // of what is missing must be gained by an iteration
    double before = std::numeric_limits<double>::infinity();
    while (may_go_on()) {
        const bool goes_on = iterate();
        if (work.error() <= relative_error) return true;
        if (!goes_on || before - work.error() < worth_waiting * (work.error() - relative_error)) return false;
        before = work.error();
    }
    return false;
}

/// Cores that are smaller in one mode are tried, until one meets the relative error; false, with everything as it was, where none does.
/// @param work has core_state(), state(), restore(), cut_to()
template <class Work, class T, class MayGoOn, class Iterate>
bool shrink(Work& work, double relative_error, TuckerResult<T>& result, const MayGoOn& may_go_on, const Iterate& iterate) {
    const auto core = work.core_state();
    for (int mode : modes_to_shrink(core)) {
        if (!may_go_on()) break;
        const auto before = work.state();
        auto ranks = core.ranks;
        --ranks[mode];
        work.cut_to(ranks);
        if (reaches(work, relative_error, may_go_on, iterate)) return true;
        work.restore(before);
        if (result.stop_reason != StopReason::iterations && result.stop_reason != StopReason::tolerance) return false;
    }
    result.converged = true;
    result.stop_reason = StopReason::tolerance;
    return false;
}

}  // namespace arges::decompose
