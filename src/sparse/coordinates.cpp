#include "sparse/coordinates.hpp"

#include "arges/error.hpp"
#include "base/large_vector.hpp"
#include "base/value_set.hpp"
#include "sparse/index_sort.hpp"

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>

namespace arges::sparse {

namespace {

__extension__ using WideKey = unsigned __int128;

/// The indices of a nonzero as one number, the first column slowest. They must fit into it.
/// @tparam Width  columns, known where it is compiled, which takes half the time; 0: any number
template <class KeyType, std::size_t Width>
class KeyOf {
public:
    using Key = KeyType;
    KeyOf(const JoinedLists& nonzeros, std::span<const std::int64_t> lengths) : nonzeros_(nonzeros) {
        for (auto length : lengths) bits_.push_back(index_bits(length));
        for (std::size_t list = 0; list < nonzeros.lists(); ++list)
            for (std::size_t c = 0; c < bits_.size(); ++c) indices_.push_back(nonzeros.list(list)[c].data());
    }
    /// Of a nonzero that is known to be in a list.
    class InList {
    public:
        InList(const KeyOf& all, std::size_t list)
            : indices_(all.indices_.data() + list * all.bits_.size()), bits_(all.bits_), begin_(all.nonzeros_.begin(list)) {}
        Key operator()(std::int64_t nonzero) const {
            Key key = 0;
            for (std::size_t c = 0; c < (Width > 0 ? Width : bits_.size()); ++c)
                key = key << bits_[c] | static_cast<Key>(indices_[c][nonzero - begin_]);
            return key;
        }

    private:
        const std::int64_t* const* indices_;
        std::span<const int> bits_;
        std::int64_t begin_;
    };
    InList in(std::size_t list) const { return {*this, list}; }
    Key operator()(std::int64_t nonzero) const { return in(nonzeros_.list_of(nonzero))(nonzero); }
    const JoinedLists& nonzeros() const { return nonzeros_; }

private:
    const JoinedLists& nonzeros_;
    std::vector<int> bits_;
    std::vector<const std::int64_t*> indices_;  // by list, then column
};

/// Where all lists are one.
class OneList {
public:
    explicit OneList(const JoinedLists& nonzeros) {
        if (nonzeros.lists() == 1) {
            columns_ = nonzeros.list(0);
            return;
        }
        for (std::size_t m = 0; m < nonzeros.list(0).size(); ++m) columns_.emplace_back(copies_.emplace_back(nonzeros.column(m)));
    }
    const Columns& columns() const { return columns_; }

private:
    std::deque<std::vector<std::int64_t>> copies_;
    Columns columns_;
};

int key_bits(std::span<const std::int64_t> lengths) {
    int bits = 0;
    for (auto length : lengths) bits += index_bits(length);
    return bits;
}

/// Calls f with the keys of nonzeros, and returns its answer; none where the indices do not fit into a key.
template <class F>
auto with_keys(const JoinedLists& nonzeros, std::span<const std::int64_t> lengths, const F& f)
    -> decltype(f(KeyOf<std::uint64_t, 0>(nonzeros, lengths))) {
    const auto bits = key_bits(lengths);
    if (bits > 128) return {};
    if (bits > 64) return f(KeyOf<WideKey, 0>(nonzeros, lengths));
    if (lengths.size() == 2) return f(KeyOf<std::uint64_t, 2>(nonzeros, lengths));
    if (lengths.size() == 3) return f(KeyOf<std::uint64_t, 3>(nonzeros, lengths));
    return f(KeyOf<std::uint64_t, 0>(nonzeros, lengths));
}

constexpr std::size_t few_stretches = 4;  // merging so many is faster than sorting

/// Stretches of nonzeros that ascend, of one list each.
struct Stretches {
    std::vector<std::int64_t> begins;  // and the last one's end; empty: there are too many of them
    std::int64_t runs = 0;             // of nonzeros in them whose keys without some bits are equal, stretch by stretch
};

/// A key without some bits at its end.
template <class Key>
Key without_bits(Key key, int bits) {
    return bits < static_cast<int>(8 * sizeof(Key)) ? key >> bits : 0;
}

/// @param run_bits  of a key, behind those that the nonzeros of a run have in common
template <class Keys>
Stretches ascending_stretches(const Keys& key_of, int run_bits) {
    const auto& nonzeros = key_of.nonzeros();
    Stretches found;
    for (std::size_t list = 0; list < nonzeros.lists(); ++list) {
        const auto begin = nonzeros.begin(list), end = nonzeros.begin(list + 1);
        if (begin == end) continue;
        const auto in_list = key_of.in(list);
        found.begins.push_back(begin);
        ++found.runs;
        auto last = in_list(begin);
        for (auto i = begin + 1; i < end && found.begins.size() <= few_stretches; ++i) {
            const auto key = in_list(i);
            if (key < last) found.begins.push_back(i);
            found.runs += without_bits(key, run_bits) != without_bits(last, run_bits) ? 1 : 0;
            last = key;
        }
        if (found.begins.size() > few_stretches) return {};
    }
    if (found.begins.empty()) found.begins.push_back(0);
    found.begins.push_back(nonzeros.count());
    return found;
}

/// The runs of nonzeros of one list that ascend, in one pass; none if they do not.
template <class Keys>
std::optional<Runs> ascending_runs(const Keys& key_of, std::int64_t count, int run_bits) {
    constexpr std::int64_t block = 4096;
    Runs runs;
    std::int64_t found = 1;
    auto last = key_of(0);
    for (std::int64_t begin = 1; begin < count; begin += block) {
        const auto end = std::min(begin + block, count);
        runs.start.resize(found + end - begin + 1);
        auto* const start = runs.start.data();
        bool descends = false;
        for (auto i = begin; i < end; ++i) {
            const auto key = key_of(i);
            descends |= key < last;
            start[found] = i;  // stays if a run begins
            found += without_bits(key, run_bits) != without_bits(last, run_bits) ? 1 : 0;
            last = key;
        }
        if (descends) return {};
    }
    runs.start.resize(static_cast<std::size_t>(found) + 1);
    runs.start[found] = count;
    return runs;
}

/// Takes stretches of nonzeros that ascend, [x, x_end) and [y, y_end) of a list each, in order; of equal ones the first come first.
template <class First, class Second, class F>
void merge_stretches(const First& first, std::int64_t x, std::int64_t x_end, const Second& second, std::int64_t y, std::int64_t y_end,
                     F take) {
    while (x < x_end && y < y_end) {
        const auto [nonzero_x, key_x] = first(x);
        const auto [nonzero_y, key_y] = second(y);
        const bool is_second = key_y < key_x;  // no branch, which would be a guess
        take(is_second ? nonzero_y : nonzero_x, is_second ? key_y : key_x);
        x += !is_second;
        y += is_second;
    }
    for (; x < x_end; ++x) std::apply(take, first(x));
    for (; y < y_end; ++y) std::apply(take, second(y));
}

/// Nonzeros of stretches that ascend in order; equal ones keep their order. Stretches are of one list each.
/// @param run_bits  of a key, behind those that the nonzeros of a run have in common
template <class Keys>
Runs merged(const Keys& key_of, Stretches stretches, int run_bits) {
    using Key = typename Keys::Key;
    auto& begins = stretches.begins;
    const auto& nonzeros = key_of.nonzeros();
    Runs runs;
    std::vector<std::int64_t> before;
    for (bool is_first = true;; is_first = false) {
        const bool is_last = begins.size() <= 3;
        runs.order = large_vector<std::int64_t>(static_cast<std::size_t>(nonzeros.count()));
        if (is_last) runs.start = large_vector<std::int64_t>(static_cast<std::size_t>(stretches.runs) + 2);
        std::vector<std::int64_t> next_begins{0};
        for (std::size_t k = 0; k + 1 < begins.size(); k += 2) {
            const auto x = begins[k], middle = begins[k + 1], end = begins[std::min(k + 2, begins.size() - 1)];
            const auto merge = [&](const auto& first, const auto& second) {
                auto* to = runs.order.data() + x;
                if (!is_last) return merge_stretches(first, x, middle, second, middle, end, [&to](std::int64_t at, Key) { *to++ = at; });
                auto* start = runs.start.data();
                std::int64_t at = 0;
                Key last = 0;
                merge_stretches(first, x, middle, second, middle, end, [&](std::int64_t nonzero, Key key) {
                    const auto run = without_bits(key, run_bits);
                    *to++ = nonzero;
                    *start = at;  // stays if a run begins
                    start += at == 0 || run != last ? 1 : 0;
                    ++at;
                    last = run;
                });
                *start = at;
                runs.start.resize(static_cast<std::size_t>(start - runs.start.data()) + 1);
            };
            const auto given = [&](std::int64_t begin) {
                const auto list = nonzeros.list_of(std::min(begin, nonzeros.count() - 1));
                return [in_list = key_of.in(list)](std::int64_t at) { return std::pair(at, in_list(at)); };
            };
            const auto in_order = [&](std::int64_t at) {
                const auto nonzero = before[at];
                return std::pair(nonzero, key_of(nonzero));
            };
            is_first ? merge(given(x), given(middle)) : merge(in_order, in_order);
            next_begins.push_back(end);
        }
        if (is_last) return runs;
        before = std::move(runs.order);
        begins = std::move(next_begins);
    }
}

/// The order by all columns, merged if that is possible, and runs of equal nonzeros in the first ones. Of nonzeros that are not in a few
/// stretches there is no order where these are asked for. @param lengths of all columns
std::optional<Runs> all_runs(const JoinedLists& all, std::size_t columns, std::span<const std::int64_t> lengths, bool only_stretches) {
    auto merging = with_keys(all, lengths, [&](const auto& key_of) -> std::optional<Runs> {
        const auto run_bits = key_bits(lengths.subspan(columns));
        auto stretches = ascending_stretches(key_of, run_bits);
        if (stretches.begins.empty()) return {};
        return merged(key_of, std::move(stretches), run_bits);
    });
    if (merging) return merging;
    if (only_stretches) return {};
    const OneList one(all);
    Runs runs{lexicographic_positions<std::int64_t>(all.count(), one.columns(), lengths),
              large_vector<std::int64_t>(static_cast<std::size_t>(all.count()) + 1)};
    std::size_t found = 0;
    for (std::size_t k = 0; k < runs.order.size(); ++k) {
        const auto differs = [&](const auto& c) { return c[runs.order[k]] != c[runs.order[k - 1]]; };
        if (k > 0 && std::none_of(one.columns().begin(), one.columns().begin() + columns, differs)) continue;
        runs.start[found++] = k;
    }
    runs.start.resize(found + 1);
    runs.start[found] = all.count();
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
    if (!is_dense(std::ssize(columns[0]), range)) return {};
    return ValueSet(columns[0], begin, range);
}

}  // namespace

JoinedLists::JoinedLists(std::vector<Columns> lists, std::span<const std::int64_t> counts) : lists_(std::move(lists)) {
    for (auto count : counts) begin_.push_back(begin_.back() + count);
}

std::vector<std::int64_t> JoinedLists::column(std::size_t mode) const {
    auto result = large_vector<std::int64_t>(static_cast<std::size_t>(count()));
    for (std::size_t l = 0; l < lists_.size(); ++l) std::copy(lists_[l][mode].begin(), lists_[l][mode].end(), result.begin() + begin_[l]);
    return result;
}

std::optional<Runs> runs_if_sorted(std::int64_t count, const Columns& columns, const Columns& also, std::span<const std::int64_t> lengths) {
    if (count == 0) return {};
    auto all = columns;
    all.insert(all.end(), also.begin(), also.end());
    const auto run_bits = key_bits(lengths.subspan(columns.size(), also.size()));
    return with_keys(JoinedLists({std::move(all)}, {{count}}), lengths.first(columns.size() + also.size()),
                     [&](const auto& key_of) { return ascending_runs(key_of.in(0), count, run_bits); });
}

Runs sorted_runs(std::int64_t count, const Columns& columns, const Columns& also, std::span<const std::int64_t> lengths) {
    auto all = columns;
    all.insert(all.end(), also.begin(), also.end());
    const auto used = lengths.first(all.size());
    return *all_runs(JoinedLists({std::move(all)}, {{count}}), columns.size(), used, false);
}

Runs runs_of_equal(const JoinedLists& nonzeros, std::span<const std::int64_t> lengths) {
    std::vector<Columns> turned;
    std::vector<std::int64_t> counts;
    for (std::size_t l = 0; l < nonzeros.lists(); ++l) {
        turned.emplace_back(nonzeros.list(l).rbegin(), nonzeros.list(l).rend());
        counts.push_back(nonzeros.begin(l + 1) - nonzeros.begin(l));
    }
    const JoinedLists reversed(std::move(turned), counts);
    const std::vector<std::int64_t> reversed_lengths(lengths.rbegin(), lengths.rend());
    if (auto runs = all_runs(reversed, lengths.size(), reversed_lengths, true)) return *std::move(runs);
    if (auto runs = all_runs(nonzeros, lengths.size(), lengths, true)) return *std::move(runs);
    return *all_runs(reversed, lengths.size(), reversed_lengths, false);
}

std::optional<std::vector<std::int64_t>> order_unless_sorted(std::int64_t count, const Columns& columns,
                                                             std::span<const std::int64_t> lengths) {
    const auto used = lengths.first(columns.size());
    bool is_sorted = false;
    auto order = with_keys(JoinedLists({columns}, {{count}}), used, [&](const auto& key_of) -> std::optional<std::vector<std::int64_t>> {
        const auto all_bits = key_bits(used);
        auto stretches = ascending_stretches(key_of, all_bits);
        is_sorted = stretches.begins.size() == 2;
        if (is_sorted || stretches.begins.empty()) return {};
        return merged(key_of, std::move(stretches), all_bits).order;
    });
    if (!order && !is_sorted) order = lexicographic_positions<std::int64_t>(count, columns, lengths);
    return order;
}

Numbering numbered(std::int64_t count, const Columns& columns, std::span<const std::int64_t> lengths) {
    Numbering result;
    result.tuples.resize(columns.size());
    result.numbers.resize(count);
    if (const auto set = bits_of(columns)) {
        check_count(set->count());
        result.count = set->count();
        result.tuples[0] = set->values();
#pragma omp parallel for schedule(static)
        for (std::int64_t k = 0; k < count; ++k) result.numbers[k] = set->rank(columns[0][k]);
        return result;
    }
    const auto runs = sorted_runs(count, columns, {}, lengths);
    check_count(runs.count());
    result.count = runs.count();
    for (std::int64_t run = 0; run < runs.count(); ++run) {
        for (std::size_t c = 0; c < columns.size(); ++c) result.tuples[c].push_back(columns[c][runs.first(run)]);
        for (auto k = runs.start[run]; k < runs.start[run + 1]; ++k) result.numbers[runs.order[k]] = run;
    }
    return result;
}

std::vector<std::uint32_t> looked_up(const Numbering& known, std::int64_t count, const Columns& columns,
                                     std::span<const std::int64_t> lengths) {
    std::vector<std::uint32_t> result(count, none);
    if (columns.empty()) {
        std::fill(result.begin(), result.end(), known.count > 0 ? 0 : none);
        return result;
    }
    if (const auto set = bits_of({known.tuples.begin(), known.tuples.end()})) {
#pragma omp parallel for schedule(static)
        for (std::int64_t k = 0; k < count; ++k) {
            const auto value = columns[0][k];
            if (set->contains(value)) result[k] = set->rank(value);
        }
        return result;
    }
    // Both in order, side by side.
    const auto order = sorted_runs(count, columns, {}, lengths).order;
    std::int64_t at = 0;
    for (auto position : order) {
        const std::size_t x = position;
        const auto compare = [&] {
            for (std::size_t c = 0; c < columns.size(); ++c) {
                const auto other = known.tuples[c][at];
                if (other != columns[c][x]) return other < columns[c][x] ? -1 : 1;
            }
            return 0;
        };
        while (at < known.count && compare() < 0) ++at;
        if (at < known.count && compare() == 0) result[x] = at;
    }
    return result;
}

std::optional<std::vector<std::int64_t>> positions_among(std::span<const std::int64_t> others, std::span<const std::int64_t> values) {
    std::vector<std::int64_t> result;
    if (others.empty() || values.empty()) return result;
    const auto [begin, range] = range_of(others);
    if (!is_dense(std::ssize(values), range)) return {};
    const ValueSet set(others, begin, range);
    for (std::size_t k = 0; k < values.size(); ++k)
        if (set.contains(values[k])) result.push_back(k);
    return result;
}

}  // namespace arges::sparse
