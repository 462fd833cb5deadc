/// Which values there are.
#pragma once

#include "comm/values.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace arges::decompose {

/// The different values of all ranks, ascending; of more than `most`, some most + 1 of them. What is not finite is none. Collective.
template <class T>
std::vector<T> different_values(const Communicator& comm, std::span<const T> values, std::int64_t most) {
    std::vector<T> different;
    const auto add = [&](T value) {
        if (!std::isfinite(value)) return true;
        const auto place = std::lower_bound(different.begin(), different.end(), value);
        if (place == different.end() || *place != value) different.insert(place, value);
        return std::ssize(different) <= most;
    };
    comm.agree([&] {
        for (auto value : values)
            if (!add(value)) break;
    });
    for (auto value : gathered(comm, std::vector<T>(different)))
        if (!add(value)) break;
    return different;
}

}  // namespace arges::decompose
