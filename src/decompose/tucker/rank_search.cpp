#include "decompose/tucker/rank_search.hpp"

#include <algorithm>
#include <cmath>

namespace arges::decompose {

namespace {

/// Of all ranks but one, at most `most` + 1.
std::int64_t width_beside(const std::vector<int>& ranks, std::size_t mode, std::int64_t most) {
    std::int64_t width = 1;
    for (std::size_t m = 0; m < ranks.size(); ++m)
        if (m != mode) width = std::min(width * ranks[m], most + 1);
    return width;
}

bool fits(const std::vector<int>& ranks, std::int64_t max_width) {
    for (std::size_t m = 0; m < ranks.size(); ++m)
        if (width_beside(ranks, m, max_width) > max_width) return false;
    return true;
}

/// Ranks of some modes times a factor, rounded up.
std::vector<int> times(std::vector<int> ranks, double factor, const std::vector<bool>& modes, const std::vector<std::int64_t>& limits) {
    for (std::size_t m = 0; m < ranks.size(); ++m)
        if (modes[m])
            ranks[m] = static_cast<int>(std::min(limits[m], std::max<std::int64_t>(ranks[m] + 1, std::lround(ranks[m] * factor))));
    return ranks;
}

}  // namespace

std::vector<int> modes_to_shrink(const CoreState& core) {
    constexpr double hope = 1.3;  // iterations may win so much of the squared error back
    std::vector<int> modes;
    for (std::size_t m = 0; m < core.ranks.size(); ++m)
        if (core.ranks[m] > 1 && core.lost + core.slices[m].back() <= hope * core.allowed) modes.push_back(static_cast<int>(m));
    std::stable_sort(modes.begin(), modes.end(), [&](int a, int b) { return core.ranks[a] < core.ranks[b]; });
    return modes;
}

std::vector<int> grown_ranks(const CoreState& core, const std::vector<std::int64_t>& limits, std::int64_t max_width) {
    constexpr double small = 0.1;  // of what is allowed, in all modes together
    const auto order = core.ranks.size();
    std::vector<bool> may_grow(order), wants(order);
    for (std::size_t m = 0; m < order; ++m) {
        may_grow[m] = core.ranks[m] < limits[m];
        wants[m] = may_grow[m] && core.slices[m].back() > small * core.allowed / static_cast<double>(order);
    }
    for (const auto& modes : {wants, may_grow}) {
        if (std::find(modes.begin(), modes.end(), true) == modes.end()) continue;
        for (double factor : {2.0, 1.5, 1.25, 1.1, 1.0}) {
            const auto larger = times(core.ranks, factor, modes, limits);
            if (fits(larger, max_width)) return larger;
        }
        for (std::size_t m = 0; m < order; ++m) {
            std::vector<bool> only(order);
            only[m] = modes[m];
            const auto larger = times(core.ranks, 1, only, limits);
            if (modes[m] && fits(larger, max_width)) return larger;
        }
    }
    return core.ranks;
}

}  // namespace arges::decompose
