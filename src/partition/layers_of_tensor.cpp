// Nonempty slices and their nonzeros by counting, and the layers that a policy cuts them into.
#include "partition/layers_of_tensor.hpp"

#include "arges/error.hpp"
#include "partition/value_counts.hpp"

#include <algorithm>
#include <limits>

namespace arges::partition {

namespace {

void check_indices(std::span<const std::int64_t> indices, std::int64_t length, std::size_t mode) {
    for (std::size_t k = 0; k < indices.size(); ++k)
        if (indices[k] < 0 || indices[k] >= length)
            throw InvalidArgument("nonzero " + std::to_string(k) + " has index " + std::to_string(indices[k]) + " in mode " +
                                  std::to_string(mode) + " of length " + std::to_string(length) + "; indices begin at 0");
}

/// Positions of the indices among the distinct ones. An array of the mode's length is made only where the nonzeros take as much
/// memory.
std::vector<std::uint32_t> positions(std::span<const std::int64_t> indices, const std::vector<std::int64_t>& slices, std::int64_t length) {
    std::vector<std::uint32_t> result(indices.size());
    if (length / 16 > std::ssize(indices)) {
        for (std::size_t k = 0; k < indices.size(); ++k)
            result[k] = std::lower_bound(slices.begin(), slices.end(), indices[k]) - slices.begin();
        return result;
    }
    std::vector<std::uint32_t> position(length, 0);
    for (std::size_t s = 0; s < slices.size(); ++s) position[slices[s]] = s;
    for (std::size_t k = 0; k < indices.size(); ++k) result[k] = position[indices[k]];
    return result;
}

ModeSlices slices_of(std::span<const std::int64_t> indices, std::int64_t length) {
    ModeSlices mode;
    mode.length = length;
    auto known = counted(indices);
    mode.slices = std::move(known.values);
    mode.slice = positions(indices, mode.slices, length);
    mode.start.assign(1, 0);
    for (auto count : known.counts) mode.start.push_back(mode.start.back() + count);
    mode.order.resize(indices.size());
    auto next = mode.start;
    for (std::size_t k = 0; k < indices.size(); ++k) mode.order[next[mode.slice[k]]++] = k;
    return mode;
}

}  // namespace

std::vector<std::int64_t> nonzeros_of_equal_layers(std::span<const std::int64_t> slices, std::span<const std::int64_t> start,
                                                   std::int64_t length, std::int64_t layers) {
    std::vector<std::int64_t> result;
    const auto nonzeros_below = [&](std::int64_t boundary) {
        return start[std::lower_bound(slices.begin(), slices.end(), boundary) - slices.begin()];
    };
    const auto boundaries = equal_layers(length, layers);
    for (std::size_t l = 0; l + 1 < boundaries.size(); ++l)
        result.push_back(nonzeros_below(boundaries[l + 1]) - nonzeros_below(boundaries[l]));
    return result;
}

SliceTable::SliceTable(const IndexView& view) : nonzeros(view.count()) {
    if (nonzeros > std::numeric_limits<std::uint32_t>::max())
        throw Unsupported("distributions are counted, and hypergraphs made, of less than 2^32 nonzeros, not of " +
                          std::to_string(nonzeros) + "; count them from a sample, or use a grid or contiguous slices");
    if (view.indices.size() != view.lengths.size())
        throw InvalidArgument("there are indices for " + std::to_string(view.indices.size()) + " modes and lengths for " +
                              std::to_string(view.lengths.size()));
    for (std::size_t n = 0; n < view.indices.size(); ++n) {
        if (std::ssize(view.indices[n]) != nonzeros)
            throw InvalidArgument("mode " + std::to_string(n) + " has " + std::to_string(view.indices[n].size()) + " indices, mode 0 has " +
                                  std::to_string(nonzeros));
        check_indices(view.indices[n], view.lengths[n], n);
        modes.push_back(slices_of(view.indices[n], view.lengths[n]));
    }
}

LayerCounts layer_counts(const SliceTable& table) {
    return [&table](int mode, std::int64_t layers) {
        const auto& slices = table.modes[mode];
        return nonzeros_of_equal_layers(slices.slices, slices.start, slices.length, layers);
    };
}

Boundaries cut_mode(const ModeSlices& mode, const LayerRule& rule, std::int64_t layers) {
    if (rule.policy == LayerPolicy::nonzeros) {
        LayerChain chain(mode.length, mode.start.back(), layers);
        for (std::size_t s = 0; s < mode.slices.size(); ++s) chain.feed(mode.slices[s], mode.start[s + 1] - mode.start[s]);
        return chain.finish();
    }
    return corrected_layers(rule, mode.length, nonzeros_of_equal_layers(mode.slices, mode.start, mode.length, layers));
}

std::vector<std::int32_t> layers_of_slices(const std::vector<std::int64_t>& slices, const Boundaries& boundaries) {
    std::vector<std::int32_t> result(slices.size());
    std::int32_t layer = 0;
    for (std::size_t s = 0; s < result.size(); ++s) {
        while (boundaries[layer + 1] <= slices[s]) ++layer;
        result[s] = layer;
    }
    return result;
}

}  // namespace arges::partition
