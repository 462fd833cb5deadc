// Nonempty slices of a mode over all ranks by sample sort: sampled bounds cut the indices into parts of similar length, which ranks count.
#include "interface/sparse/sparse_tensor_slices.hpp"

#include "comm/values.hpp"
#include "partition/value_counts.hpp"

#include <algorithm>

namespace arges {

namespace {

using partition::ValueCounts;

/// Bounds that cut the values of all ranks, each ascending, into parts of similar length (sample sort).
std::vector<std::int64_t> sampled_bounds(const Communicator& comm, const std::vector<std::int64_t>& values) {
    const std::size_t ranks = comm.size();
    std::vector<std::int64_t> samples;
    const auto wanted = std::min(values.size(), 4 * ranks);
    for (std::size_t k = 0; k < wanted; ++k) samples.push_back(values[k * values.size() / wanted]);
    samples = gathered(comm, samples);
    std::sort(samples.begin(), samples.end());
    std::vector<std::int64_t> bounds(ranks - 1, 0);
    for (std::size_t r = 1; r < ranks && !samples.empty(); ++r) bounds[r - 1] = samples[r * samples.size() / ranks];
    return bounds;
}

/// What belongs to ascending values, in pieces for the ranks whose parts the values belong to.
std::vector<std::vector<std::int64_t>> cut(const SliceList& list, const std::vector<std::int64_t>& values,
                                           const std::vector<std::int64_t>& theirs) {
    std::vector<std::vector<std::int64_t>> out(list.bounds.size() + 1);
    auto begin = values.begin();
    for (std::size_t r = 0; r < out.size(); ++r) {
        const auto end = r < list.bounds.size() ? std::lower_bound(begin, values.end(), list.bounds[r]) : values.end();
        out[r].assign(theirs.begin() + (begin - values.begin()), theirs.begin() + (end - values.begin()));
        begin = end;
    }
    return out;
}

/// Adds up counts of values that come from several ranks.
ValueCounts merged(const std::vector<std::vector<std::int64_t>>& values, const std::vector<std::vector<std::int64_t>>& counts) {
    std::vector<std::int64_t> all_values, all_counts;
    for (std::size_t r = 0; r < values.size(); ++r) {
        all_values.insert(all_values.end(), values[r].begin(), values[r].end());
        all_counts.insert(all_counts.end(), counts[r].begin(), counts[r].end());
    }
    return partition::counted(all_values, all_counts);
}

}  // namespace

std::size_t SliceList::owner(std::int64_t index) const { return std::upper_bound(bounds.begin(), bounds.end(), index) - bounds.begin(); }

SliceList nonempty_slices(const Communicator& comm, std::span<const std::int64_t> indices) {
    SliceList list;
    ValueCounts known;
    comm.agree([&] { known = partition::counted(indices); });
    if (comm.size() > 1) {
        list.bounds = sampled_bounds(comm, known.values);
        std::vector<std::vector<std::int64_t>> values, counts;
        comm.agree([&] {
            values = cut(list, known.values, known.values);
            counts = cut(list, known.values, known.counts);
        });
        values = exchanged(comm, std::move(values));
        counts = exchanged(comm, std::move(counts));
        comm.agree([&] { known = merged(values, counts); });
    }
    list.mine = std::move(known.values);
    list.counts = std::move(known.counts);
    list.first.assign(1, 0);
    const std::vector<std::int64_t> own{std::ssize(list.mine)};
    for (auto count : gathered(comm, own)) list.first.push_back(list.first.back() + count);
    return list;
}

MemoryTally slice_list_memory(std::int64_t ranks, std::int64_t count, std::int64_t length) {
    constexpr std::int64_t number = sizeof(std::int64_t);
    MemoryTally tally;
    tally.add(partition::counting_memory(count, length));
    if (ranks == 1) return tally;
    // Values and counts in pieces, as messages, as they come, and one list behind the other; then what they make.
    const auto known = std::min(count, length), part = std::min(2 * known, length);
    tally.pass(2 * 2 * number * known + 2 * number * part + 2 * number * part);
    tally.pass(2 * number * part + 2 * 2 * number * part);
    tally.hold(2 * number * part);
    tally.add(partition::counting_memory(part, length));
    tally.hold(2 * number * part - tally.held());
    return tally;
}

std::vector<std::int64_t> renumbered(const Communicator& comm, const SliceList& list, std::span<const std::int64_t> indices) {
    std::vector<std::int64_t> known, result;
    std::vector<std::vector<std::int64_t>> wanted;
    comm.agree([&] {
        known = partition::distinct(indices);
        wanted = cut(list, known, known);
    });
    wanted = exchanged(comm, std::move(wanted));
    for (auto& part : wanted)
        for (auto& index : part)
            index = list.first[comm.rank()] + (std::lower_bound(list.mine.begin(), list.mine.end(), index) - list.mine.begin());
    wanted = exchanged(comm, std::move(wanted));
    comm.agree([&] {
        std::vector<std::int64_t> numbers;  // of the known indices
        for (const auto& part : wanted) numbers.insert(numbers.end(), part.begin(), part.end());
        result.reserve(indices.size());
        for (auto index : indices) result.push_back(numbers[std::lower_bound(known.begin(), known.end(), index) - known.begin()]);
    });
    return result;
}

MemoryTally renumbering_memory(std::int64_t ranks, std::int64_t count, std::int64_t length) {
    constexpr std::int64_t number = sizeof(std::int64_t);
    const auto known = std::min(count, length), part = ranks == 1 ? known : 2 * known;
    MemoryTally tally;
    tally.add(partition::counting_memory(count, length, true));
    // What this rank asks for and what it is asked for, and the messages of either.
    tally.pass(number * (2 * known + 2 * part));
    tally.pass(number * (2 * known + count));
    tally.hold(number * count - tally.held());
    return tally;
}

}  // namespace arges
