/// Lists of labels and numbers that the parts of SparseStepRun make.
#pragma once

#include "plan/sparse/sparse_step.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace arges {

/// Labels of the first list that the second has, or has not.
inline std::vector<int> chosen(const std::vector<int>& labels, const std::vector<int>& others, bool in_others) {
    std::vector<int> result;
    for (int label : labels)
        if (SparseStep::has(others, label) == in_others) result.push_back(label);
    return result;
}

inline constexpr std::int64_t most_narrow = std::numeric_limits<std::uint32_t>::max();

template <class P>
void store(std::vector<std::int64_t> numbers, P& places) {
    const bool narrow = std::all_of(numbers.begin(), numbers.end(), [](auto n) { return n <= most_narrow; });
    if (narrow)
        places.narrow.assign(numbers.begin(), numbers.end());
    else
        places.wide = std::move(numbers);
}

inline bool is_identity(const std::vector<std::int64_t>& order) {
    for (std::size_t i = 0; i < order.size(); ++i)
        if (order[i] != static_cast<std::int64_t>(i)) return false;
    return true;
}

inline std::vector<std::int64_t> lengths_of(const SparseStep& step, const std::vector<int>& labels) {
    std::vector<std::int64_t> result;
    for (int label : labels) result.push_back(step.extent(label));
    return result;
}

}  // namespace arges
