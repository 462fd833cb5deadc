#include "partition/choose_sample.hpp"

#include "base/math.hpp"
#include "base/splitmix.hpp"

#include <algorithm>
#include <cmath>

namespace arges::partition {

namespace {

/// Ranks of tuples, as sums of one number for each mode.
class RankOfTuple {
public:
    explicit RankOfTuple(const std::vector<std::vector<std::int32_t>>& offsets) : offsets_(offsets) {}
    std::int32_t operator()(const std::vector<std::vector<std::uint32_t>>& tuples, std::size_t k) const {
        std::int32_t rank = 0;
        for (std::size_t n = 0; n < offsets_.size(); ++n) rank += offsets_[n][tuples[n][k]];
        return rank;
    }

private:
    const std::vector<std::vector<std::int32_t>>& offsets_;
};

void scale(std::vector<std::int64_t>& counts, double factor) {
    for (auto& count : counts) count = std::llround(static_cast<double>(count) * factor);
}

/// The messages of all rows from those of a sample: pairs of ranks share rows independently and equally often, so that a
/// fraction f of them in the sample means a fraction 1 - (1 - f)^scale in all.
void scale_messages(std::vector<std::int64_t>& messages, std::int64_t ranks_in_layer, double factor) {
    const auto most = 2 * static_cast<double>(ranks_in_layer - 1);
    for (auto& count : messages)
        if (count > 0) count = std::llround(most * (1 - std::pow(1 - static_cast<double>(count) / most, factor)));
}

}  // namespace

SliceSample::SliceSample(const SliceTable& table, std::int64_t nonzeros, std::int64_t heavy) {
    sample_nonzeros(table, nonzeros);
    const double fraction = std::min(1.0, static_cast<double>(nonzeros) / std::max(1.0, static_cast<double>(table.nonzeros)));
    for (std::size_t n = 0; n < table.modes.size(); ++n) modes_.push_back(sampled_slices(table, n, fraction, heavy));
    renumber(table);
}

void SliceSample::sample_nonzeros(const SliceTable& table, std::int64_t nonzeros) {
    tuples_.resize(table.modes.size());
    const auto step = std::max<std::int64_t>(1, table.nonzeros / std::max<std::int64_t>(1, nonzeros));
    for (std::size_t n = 0; n < table.modes.size(); ++n)
        for (std::int64_t k = 0; k < table.nonzeros; k += step)
            tuples_[n].push_back(table.modes[n].slice[static_cast<std::size_t>(k)]);
    if (!tuples_[0].empty()) tuples_scale_ = static_cast<double>(table.nonzeros) / static_cast<double>(tuples_[0].size());
}

SliceSample::Mode SliceSample::sampled_slices(const SliceTable& table, std::size_t mode, double fraction,
                                              std::int64_t heavy) const {
    const auto& slices = table.modes[mode];
    Mode result;
    result.tuples.resize(table.modes.size());
    result.start.push_back(0);
    std::int64_t tuples = 0;
    for (std::size_t s = 0; s < slices.slices.size(); ++s) {
        const auto hash = splitmix(static_cast<std::uint64_t>(slices.slices[s]) + 1);
        if (fraction < 1 && static_cast<double>(hash) >= fraction * 0x1p64) continue;
        const auto step = ceil_div(slices.start[s + 1] - slices.start[s], heavy);
        for (auto k = slices.start[s]; k < slices.start[s + 1]; k += step, ++tuples)
            for (std::size_t n = 0; n < table.modes.size(); ++n)
                result.tuples[n].push_back(table.modes[n].slice[slices.order[static_cast<std::size_t>(k)]]);
        result.rows.push_back(slices.slices[s]);
        result.start.push_back(tuples);
    }
    if (!result.rows.empty()) result.scale = static_cast<double>(slices.count()) / static_cast<double>(result.rows.size());
    return result;
}

/// Numbers the slices that occur, so that tables over them are short.
void SliceSample::renumber(const SliceTable& table) {
    constexpr auto unused = static_cast<std::uint32_t>(-1);
    for (std::size_t n = 0; n < table.modes.size(); ++n) {
        std::vector<std::uint32_t> number(table.modes[n].slices.size(), unused);
        const auto for_each_list = [&](auto&& f) {
            f(tuples_[n]);
            for (auto& mode : modes_) f(mode.tuples[n]);
        };
        for_each_list([&](auto& list) {
            for (auto s : list) number[s] = 0;
        });
        auto& used = slices_.emplace_back();
        for (std::size_t s = 0; s < number.size(); ++s) {
            if (number[s] == unused) continue;
            number[s] = static_cast<std::uint32_t>(used.size());
            used.push_back(table.modes[n].slices[s]);
        }
        for_each_list([&](auto& list) {
            for (auto& s : list) s = number[s];
        });
    }
}

DistributionCounts SliceSample::estimate(const Grid& grid, const std::vector<Boundaries>& boundaries, RowRule rule,
                                         double excess) const {
    DistributionCounts result{ranks(grid), {}};
    std::vector<ModeLayers> layers;
    std::vector<std::vector<std::int32_t>> offsets;
    for (std::size_t n = 0; n < grid.size(); ++n) {
        layers.push_back(mode_layers(grid, n, boundaries[n]));
        offsets.push_back(layers_of_slices(slices_[n], boundaries[n]));
        for (auto& layer : offsets[n]) layer *= static_cast<std::int32_t>(layers[n].inner);
    }
    const RankOfTuple rank_of(offsets);
    std::vector<std::int64_t> nonzeros(static_cast<std::size_t>(result.ranks), 0);
    for (std::size_t k = 0; k < tuples_[0].size(); ++k) ++nonzeros[static_cast<std::size_t>(rank_of(tuples_, k))];
    scale(nonzeros, tuples_scale_);
    for (std::size_t n = 0; n < grid.size(); ++n) {
        const auto& mode = modes_[n];
        HolderCollector collector(result.ranks);
        for (std::size_t row = 0; row < mode.rows.size(); ++row) {
            for (auto k = mode.start[row]; k < mode.start[row + 1]; ++k)
                collector.add(rank_of(mode.tuples, static_cast<std::size_t>(k)));
            collector.end_row(mode.rows[row]);
        }
        const auto holders = collector.take();
        auto counts = count_rows(holders, row_owners(holders, layers[n], rule, excess), result.ranks, Phases::fold_and_expand);
        for (auto* list : {&counts.owned, &counts.held, &counts.sent, &counts.received}) scale(*list, mode.scale);
        scale_messages(counts.messages, layers[n].ranks_in_layer(), mode.scale);
        counts.connectivity = std::llround(static_cast<double>(counts.connectivity) * mode.scale);
        counts.nonzeros = nonzeros;
        result.modes.push_back(std::move(counts));
    }
    return result;
}

}  // namespace arges::partition
