#include "partition/value_counts.hpp"

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

    std::vector<ValueCount> slots_ = std::vector<ValueCount>(1024, empty);
    std::size_t count_ = 0;
};

/// Arrays over the range of values are at most so many times as long as the values; they are a few times faster than a hash
/// table and sorting.
constexpr std::int64_t dense_range = 8;

}  // namespace

ValueCounts counted(std::span<const std::int64_t> values, std::span<const std::int64_t> times) {
    ValueCounts result;
    if (values.empty()) return result;
    const auto [least, largest] = std::minmax_element(values.begin(), values.end());
    const auto begin = *least, range = *largest - begin + 1;
    const auto add = [&](std::int64_t value, std::int64_t count) {
        result.values.push_back(value);
        result.counts.push_back(count);
    };
    const auto times_of = [&](std::size_t x) { return times.empty() ? 1 : times[x]; };
    if (range / dense_range <= static_cast<std::int64_t>(values.size())) {
        std::vector<std::int64_t> counts(static_cast<std::size_t>(range), 0);
        for (std::size_t x = 0; x < values.size(); ++x) counts[static_cast<std::size_t>(values[x] - begin)] += times_of(x);
        for (std::int64_t i = 0; i < range; ++i)
            if (counts[static_cast<std::size_t>(i)] > 0) add(begin + i, counts[static_cast<std::size_t>(i)]);
        return result;
    }
    NumberCounts numbers;
    for (std::size_t x = 0; x < values.size(); ++x) numbers.add(values[x], times_of(x));
    for (const auto& [value, count] : std::move(numbers).sorted()) add(value, count);
    return result;
}

std::vector<std::int64_t> distinct(std::span<const std::int64_t> values) { return counted(values).values; }

}  // namespace arges::partition
