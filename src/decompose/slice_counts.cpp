#include "decompose/slice_counts.hpp"

#include "base/math.hpp"

#include <algorithm>

namespace arges::decompose {

namespace {

/// floor(a * b / c) without overflow.
std::int64_t scaled(std::int64_t a, std::int64_t b, std::int64_t c) { return static_cast<std::int64_t>(Wide(a) * b / c); }

/// Rank r is home of the slices i with r = floor(i * ranks / length).
std::int64_t home(std::int64_t slice, std::int64_t length, std::int64_t ranks) { return scaled(slice, ranks, length); }

/// Least and one more than the largest value; 0 and 0 of none.
std::pair<std::int64_t, std::int64_t> range_of(std::span<const std::int64_t> values) {
    if (values.empty()) return {0, 0};
    const auto [least, largest] = std::minmax_element(values.begin(), values.end());
    return {*least, *largest + 1};
}

/// Values in a range that is not much longer than their number are counted in an array over the range, others are sorted.
constexpr std::int64_t dense_range = 4;

SliceCounts counted(std::span<const std::int64_t> values) {
    SliceCounts result;
    const auto [begin, end] = range_of(values);
    if (end - begin <= dense_range * static_cast<std::int64_t>(values.size())) {
        std::vector<std::int64_t> counts(static_cast<std::size_t>(end - begin), 0);
        for (auto v : values) ++counts[static_cast<std::size_t>(v - begin)];
        for (std::int64_t i = 0; i < end - begin; ++i)
            if (counts[static_cast<std::size_t>(i)] > 0) {
                result.slices.push_back(begin + i);
                result.counts.push_back(counts[static_cast<std::size_t>(i)]);
            }
        return result;
    }
    std::vector<std::int64_t> sorted(values.begin(), values.end());
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t i = 0; i < sorted.size();) {
        std::size_t last = i;
        while (last < sorted.size() && sorted[last] == sorted[i]) ++last;
        result.slices.push_back(sorted[i]);
        result.counts.push_back(static_cast<std::int64_t>(last - i));
        i = last;
    }
    return result;
}

/// Adds up counts of slices that come from several ranks.
SliceCounts merged(std::vector<std::pair<std::int64_t, std::int64_t>> pairs) {
    std::sort(pairs.begin(), pairs.end());
    SliceCounts result;
    for (const auto& [slice, count] : pairs) {
        if (result.slices.empty() || result.slices.back() != slice) {
            result.slices.push_back(slice);
            result.counts.push_back(0);
        }
        result.counts.back() += count;
    }
    return result;
}

/// Feeds the chain rank by rank: each gets the state of the one before.
partition::Boundaries run_chain(const Communicator& comm, partition::LayerChain chain, const SliceCounts& counts) {
    auto state = chain.state();
    const auto rank = comm.rank();
    if (rank > 0) {
        std::int64_t size = 0;
        comm.exchange({}, {{rank - 1, reinterpret_cast<std::byte*>(&size), sizeof size}});
        state.resize(static_cast<std::size_t>(size));
        comm.exchange({}, {{rank - 1, reinterpret_cast<std::byte*>(state.data()), size * 8}});
        chain = partition::LayerChain::from_state(state);
    }
    for (std::size_t i = 0; i < counts.slices.size(); ++i) chain.feed(counts.slices[i], counts.counts[i]);
    state = rank + 1 == comm.size() ? chain.finish() : chain.state();
    auto size = static_cast<std::int64_t>(state.size());
    if (rank + 1 < comm.size()) {
        comm.exchange({{rank + 1, reinterpret_cast<std::byte*>(&size), sizeof size}}, {});
        comm.exchange({{rank + 1, reinterpret_cast<std::byte*>(state.data()), size * 8}}, {});
    }
    comm.broadcast(&size, sizeof size, comm.size() - 1);
    state.resize(static_cast<std::size_t>(size));
    comm.broadcast(state.data(), size * 8, comm.size() - 1);
    return state;
}

}  // namespace

std::vector<std::int64_t> distinct(std::span<const std::int64_t> values) { return counted(values).slices; }

SliceCounts count_slices(const Communicator& comm, std::int64_t length, std::span<const std::int64_t> indices) {
    const auto mine = counted(indices);
    if (comm.size() == 1) return mine;
    std::vector<std::vector<std::int64_t>> to(static_cast<std::size_t>(comm.size()));
    for (std::size_t i = 0; i < mine.slices.size(); ++i) {
        auto& list = to[static_cast<std::size_t>(home(mine.slices[i], length, comm.size()))];
        list.push_back(mine.slices[i]);
        list.push_back(mine.counts[i]);
    }
    std::vector<std::vector<std::byte>> outgoing;
    for (const auto& list : to) outgoing.push_back(to_bytes(list));
    std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
    for (const auto& bytes : comm.all_to_all(outgoing)) {
        const auto list = from_bytes<std::int64_t>(bytes);
        for (std::size_t i = 0; i < list.size(); i += 2) pairs.emplace_back(list[i], list[i + 1]);
    }
    return merged(std::move(pairs));
}

std::vector<std::int64_t> count_equal_layers(const Communicator& comm, std::int64_t length, std::int64_t layers,
                                             std::span<const std::int64_t> indices) {
    const auto boundaries = partition::equal_layers(length, layers);
    std::vector<double> sums(static_cast<std::size_t>(layers), 0);
    for (auto i : indices) ++sums[static_cast<std::size_t>(partition::layer_of(boundaries, i))];
    comm.sum(sums.data(), layers);
    return {sums.begin(), sums.end()};
}

partition::Boundaries cut_layers(const Communicator& comm, const partition::LayerRule& rule, std::int64_t length, std::int64_t layers,
                                 std::span<const std::int64_t> indices) {
    if (rule.policy != partition::LayerPolicy::nonzeros)
        return partition::corrected_layers(rule, length, count_equal_layers(comm, length, layers, indices));
    const auto nonzeros = comm.sum(static_cast<std::int64_t>(indices.size()));
    return run_chain(comm, partition::LayerChain(length, nonzeros, layers), count_slices(comm, length, indices));
}

}  // namespace arges::decompose
