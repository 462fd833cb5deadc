#include "interface/sparse_tensor_slices.hpp"

#include "partition/value_counts.hpp"

#include <algorithm>

namespace arges {

namespace {

using partition::ValueCounts;

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
std::vector<std::vector<std::byte>> cut(const SliceList& list, const std::vector<std::int64_t>& values,
                                        const std::vector<std::int64_t>& theirs) {
    std::vector<std::vector<std::byte>> out(list.bounds.size() + 1);
    auto begin = values.begin();
    for (std::size_t r = 0; r < out.size(); ++r) {
        const auto end = r < list.bounds.size() ? std::lower_bound(begin, values.end(), list.bounds[r]) : values.end();
        out[r] = to_bytes(
            std::vector<std::int64_t>(theirs.begin() + (begin - values.begin()), theirs.begin() + (end - values.begin())));
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
    return partition::counted(all_values, all_counts);
}

}  // namespace

std::size_t SliceList::owner(std::int64_t index) const {
    return static_cast<std::size_t>(std::upper_bound(bounds.begin(), bounds.end(), index) - bounds.begin());
}

SliceList nonempty_slices(const Communicator& comm, std::span<const std::int64_t> indices) {
    SliceList list;
    auto known = partition::counted(indices);
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
    const auto known = partition::distinct(indices);
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
