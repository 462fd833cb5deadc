#include "arges/value_statistics.hpp"

#include "arges/error.hpp"
#include "comm/collective_call.hpp"
#include "comm/values.hpp"
#include "decompose/different_values.hpp"
#include "interface/sparse/sparse_state.hpp"
#include "interface/world/call_arguments.hpp"
#include "sparse/blocked_sum.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace arges {

namespace {

struct Range {
    double low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();

    void take(double value) {
        low = std::min(low, value);
        high = std::max(high, value);
    }
};

/// What one look at the values of a rank finds.
struct FirstLook {
    std::int64_t count = 0, not_finite = 0, zeros = 0, negative = 0, whole = 0;
    Range values{}, magnitudes{};  ///< the latter of values that are not zero
};

template <class T>
FirstLook first_look(std::span<const T> values) {
    FirstLook found;
    for (const double value : values) {
        if (!std::isfinite(value)) {
            ++found.not_finite;
            continue;
        }
        ++found.count;
        found.values.take(value);
        found.whole += value == std::floor(value) ? 1 : 0;
        found.negative += value < 0 ? 1 : 0;
        if (value == 0)
            ++found.zeros;
        else
            found.magnitudes.take(std::abs(value));
    }
    return found;
}

FirstLook of_all(const Communicator& comm, const FirstLook& mine) {
    FirstLook all;
    for (const auto& of_rank : gathered(comm, std::vector{mine})) {
        all.count += of_rank.count;
        all.not_finite += of_rank.not_finite;
        all.zeros += of_rank.zeros;
        all.negative += of_rank.negative;
        all.whole += of_rank.whole;
        for (const auto& [to, from] : {std::pair{&all.values, &of_rank.values}, {&all.magnitudes, &of_rank.magnitudes}}) {
            to->low = std::min(to->low, from->low);
            to->high = std::max(to->high, from->high);
        }
    }
    return all;
}

/// The sum of f(value) over the finite values of all ranks.
template <class T, class F>
double sum_of(const Communicator& comm, std::span<const T> values, F&& f) {
    double sum = sparse::blocked_sum(std::ssize(values), [&](std::int64_t i) {
        const double value = values[i];
        return std::isfinite(value) ? f(value) : 0.0;
    });
    comm.sum(&sum, 1);
    return sum;
}

/// Counts the finite values of all ranks by the bin that `place` names.
template <class T, class F>
void count_bins(const Communicator& comm, std::span<const T> values, std::vector<ValueBin>& bins, F&& place) {
    std::vector<std::int64_t> counts;
    comm.agree([&] { counts.resize(bins.size()); });
    for (const double value : values)
        if (std::isfinite(value)) ++counts[place(value)];
    comm.sum(counts.data(), std::ssize(counts));
    for (std::size_t b = 0; b < bins.size(); ++b) bins[b].count = counts[b];
}

template <class T>
std::vector<ValueBin> bins_of_values(const Communicator& comm, std::span<const T> values, const std::vector<T>& different) {
    std::vector<ValueBin> bins;
    for (const double value : different) bins.push_back({value, value, 0});
    count_bins(comm, values, bins, [&](double value) {
        return std::lower_bound(different.begin(), different.end(), static_cast<T>(value)) - different.begin();
    });
    return bins;
}

template <class T>
std::vector<ValueBin> equal_bins(const Communicator& comm, std::span<const T> values, const Range& range, int count) {
    const double width = range.high / count - range.low / count;
    std::vector<ValueBin> bins;
    for (int b = 0; b < count; ++b) bins.push_back({range.low + b * width, b + 1 < count ? range.low + (b + 1) * width : range.high, 0});
    count_bins(comm, values, bins, [&](double value) {
        const double place = width > 0 ? 2 * ((value / 2 - range.low / 2) / width) : 0;
        return static_cast<std::int64_t>(std::clamp(place, 0.0, count - 1.0));
    });
    return bins;
}

/// Of values of one sign, by growing magnitude.
template <class T>
std::vector<ValueBin> logarithmic_bins(const Communicator& comm, std::span<const T> values, const FirstLook& found, int count) {
    const bool is_negative = found.negative > 0;
    const double first = std::log(found.magnitudes.low), width = (std::log(found.magnitudes.high) - first) / count;
    const auto edge = [&](int b) {
        return b == 0 ? found.magnitudes.low : b == count ? found.magnitudes.high : std::exp(first + b * width);
    };
    std::vector<ValueBin> bins;
    if (found.zeros > 0) bins.push_back({0, 0, 0});
    const auto before = std::ssize(bins);
    for (int b = 0; b < count; ++b) bins.push_back({is_negative ? -edge(b + 1) : edge(b), is_negative ? -edge(b) : edge(b + 1), 0});
    count_bins(comm, values, bins, [&](double value) {
        if (value == 0) return std::int64_t{0};
        const auto place = static_cast<std::int64_t>((std::log(std::abs(value)) - first) / width);
        return before + std::clamp<std::int64_t>(place, 0, count - 1);
    });
    if (is_negative) std::reverse(bins.begin(), bins.end());
    return bins;
}

/// Most values are in one of the bins of equal width, and the values that are not zero differ by a factor of 100 and have one sign.
bool are_skewed(const FirstLook& found, const std::vector<ValueBin>& bins) {
    constexpr double factor = 100, part = 0.6;
    const auto of_values = found.count - found.zeros;
    const auto fullest = std::max_element(bins.begin(), bins.end(), [](const auto& a, const auto& b) { return a.count < b.count; });
    return (found.negative == 0 || found.negative == of_values) && found.magnitudes.high / factor >= found.magnitudes.low &&
           static_cast<double>(fullest->count) > part * static_cast<double>(found.count);
}

}  // namespace

template <class T>
ValueStatistics value_statistics(const SparseTensor<T>& tensor, int bins) {
    const auto& comm = sparse_state_of(tensor, "value_statistics").comm();
    const CollectiveCall call(ranks_of(tensor.world()), "value_statistics", tensor, bins);
    if (bins < 2) throw InvalidArgument("value_statistics: " + std::to_string(bins) + " bins; give 2 or more");
    const auto values = tensor.local_values();
    const auto found = of_all(comm, first_look(values));
    ValueStatistics result{.count = found.count, .not_finite = found.not_finite};
    if (found.count == 0) return result;
    result.zeros = found.zeros;
    result.negative = found.negative;
    result.whole = found.whole;
    result.least = found.values.low;
    result.largest = found.values.high;
    const auto count = static_cast<double>(found.count);
    result.mean = sum_of(comm, values, [](double value) { return value; }) / count;
    result.deviation = std::sqrt(sum_of(comm, values, [&](double value) { return (value - result.mean) * (value - result.mean); }) / count);
    const auto different = decompose::different_values(comm, values, most_different_values);
    result.different = std::ssize(different);
    if (result.different <= bins) {
        result.scale = BinScale::values;
        result.bins = bins_of_values(comm, values, different);
        return result;
    }
    result.bins = equal_bins(comm, values, found.values, bins);
    if (!are_skewed(found, result.bins)) return result;
    result.scale = BinScale::logarithmic;
    result.bins = logarithmic_bins(comm, values, found, bins);
    return result;
}

template ValueStatistics value_statistics(const SparseTensor<float>&, int);
template ValueStatistics value_statistics(const SparseTensor<double>&, int);

}  // namespace arges
