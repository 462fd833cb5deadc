// Counts of values by an array, by sets of bits, or by open addressing with a multiplicative hash (Knuth, The Art of Computer Programming
// 3, section 6.4), as their range suggests.
#include "partition/value_counts.hpp"

#include "base/value_set.hpp"

#include <algorithm>
#include <utility>

namespace arges::partition {

namespace {

using ValueCount = std::pair<std::int64_t, std::int64_t>;

/// Counts numbers from 0 on, by open addressing, in memory that grows with how many different ones there are.
class NumberCounts {
public:
    void add(std::int64_t value, std::int64_t times) {
        auto s = place(value);
        for (; slots_[s].first >= 0; s = (s + 1) & (slots_.size() - 1))
            if (slots_[s].first == value) {
                slots_[s].second += times;
                return;
            }
        slots_[s] = {value, times};
        if (2 * ++count_ > slots_.size()) grow();
    }
    static constexpr std::int64_t first_slots = 1024;

    std::vector<ValueCount> sorted() && {
        std::erase_if(slots_, [](const ValueCount& slot) { return slot.first < 0; });
        std::sort(slots_.begin(), slots_.end());
        return std::move(slots_);
    }

private:
    static constexpr ValueCount empty{-1, 0};

    /// Multiplicative hash (Knuth, The Art of Computer Programming 3, section 6.4).
    std::size_t place(std::int64_t value) const {
        return static_cast<std::size_t>((static_cast<std::uint64_t>(value) * 0x9e3779b97f4a7c15ULL) >> 20) & (slots_.size() - 1);
    }
    void grow() {
        auto old = std::move(slots_);
        slots_.assign(2 * old.size(), empty);
        for (const auto& slot : old) {
            if (slot.first < 0) continue;
            auto s = place(slot.first);
            while (slots_[s].first >= 0) s = (s + 1) & (slots_.size() - 1);
            slots_[s] = slot;
        }
    }

    std::vector<ValueCount> slots_ = std::vector<ValueCount>(first_slots, empty);
    std::size_t count_ = 0;
};

ValueCounts counted_by_hashes(std::span<const std::int64_t> values, std::span<const std::int64_t> times) {
    NumberCounts numbers;
    for (std::size_t x = 0; x < values.size(); ++x) numbers.add(values[x], times.empty() ? 1 : times[x]);
    const auto pairs = std::move(numbers).sorted();
    ValueCounts result;
    result.values.reserve(pairs.size());
    result.counts.reserve(pairs.size());
    for (const auto& [value, count] : pairs) {
        result.values.push_back(value);
        result.counts.push_back(count);
    }
    return result;
}

}  // namespace

ValueCounts counted(std::span<const std::int64_t> values, std::span<const std::int64_t> times) {
    if (values.empty()) return {};
    const auto [begin, range] = range_of(values);
    if (!is_dense(std::ssize(values), range)) return counted_by_hashes(values, times);
    const ValueSet set(values, begin, range);
    ValueCounts result{set.values(), std::vector<std::int64_t>(set.count(), 0)};
    for (std::size_t x = 0; x < values.size(); ++x) result.counts[set.rank(values[x])] += times.empty() ? 1 : times[x];
    return result;
}

MemoryTally counting_memory(std::int64_t values, std::int64_t largest, bool only_distinct) {
    constexpr std::int64_t number = sizeof(std::int64_t), slot = sizeof(ValueCount);
    const auto most = std::min(values, largest) + 1, results = (only_distinct ? 1 : 2) * number * most;
    MemoryTally tally;
    if (is_dense(values, largest + 1)) {
        const auto set = static_cast<std::int64_t>(ValueSet::words(largest + 1)) * 2 * number;
        tally.hold(set + results);
        tally.hold(-set);
    } else {
        const auto slots =
            slot * std::max<std::int64_t>(NumberCounts::first_slots, 4 * most);  // at most half of them were full when it grew
        tally.pass(slots + slots / 2);
        tally.pass(slots + 2 * number * most);
        tally.hold(results);
    }
    return tally;
}

std::vector<std::int64_t> distinct(std::span<const std::int64_t> values) {
    if (values.empty()) return {};
    const auto [begin, range] = range_of(values);
    if (!is_dense(std::ssize(values), range)) return counted_by_hashes(values, {}).values;
    return ValueSet(values, begin, range).values();
}

}  // namespace arges::partition
