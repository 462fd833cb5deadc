/// @file value_statistics.hpp
/// The values of a sparse tensor: range, moments, a histogram.
#pragma once

#include "arges/sparse_tensor.hpp"

#include <cstdint>
#include <vector>

namespace arges {

/// How the bins of a histogram follow each other.
enum class BinScale : std::uint8_t {
    values,       ///< one for each different value
    equal,        ///< equal widths
    logarithmic,  ///< equal ratios of magnitudes, and a bin for zero where there are zeros: for values of one sign that are spread widely
};

/// Values from `low` to below `high`, of the last bin up to `high`; both are the same where it is of one value.
struct ValueBin {
    double low = 0;          ///< the least
    double high = 0;         ///< the end
    std::int64_t count = 0;  ///< values
};

/// More different values are not counted.
inline constexpr std::int64_t most_different_values = 1000;

/// The stored values of all ranks. Those that are no finite numbers are counted, and left out of all else. The same on every rank.
struct ValueStatistics {
    std::int64_t count = 0;            ///< finite values
    std::int64_t not_finite = 0;       ///< others
    std::int64_t zeros = 0;            ///< stored ones
    std::int64_t negative = 0;         ///< below zero
    std::int64_t whole = 0;            ///< whole numbers
    double least = 0;                  ///< 0 where there are no values, as the next ones
    double largest = 0;                ///< of all
    double mean = 0;                   ///< of all
    double deviation = 0;              ///< root of the mean squared distance from the mean
    std::int64_t different = 0;        ///< how many different ones; most_different_values + 1: more than these
    BinScale scale = BinScale::equal;  ///< of the bins
    std::vector<ValueBin> bins{};      ///< ascending; together they have all values
};

/// Looks at the values of a tensor. Sums differ by rounding on other numbers of ranks, all else does not. Collective.
/// @param tensor whose values are looked at
/// @param bins   that a histogram has at most, beside that of zero: 2 or more
/// @throws InvalidArgument on every rank for fewer bins
template <class T>
ValueStatistics value_statistics(const SparseTensor<T>& tensor, int bins = 16);

}  // namespace arges
