// Rows of factor matrices: checks, and where rows are.
#include "decompose/factor_tensor.hpp"

#include "arges/error.hpp"
#include "comm/values.hpp"

#include <algorithm>
#include <functional>

namespace arges::decompose {

IndexRanges checked_ranges(const std::string& title, const std::vector<std::int64_t>& lengths, IndexRanges ranges) {
    if (ranges.begin.empty() && ranges.end.empty()) return {std::vector<std::int64_t>(lengths.size(), 0), lengths};
    if (ranges.begin.size() != lengths.size() || ranges.end.size() != lengths.size())
        throw InvalidArgument(title + ": ranges of " + std::to_string(ranges.begin.size()) + " and " + std::to_string(ranges.end.size()) +
                              " indices for " + std::to_string(lengths.size()) + " modes; give a begin and an end for each mode");
    for (std::size_t m = 0; m < lengths.size(); ++m)
        if (ranges.begin[m] < 0 || ranges.begin[m] > ranges.end[m] || ranges.end[m] > lengths[m])
            throw InvalidArgument(title + ": the range [" + std::to_string(ranges.begin[m]) + ", " + std::to_string(ranges.end[m]) +
                                  ") is not within mode " + std::to_string(m + 1) + " of length " + std::to_string(lengths[m]));
    return ranges;
}

std::size_t checked_mode(const std::string& title, int mode, int order) {
    if (mode < 0 || mode >= order)
        throw InvalidArgument(title + ": there is no mode " + std::to_string(mode) +
                              (order == 0 ? "; it has no modes" : "; modes are 0 to " + std::to_string(order - 1)));
    return mode;
}

void check_rows(const std::string& title, const std::vector<std::int64_t>& lengths, const std::vector<std::int64_t>& columns,
                const std::vector<std::vector<std::int64_t>>& rows, const std::vector<std::int64_t>& values) {
    const auto number = [](auto n) { return std::to_string(n); };
    if (rows.size() != lengths.size() || values.size() != lengths.size())
        throw InvalidArgument(title + ": rows of " + number(rows.size()) + " and values of " + number(values.size()) + " factors for " +
                              number(lengths.size()) + " modes; give both for each mode");
    for (std::size_t m = 0; m < lengths.size(); ++m) {
        const auto where = title + ", mode " + number(m + 1);
        if (lengths[m] < 0) throw InvalidArgument(where + ": length " + number(lengths[m]) + "; lengths must not be negative");
        const auto wrong = std::find_if(rows[m].begin(), rows[m].end(), [&](auto row) { return row < 0 || row >= lengths[m]; });
        if (wrong != rows[m].end())
            throw InvalidArgument(where + ": row " + number(*wrong) + " of a factor of " + number(lengths[m]) + " rows; rows run from 0");
        if (std::adjacent_find(rows[m].begin(), rows[m].end(), std::greater_equal<>()) != rows[m].end())
            throw InvalidArgument(where + ": the numbers of rows do not ascend; sort them, and give each row once");
        std::int64_t wanted = 0;
        if (__builtin_mul_overflow(std::ssize(rows[m]), columns[m], &wanted) || values[m] != wanted)
            throw InvalidArgument(where + ": " + number(values[m]) + " values for " + number(rows[m].size()) + " rows of " +
                                  number(columns[m]) + " elements; give all elements of each row");
    }
}

std::vector<std::int64_t> places_of_rows(const Communicator& comm, const std::vector<std::int64_t>& rows,
                                         std::span<const std::int64_t> wanted) {
    const auto all_rows = gathered(comm, rows);
    std::vector<std::pair<std::int64_t, std::int64_t>> place;
    std::vector<std::int64_t> result;
    comm.agree([&] {
        for (std::size_t i = 0; i < all_rows.size(); ++i) place.emplace_back(all_rows[i], i);
        std::sort(place.begin(), place.end());
        for (auto number : wanted) {
            const auto found = std::lower_bound(place.begin(), place.end(), std::pair(number, std::int64_t{0}));
            result.push_back(found == place.end() || found->first != number ? -1 : found->second);
        }
    });
    return result;
}

std::vector<std::string> numbered_labels(char letter, int count) {
    std::vector<std::string> result;
    for (int m = 1; m <= count; ++m) result.push_back(letter + std::to_string(m));
    return result;
}

}  // namespace arges::decompose
