#include "interface/sparse_tensor_slices.hpp"

#include <algorithm>

namespace arges {

namespace {

/// A set of numbers from 0 on, by open addressing, that grows with what is in it.
class NumberSet {
public:
    void insert(std::int64_t value) {
        auto s = place(value);
        for (; slots_[s] >= 0; s = (s + 1) & (slots_.size() - 1))
            if (slots_[s] == value) return;
        slots_[s] = value;
        if (2 * ++count_ > slots_.size()) grow();
    }
    std::vector<std::int64_t> sorted() && {
        std::erase(slots_, -1);
        std::sort(slots_.begin(), slots_.end());
        return std::move(slots_);
    }

private:
    /// Multiplicative hash (Knuth, The Art of Computer Programming 3, section 6.4).
    std::size_t place(std::int64_t value) const {
        return static_cast<std::size_t>((static_cast<std::uint64_t>(value) * 0x9e3779b97f4a7c15ULL) >> 20) & (slots_.size() - 1);
    }
    void grow() {
        auto old = std::move(slots_);
        slots_.assign(2 * old.size(), -1);
        for (auto value : old) {
            if (value < 0) continue;
            auto s = place(value);
            while (slots_[s] >= 0) s = (s + 1) & (slots_.size() - 1);
            slots_[s] = value;
        }
    }

    std::vector<std::int64_t> slots_ = std::vector<std::int64_t>(1024, -1);
    std::size_t count_ = 0;
};

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

/// Ascending values, sent to the ranks whose parts they belong to.
std::vector<std::vector<std::byte>> cut(const SliceList& list, const std::vector<std::int64_t>& values) {
    std::vector<std::vector<std::byte>> out(list.bounds.size() + 1);
    auto begin = values.begin();
    for (std::size_t r = 0; r < out.size(); ++r) {
        const auto end = r < list.bounds.size() ? std::lower_bound(begin, values.end(), list.bounds[r]) : values.end();
        out[r] = to_bytes(std::vector<std::int64_t>(begin, end));
        begin = end;
    }
    return out;
}

}  // namespace

std::size_t SliceList::owner(std::int64_t index) const {
    return static_cast<std::size_t>(std::upper_bound(bounds.begin(), bounds.end(), index) - bounds.begin());
}

std::vector<std::int64_t> distinct(std::span<const std::int64_t> values) {
    NumberSet set;
    for (auto value : values) set.insert(value);
    return std::move(set).sorted();
}

SliceList nonempty_slices(const Communicator& comm, std::span<const std::int64_t> indices) {
    SliceList list;
    list.mine = distinct(indices);
    if (comm.size() > 1) {
        list.bounds = sampled_bounds(comm, list.mine);
        const auto parts = comm.all_to_all(cut(list, list.mine));
        list.mine.clear();
        for (const auto& part : parts) {
            const auto more = from_bytes<std::int64_t>(part);
            list.mine.insert(list.mine.end(), more.begin(), more.end());
        }
        std::sort(list.mine.begin(), list.mine.end());
        list.mine.erase(std::unique(list.mine.begin(), list.mine.end()), list.mine.end());
    }
    list.first.assign(1, 0);
    const std::vector<std::int64_t> own{static_cast<std::int64_t>(list.mine.size())};
    for (auto count : from_bytes<std::int64_t>(comm.all_gather(to_bytes(own)))) list.first.push_back(list.first.back() + count);
    return list;
}

std::vector<std::int64_t> renumbered(const Communicator& comm, const SliceList& list, std::span<const std::int64_t> indices) {
    const auto known = distinct(indices);
    std::vector<std::int64_t> numbers;  // of the known indices
    std::vector<std::vector<std::byte>> answers;
    for (const auto& part : comm.all_to_all(cut(list, known))) {
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
