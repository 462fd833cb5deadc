#include "interface/sparse_tensor_slices.hpp"

#include <algorithm>
#include <utility>

namespace arges {

namespace {

using ValueCount = std::pair<std::int64_t, std::int64_t>;

/// Different values, ascending, and how often each occurs.
struct ValueCounts {
    std::vector<std::int64_t> values, counts;
    void add(std::int64_t value, std::int64_t count) {
        values.push_back(value);
        counts.push_back(count);
    }
};

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

/// Arrays over the range of values are at most so many times as long as the values; they are a few times faster than a hash table and sorting.
constexpr std::int64_t dense_range = 8;

/// Different values, ascending, with how often they occur: by an array over their range where that is short, else by a hash table.
/// @param times how often each value counts; empty for once
ValueCounts counted(std::span<const std::int64_t> values, std::span<const std::int64_t> times = {}) {
    ValueCounts result;
    if (values.empty()) return result;
    const auto [least, largest] = std::minmax_element(values.begin(), values.end());
    const auto begin = *least, range = *largest - begin + 1;
    const auto times_of = [&](std::size_t x) { return times.empty() ? 1 : times[x]; };
    if (range / dense_range <= static_cast<std::int64_t>(values.size())) {
        std::vector<std::int64_t> counts(static_cast<std::size_t>(range), 0);
        for (std::size_t x = 0; x < values.size(); ++x) counts[static_cast<std::size_t>(values[x] - begin)] += times_of(x);
        for (std::int64_t i = 0; i < range; ++i)
            if (counts[static_cast<std::size_t>(i)] > 0) result.add(begin + i, counts[static_cast<std::size_t>(i)]);
        return result;
    }
    NumberCounts numbers;
    for (std::size_t x = 0; x < values.size(); ++x) numbers.add(values[x], times_of(x));
    for (const auto& [value, count] : std::move(numbers).sorted()) result.add(value, count);
    return result;
}

/// Bounds that cut the values of all ranks, each ascending, into parts of similar length (sample sort).
std::vector<std::int64_t> sampled_bounds(const Communicator& comm, const std::vector<std::int64_t>& values) {
    const auto ranks = static_cast<std::size_t>(comm.size());
    std::vector<std::int64_t> samples;
    const auto wanted = std::min(values.size(), 4 * ranks);
    for (std::size_t k = 0; k < wanted; ++k) samples.push_back(values[k * values.size() / wanted]);
    samples = from_bytes<std::int64_t>(comm.all_gather(to_bytes(samples)));
    std::sort(samples.begin(), samples.end());
    std::vector<std::int64_t> bounds(ranks - 1, 0);
    for (std::size_t r = 1; r < ranks && !samples.empty(); ++r) bounds[r - 1] = samples[r * samples.size() / ranks];
    return bounds;
}

/// What belongs to ascending values, in pieces for the ranks whose parts the values belong to.
std::vector<std::vector<std::byte>> cut(const SliceList& list, const std::vector<std::int64_t>& values, const std::vector<std::int64_t>& theirs) {
    std::vector<std::vector<std::byte>> out(list.bounds.size() + 1);
    auto begin = values.begin();
    for (std::size_t r = 0; r < out.size(); ++r) {
        const auto end = r < list.bounds.size() ? std::lower_bound(begin, values.end(), list.bounds[r]) : values.end();
        out[r] = to_bytes(std::vector<std::int64_t>(theirs.begin() + (begin - values.begin()), theirs.begin() + (end - values.begin())));
        begin = end;
    }
    return out;
}

/// Adds up counts of values that come from several ranks.
ValueCounts merged(const std::vector<std::vector<std::byte>>& values, const std::vector<std::vector<std::byte>>& counts) {
    std::vector<std::int64_t> all_values, all_counts;
    for (std::size_t r = 0; r < values.size(); ++r) {
        const auto theirs = from_bytes<std::int64_t>(values[r]), how_often = from_bytes<std::int64_t>(counts[r]);
        all_values.insert(all_values.end(), theirs.begin(), theirs.end());
        all_counts.insert(all_counts.end(), how_often.begin(), how_often.end());
    }
    return counted(all_values, all_counts);
}

}  // namespace

std::size_t SliceList::owner(std::int64_t index) const {
    return static_cast<std::size_t>(std::upper_bound(bounds.begin(), bounds.end(), index) - bounds.begin());
}

std::vector<std::int64_t> distinct(std::span<const std::int64_t> values) { return counted(values).values; }

SliceList nonempty_slices(const Communicator& comm, std::span<const std::int64_t> indices) {
    SliceList list;
    auto known = counted(indices);
    if (comm.size() > 1) {
        list.bounds = sampled_bounds(comm, known.values);
        const auto values = comm.all_to_all(cut(list, known.values, known.values));
        known = merged(values, comm.all_to_all(cut(list, known.values, known.counts)));
    }
    list.mine = std::move(known.values);
    list.counts = std::move(known.counts);
    list.first.assign(1, 0);
    const std::vector<std::int64_t> own{static_cast<std::int64_t>(list.mine.size())};
    for (auto count : from_bytes<std::int64_t>(comm.all_gather(to_bytes(own)))) list.first.push_back(list.first.back() + count);
    return list;
}

std::vector<std::int64_t> renumbered(const Communicator& comm, const SliceList& list, std::span<const std::int64_t> indices) {
    const auto known = distinct(indices);
    std::vector<std::int64_t> numbers;  // of the known indices
    std::vector<std::vector<std::byte>> answers;
    for (const auto& part : comm.all_to_all(cut(list, known, known))) {
        auto wanted = from_bytes<std::int64_t>(part);
        for (auto& index : wanted)
            index = list.first[static_cast<std::size_t>(comm.rank())] +
                    (std::lower_bound(list.mine.begin(), list.mine.end(), index) - list.mine.begin());
        answers.push_back(to_bytes(wanted));
    }
    for (const auto& part : comm.all_to_all(answers)) {
        const auto more = from_bytes<std::int64_t>(part);
        numbers.insert(numbers.end(), more.begin(), more.end());
    }
    std::vector<std::int64_t> result;
    result.reserve(indices.size());
    for (auto index : indices)
        result.push_back(numbers[static_cast<std::size_t>(std::lower_bound(known.begin(), known.end(), index) - known.begin())]);
    return result;
}

}  // namespace arges
