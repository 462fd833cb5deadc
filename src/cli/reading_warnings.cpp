#include "cli/sparse_options.hpp"

#include "base/text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace arges::cli {

namespace {

constexpr std::int64_t long_mode = 10'000'000, slices_of_a_full_one = 100;

/// Counts are small with few exceptions; the indices of a mode are spread over it.
template <class T>
bool look_like_indices(const SparseTensor<T>& tensor, std::int64_t& largest) {
    constexpr std::int64_t most_of_a_scale = 10;
    constexpr double most = 1e18;  // that an index can be
    double sum = 0;
    std::int64_t others = 0;
    largest = 0;
    for (T value : tensor.local_values()) {
        const double v = value;
        if (!(v >= 0 && v <= most && v == std::floor(v))) {
            ++others;
            continue;
        }
        largest = std::max(largest, static_cast<std::int64_t>(v));
        sum += v;
    }
    const auto& world = tensor.world();
    sum = world.sum(sum);
    largest = world.maximum(largest);
    return world.sum(others) == 0 && largest > most_of_a_scale && sum * most_of_a_scale >= static_cast<double>(tensor.nonzeros()) * largest;
}

}  // namespace

template <class T>
std::vector<std::string> reading_warnings(const SparseFile<T>& file) {
    std::vector<std::string> warnings;
    const auto& report = file.report;
    for (std::size_t m = 0; m < report.lengths.size(); ++m)
        if (report.lengths[m] >= long_mode && report.nonempty_slices[m] < report.lengths[m] / slices_of_a_full_one)
            warnings.push_back(fmt::format(
                "mode {} has {} slices, of which only {} are not empty; if its indices are times, count them in longer steps "
                "(seconds into days: awk '{{ ${} = int(${} / 86400); print }}'), or remove empty slices (arges convert --compact)",
                m + 1, with_commas(report.lengths[m]), with_commas(report.nonempty_slices[m]), m + 1, m + 1));
    std::int64_t largest = 0;
    if (look_like_indices(file.tensor, largest))
        warnings.push_back(
            fmt::format("all values are whole numbers, spread from 0 to {}: if the last column is an index and the file has no values, "
                        "give each line the value 1 (awk '{{ print $0, 1 }}')",
                        with_commas(largest)));
    return warnings;
}

template std::vector<std::string> reading_warnings(const SparseFile<float>&);
template std::vector<std::string> reading_warnings(const SparseFile<double>&);

}  // namespace arges::cli
