#include "sparse/coordinates.hpp"

#include "arges/error.hpp"
#include "base/large_vector.hpp"
#include "base/value_set.hpp"
#include "sparse/index_sort.hpp"

#include <algorithm>
#include <optional>
#include <utility>

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

__extension__ using WideKey = unsigned __int128;

/// The indices of a nonzero as one number, the first column slowest. They must fit into it.
template <class Key>
class KeyOf {
public:
    KeyOf(const Columns& columns, std::span<const std::int64_t> lengths) {
        for (std::size_t c = 0; c < columns.size(); ++c) columns_.push_back({columns[c].data(), index_bits(lengths[c])});
    }
    Key operator()(std::int64_t nonzero) const {
        Key key = 0;
        for (const auto& column : columns_) key = key << column.bits | static_cast<Key>(column.indices[nonzero]);
        return key;
    }

private:
    struct Column {
        const std::int64_t* indices;
        int bits;
    };
    std::vector<Column> columns_;
};

int key_bits(std::span<const std::int64_t> lengths) {
    int bits = 0;
    for (auto length : lengths) bits += index_bits(length);
    return bits;
}

/// Where stretches of ascending nonzeros begin, and the last one's end; empty if there are more than `most`.
template <class Key>
std::vector<std::int64_t> ascending_stretches(std::int64_t count, const KeyOf<Key>& key_of, std::size_t most) {
    std::vector<std::int64_t> begins{0};
    Key last = count > 0 ? key_of(0) : 0;
    for (std::int64_t i = 1; i < count; ++i) {
        const auto key = key_of(i);
        if (key < last) {
            if (begins.size() == most) return {};
            begins.push_back(i);
        }
        last = key;
    }
    begins.push_back(count);
    return begins;
}

/// Merges stretches of ascending nonzeros, [x, y) and [y, end) of a list that nonzero_at() knows; of equal ones the first come first.
template <class Key, class F>
void merge_stretches(const KeyOf<Key>& key_of, const F& nonzero_at, std::int64_t x, std::int64_t y, std::int64_t end, std::int64_t* to) {
    const auto middle = y;
    while (x < middle && y < end) {
        const auto first = nonzero_at(x), second = nonzero_at(y);
        const bool is_second = key_of(second) < key_of(first);  // no branch, which would be a guess
        *to++ = is_second ? second : first;
        x += !is_second;
        y += is_second;
    }
    for (; x < middle; ++x) *to++ = nonzero_at(x);
    for (; y < end; ++y) *to++ = nonzero_at(y);
}

/// Positions sorted by the columns, of stretches that are; equal ones keep their order.
template <class Key>
std::vector<std::int64_t> merged(const KeyOf<Key>& key_of, std::vector<std::int64_t> begins) {
    const auto count = static_cast<std::size_t>(begins.back());
    std::vector<std::int64_t> order;
    const auto merge_pairs = [&](const auto& nonzero_at) {
        auto next = large_vector<std::int64_t>(count);
        std::vector<std::int64_t> next_begins{0};
        for (std::size_t k = 0; k + 1 < begins.size(); k += 2) {
            const auto last = std::min(k + 2, begins.size() - 1);
            merge_stretches(key_of, nonzero_at, begins[k], begins[k + 1], begins[last], next.data() + begins[k]);
            next_begins.push_back(begins[last]);
        }
        order = std::move(next);
        begins = std::move(next_begins);
    };
    merge_pairs([](std::int64_t position) { return position; });
    while (begins.size() > 2) {
        const auto before = std::move(order);
        merge_pairs([&](std::int64_t position) { return before[static_cast<std::size_t>(position)]; });
    }
    return order;
}

/// Where nonzeros in order begin that differ from those before, and the end.
template <class F>
std::vector<std::int64_t> run_starts(std::int64_t count, F&& differs) {
    auto starts = large_vector<std::int64_t>(static_cast<std::size_t>(count) + 1);
    std::size_t runs = count > 0 ? 1 : 0;
    for (std::int64_t k = 1; k < count; ++k) {
        starts[runs] = k;
        runs += differs(k) ? 1 : 0;
    }
    starts.resize(runs + 1);
    starts[runs] = count;
    return starts;
}

constexpr std::size_t few_stretches = 4;  // merging so many is faster than sorting

/// By keys of some bits: the order by all columns, merged if that is possible, and runs of equal nonzeros in the first ones. Of nonzeros
/// that are not in a few stretches there is no order where these are asked for.
template <class Key>
std::optional<Runs> runs_by_key(std::int64_t count, const Columns& all, std::size_t columns, std::span<const std::int64_t> lengths,
                                bool only_stretches) {
    const KeyOf<Key> key_of(all, lengths);
    auto stretches = ascending_stretches(count, key_of, few_stretches);
    if (stretches.empty() && only_stretches) return {};
    Runs runs;
    runs.order = stretches.empty() ? sorted(count, all, lengths) : merged(key_of, std::move(stretches));
    const KeyOf<Key> run_of(Columns(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(columns)), lengths);
    Key last = count > 0 ? run_of(runs.order[0]) : 0;
    runs.start = run_starts(count, [&](std::int64_t k) {
        const auto before = std::exchange(last, run_of(runs.order[static_cast<std::size_t>(k)]));
        return before != last;
    });
    return runs;
}

/// The same, whatever bits keys have.
std::optional<Runs> all_runs(std::int64_t count, const Columns& all, std::size_t columns, std::span<const std::int64_t> lengths,
                             bool only_stretches) {
    const auto bits = key_bits(lengths.first(all.size()));
    if (bits <= 64) return runs_by_key<std::uint64_t>(count, all, columns, lengths, only_stretches);
    if (bits <= 128) return runs_by_key<WideKey>(count, all, columns, lengths, only_stretches);
    if (only_stretches) return {};
    Runs runs{sorted(count, all, lengths), {}};
    runs.start = run_starts(count, [&](std::int64_t k) {
        const auto x = static_cast<std::size_t>(runs.order[static_cast<std::size_t>(k)]);
        const auto y = static_cast<std::size_t>(runs.order[static_cast<std::size_t>(k - 1)]);
        return std::any_of(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(columns), [&](const auto& c) { return c[x] != c[y]; });
    });
    return runs;
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
    auto all = columns;
    all.insert(all.end(), also.begin(), also.end());
    return *all_runs(count, all, columns.size(), lengths, false);
}

Runs runs_of_equal(std::int64_t count, const Columns& columns, std::span<const std::int64_t> lengths) {
    const Columns reversed(columns.rbegin(), columns.rend());
    const std::vector<std::int64_t> reversed_lengths(lengths.rbegin(), lengths.rend());
    if (auto runs = all_runs(count, reversed, columns.size(), reversed_lengths, true)) return *std::move(runs);
    if (auto runs = all_runs(count, columns, columns.size(), lengths, true)) return *std::move(runs);
    return *all_runs(count, reversed, columns.size(), reversed_lengths, false);
}

std::optional<std::vector<std::int64_t>> order_unless_sorted(std::int64_t count, const Columns& columns,
                                                             std::span<const std::int64_t> lengths) {
    const auto by_key = [&]<class Key>(Key) -> std::optional<std::vector<std::int64_t>> {
        const KeyOf<Key> key_of(columns, lengths);
        auto stretches = ascending_stretches(count, key_of, few_stretches);
        if (stretches.size() == 2) return {};
        return stretches.empty() ? sorted(count, columns, lengths) : merged(key_of, std::move(stretches));
    };
    const auto bits = key_bits(lengths);
    if (bits <= 64) return by_key(std::uint64_t{0});
    if (bits <= 128) return by_key(WideKey{0});
    return sorted(count, columns, lengths);
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
