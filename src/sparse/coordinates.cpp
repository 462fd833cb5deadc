#include "sparse/coordinates.hpp"

#include "arges/error.hpp"
#include "base/value_set.hpp"
#include "sparse/index_sort.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

namespace arges::sparse {

namespace {

/// Positions sorted by the columns, the first slowest.
std::vector<std::int64_t> sorted(std::int64_t count, const Columns& columns, std::span<const std::int64_t> lengths) {
    std::vector<KeyWord> words;
    std::vector<int> bits;
    for (std::size_t first = 0; first < columns.size();) {
        auto last = first;
        int width = 0;
        while (last < columns.size() && (last == first || width + index_bits(lengths[last]) <= 64)) width += index_bits(lengths[last++]);
        words.emplace_back([&columns, &lengths, first, last](std::span<const std::int64_t> order, std::span<std::uint64_t> keys) {
            const auto n = static_cast<std::int64_t>(order.size());
            std::fill(keys.begin(), keys.end(), 0);
            for (auto c = first; c < last; ++c) {
                const int shift = index_bits(lengths[c]);
                const auto* const index = columns[c].data();
#pragma omp parallel for schedule(static)
                for (std::int64_t i = 0; i < n; ++i) {
                    const auto x = static_cast<std::size_t>(i);
                    keys[x] = keys[x] << shift | static_cast<std::uint64_t>(index[order[x]]);
                }
            }
        });
        bits.push_back(width);
        first = last;
    }
    return sorted_positions(count, words, bits);
}

/// -1, 0 or 1 as nonzero x is before, at or after nonzero y.
int compared(const Columns& columns, std::size_t x, std::size_t y) {
    for (const auto& column : columns)
        if (column[x] != column[y]) return column[x] < column[y] ? -1 : 1;
    return 0;
}

/// Where stretches of ascending nonzeros begin, and the last one's end; empty if there are more than `most`.
std::vector<std::int64_t> ascending_stretches(std::int64_t count, const Columns& columns, std::size_t most) {
    std::vector<std::int64_t> begins{0};
    for (std::int64_t i = 1; i < count; ++i) {
        if (compared(columns, static_cast<std::size_t>(i - 1), static_cast<std::size_t>(i)) <= 0) continue;
        if (begins.size() == most) return {};
        begins.push_back(i);
    }
    begins.push_back(count);
    return begins;
}

/// Positions sorted by the columns, of stretches that are; equal ones keep their order.
std::vector<std::int64_t> merged(const Columns& columns, std::vector<std::int64_t> begins) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(begins.back()));
    std::iota(order.begin(), order.end(), std::int64_t{0});
    const auto before = [&](std::int64_t x, std::int64_t y) {
        return compared(columns, static_cast<std::size_t>(x), static_cast<std::size_t>(y)) < 0;
    };
    while (begins.size() > 2) {
        std::vector<std::int64_t> next(order.size()), next_begins{0};
        for (std::size_t k = 0; k + 1 < begins.size(); k += 2) {
            const auto last = std::min(k + 2, begins.size() - 1);
            const auto at = [&](std::size_t stretch) { return order.cbegin() + begins[stretch]; };
            std::merge(at(k), at(k + 1), at(k + 1), at(last), next.begin() + begins[k], before);
            next_begins.push_back(begins[last]);
        }
        std::swap(order, next);
        std::swap(begins, next_begins);
    }
    return order;
}

void check_count(std::int64_t count) {
    if (count >= static_cast<std::int64_t>(none))
        throw Unsupported("a sparse product has " + std::to_string(count) +
                          " rows or columns on a rank, and may have 2^32 - 2; use more ranks");
}

/// The set of a column's values, if bits serve for it.
std::optional<ValueSet> bits_of(const Columns& columns) {
    if (columns.size() != 1 || columns[0].empty()) return {};
    const auto [begin, range] = range_of(columns[0]);
    if (!is_dense(static_cast<std::int64_t>(columns[0].size()), range)) return {};
    return ValueSet(columns[0], begin, range);
}

}  // namespace

Runs sorted_runs(std::int64_t count, const Columns& columns, const Columns& also, std::span<const std::int64_t> lengths) {
    Runs runs;
    auto all = columns;
    all.insert(all.end(), also.begin(), also.end());
    constexpr std::size_t few = 4;  // merging so many is faster than sorting
    const auto stretches = ascending_stretches(count, all, few);
    runs.order = stretches.empty() ? sorted(count, all, lengths) : merged(all, stretches);
    for (std::int64_t k = 1; k <= count; ++k) {
        const auto differs = [&](const auto& column) {
            const auto a = static_cast<std::size_t>(runs.order[static_cast<std::size_t>(k)]);
            const auto b = static_cast<std::size_t>(runs.order[static_cast<std::size_t>(k - 1)]);
            return column[a] != column[b];
        };
        if (k == count || std::any_of(columns.begin(), columns.end(), differs)) runs.start.push_back(k);
    }
    return runs;
}

Numbering numbered(std::int64_t count, const Columns& columns, std::span<const std::int64_t> lengths) {
    Numbering result;
    result.tuples.resize(columns.size());
    result.numbers.resize(static_cast<std::size_t>(count));
    if (const auto set = bits_of(columns)) {
        check_count(set->count());
        result.count = set->count();
        result.tuples[0] = set->values();
#pragma omp parallel for schedule(static)
        for (std::int64_t k = 0; k < count; ++k)
            result.numbers[static_cast<std::size_t>(k)] = static_cast<std::uint32_t>(set->rank(columns[0][static_cast<std::size_t>(k)]));
        return result;
    }
    const auto runs = sorted_runs(count, columns, {}, lengths);
    check_count(runs.count());
    result.count = runs.count();
    for (std::int64_t run = 0; run < runs.count(); ++run) {
        for (std::size_t c = 0; c < columns.size(); ++c) result.tuples[c].push_back(columns[c][runs.first(run)]);
        for (auto k = runs.start[static_cast<std::size_t>(run)]; k < runs.start[static_cast<std::size_t>(run) + 1]; ++k)
            result.numbers[static_cast<std::size_t>(runs.order[static_cast<std::size_t>(k)])] = static_cast<std::uint32_t>(run);
    }
    return result;
}

std::vector<std::uint32_t> looked_up(const Numbering& known, std::int64_t count, const Columns& columns,
                                     std::span<const std::int64_t> lengths) {
    std::vector<std::uint32_t> result(static_cast<std::size_t>(count), none);
    if (columns.empty()) {
        std::fill(result.begin(), result.end(), known.count > 0 ? 0 : none);
        return result;
    }
    if (const auto set = bits_of({known.tuples.begin(), known.tuples.end()})) {
#pragma omp parallel for schedule(static)
        for (std::int64_t k = 0; k < count; ++k) {
            const auto value = columns[0][static_cast<std::size_t>(k)];
            if (set->contains(value)) result[static_cast<std::size_t>(k)] = static_cast<std::uint32_t>(set->rank(value));
        }
        return result;
    }
    // Both in order, side by side.
    const auto order = sorted_runs(count, columns, {}, lengths).order;
    std::int64_t at = 0;
    for (auto position : order) {
        const auto x = static_cast<std::size_t>(position);
        const auto compare = [&] {
            for (std::size_t c = 0; c < columns.size(); ++c) {
                const auto other = known.tuples[c][static_cast<std::size_t>(at)];
                if (other != columns[c][x]) return other < columns[c][x] ? -1 : 1;
            }
            return 0;
        };
        while (at < known.count && compare() < 0) ++at;
        if (at < known.count && compare() == 0) result[x] = static_cast<std::uint32_t>(at);
    }
    return result;
}

std::optional<std::vector<std::int64_t>> positions_among(std::span<const std::int64_t> others, std::span<const std::int64_t> values) {
    std::vector<std::int64_t> result;
    if (others.empty() || values.empty()) return result;
    const auto [begin, range] = range_of(others);
    if (!is_dense(static_cast<std::int64_t>(values.size()), range)) return {};
    const ValueSet set(others, begin, range);
    for (std::size_t k = 0; k < values.size(); ++k)
        if (set.contains(values[k])) result.push_back(static_cast<std::int64_t>(k));
    return result;
}

}  // namespace arges::sparse
