// Samples of slices and nonzeros by hashes of their indices, the same wherever the nonzeros lie; of heavy slices a bounded number.
#include "partition/choose_sample.hpp"

#include "partition/sample_hash.hpp"

#include <algorithm>
#include <map>
#include <numeric>

namespace arges::partition {

namespace {

/// What each rank does not send of slices that have more nonzeros than a sample takes.
class HeavySlices {
public:
    HeavySlices(const Team& team, const TensorPart& tensor, const SampleSize& size) : heavy_(size.heavy), counts_(tensor.modes.size()) {
        Team::Numbers mine;
        team.agree([&] {
            for (std::size_t m = 0; m < tensor.modes.size(); ++m) {
                const auto& part = tensor.modes[m];
                for (std::size_t i = 0; i < part.slices.size(); ++i) {
                    const auto count = part.start[i + 1] - part.start[i];
                    if (count > heavy_ && is_sampled(hash_of(part.slices[i]), size.slices[m]))
                        mine.insert(mine.end(), {static_cast<std::int64_t>(m), part.slices[i], count});
                }
            }
        });
        const auto all = team.all_gather(mine);
        for (std::size_t k = 0; k < all.size(); k += 3) counts_[all[k]].far.emplace(all[k + 1], all[k + 2]);
        team.agree([&] {
            for (auto& counts : counts_) counts.spread();
        });
    }
    /// Whether the nonzero with this hash in a slice is looked at: of heavy slices about as many as may be.
    bool takes(std::size_t mode, std::int64_t slice, std::uint64_t hash) const {
        const auto count = counts_[mode].of(slice);
        return count == 0 || unit_interval(hash) * static_cast<double>(count) < static_cast<double>(heavy_);
    }

private:
    /// Nonzeros of the heavy slices of a mode: a table where these lie near each other, as in short modes, which nearly all nonzeros ask.
    struct Counts {
        std::map<std::int64_t, std::int64_t> far;
        std::vector<std::int64_t> near;
        std::int64_t first = 0;  // slice of the table

        void spread() {
            constexpr std::int64_t longest = 1 << 14;
            if (far.empty() || far.rbegin()->first - far.begin()->first >= longest) return;
            first = far.begin()->first;
            near.assign(static_cast<std::size_t>(far.rbegin()->first - first) + 1, 0);
            for (const auto& [slice, count] : far) near[slice - first] = count;
            far.clear();
        }
        /// 0: not heavy
        std::int64_t of(std::int64_t slice) const {
            if (const auto i = static_cast<std::uint64_t>(slice) - static_cast<std::uint64_t>(first); i < near.size()) return near[i];
            if (far.empty()) return 0;
            const auto found = far.find(slice);
            return found == far.end() ? 0 : found->second;
        }
    };

    std::int64_t heavy_;
    std::vector<Counts> counts_;
};

/// Positions ordered by value, for values in a range that is not much longer than their number by counting.
std::vector<std::uint32_t> ordered_by(const std::vector<std::int64_t>& values) {
    constexpr std::int64_t dense_range = 32;
    std::vector<std::uint32_t> order(values.size());
    if (values.empty()) return order;
    const auto [least, largest] = std::minmax_element(values.begin(), values.end());
    const auto begin = *least, range = *largest - begin + 1;
    if (range / dense_range > std::ssize(values)) {
        std::iota(order.begin(), order.end(), 0U);
        std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return values[a] < values[b]; });
        return order;
    }
    std::vector<std::uint32_t> next(static_cast<std::size_t>(range) + 1, 0);
    for (auto value : values) ++next[(value - begin) + 1];
    std::partial_sum(next.begin(), next.end(), next.begin());
    for (std::size_t k = 0; k < values.size(); ++k) order[next[values[k] - begin]++] = k;
    return order;
}

}  // namespace

bool SampleSize::is_everything() const {
    return heavy == no_limit && nonzeros >= 1 && std::all_of(slices.begin(), slices.end(), [](double fraction) { return fraction >= 1; });
}

TensorSample::TensorSample(const Team& team, const TensorPart& tensor, std::span<const SampleSize> sizes) : tensor_(tensor) {
    const auto& largest = sizes.back();
    double listed = 0;
    auto heavy = SampleSize::no_limit;
    for (const auto& size : sizes) {
        if (size.nonzeros <= 1) listed = std::max(listed, size.nonzeros);
        heavy = std::min(heavy, size.heavy);
    }
    const auto numbers = team.all_gather(picked(team, largest, listed));
    const std::size_t order = tensor.order();
    team.agree([&] {
        std::vector<std::vector<const std::int64_t*>> nonzeros(order + 1);
        for (std::size_t k = 0; k < numbers.size(); k += order + 1) nonzeros[numbers[k]].push_back(&numbers[k + 1]);
        for (std::size_t m = 0; m < order; ++m) modes_.push_back(grouped(nonzeros[m], m, heavy));
        listed_.indices.resize(order);
        for (const auto* indices : nonzeros[order]) {
            listed_.hashes.push_back(hash_of(std::span(indices, order)));
            for (std::size_t n = 0; n < order; ++n) listed_.indices[n].push_back(indices[n]);
        }
        look_at(largest);
    });
}

/// This rank's nonzeros in the sample: those of sampled slices, each behind the mode of the slice, and those for the loads behind the
/// order.
Team::Numbers TensorSample::picked(const Team& team, const SampleSize& largest, double listed) const {
    const HeavySlices heavy(team, tensor_, largest);
    const auto& indices = tensor_.view.indices;
    const auto order = indices.size();
    Team::Numbers numbers;
    team.agree([&] {
        std::vector<std::uint32_t> positions;
        for_each_hashed_block(tensor_.view, [&](std::size_t begin, const auto& hashes, const auto& by_mode) {
            const auto pick = [&](std::size_t use, std::size_t i) {
                numbers.push_back(use);
                for (std::size_t n = 0; n < order; ++n) numbers.push_back(indices[n][begin + i]);
            };
            for (const auto i : sampled_positions(hashes, listed, positions)) pick(order, i);
            for (std::size_t m = 0; m < order; ++m)
                for (const auto i : sampled_positions(by_mode[m], largest.slices[m], positions))
                    if (heavy.takes(m, indices[m][begin + i], hashes[i])) pick(m, i);
        });
    });
    return numbers;
}

/// Orders nonzeros by row, and those of a row with more than `heavy` by hash, so that every sample takes the same first ones.
/// @param nonzeros the indices of each in all modes
TensorSample::Mode TensorSample::grouped(const std::vector<const std::int64_t*>& nonzeros, std::size_t mode, std::int64_t heavy) const {
    const std::size_t order = tensor_.order();
    const auto count = nonzeros.size();
    std::vector<std::int64_t> rows(count);
    for (std::size_t k = 0; k < count; ++k) rows[k] = nonzeros[k][mode];
    auto position = ordered_by(rows);
    Mode result;
    result.start.push_back(0);
    for (std::size_t k = 0; k < count;) {
        auto end = k;
        while (end < count && rows[position[end]] == rows[position[k]]) ++end;
        if (static_cast<std::int64_t>(end - k) > heavy) {
            std::vector<std::pair<std::uint64_t, std::uint32_t>> by_hash;
            for (auto i = k; i < end; ++i) by_hash.emplace_back(hash_of(std::span(nonzeros[position[i]], order)), position[i]);
            std::sort(by_hash.begin(), by_hash.end());
            for (auto i = k; i < end; ++i) position[i] = by_hash[i - k].second;
        }
        result.rows.push_back(rows[position[k]]);
        result.start.push_back(end);
        k = end;
    }
    result.indices.resize(order);
    for (std::size_t n = 0; n < order; ++n)
        if (n != mode) result.indices[n].resize(count);
    for (std::size_t k = 0; k < count; ++k)
        for (std::size_t n = 0; n < order; ++n)
            if (n != mode) result.indices[n][k] = nonzeros[position[k]][n];
    return result;
}

void TensorSample::look_at(const SampleSize& size) {
    size_ = size;
    for (std::size_t m = 0; m < modes_.size(); ++m) {
        auto& mode = modes_[m];
        mode.used.clear();
        for (std::size_t r = 0; r < mode.rows.size(); ++r)
            if (is_sampled(hash_of(mode.rows[r]), size.slices[m])) mode.used.push_back(r);
    }
    used_ = {{}, std::vector<std::vector<std::int64_t>>(modes_.size())};
    if (size.nonzeros > 1) return;
    for (std::size_t i = 0; i < listed_.hashes.size(); ++i) {
        if (!is_sampled(listed_.hashes[i], size.nonzeros)) continue;
        used_.hashes.push_back(listed_.hashes[i]);
        for (std::size_t n = 0; n < modes_.size(); ++n) used_.indices[n].push_back(listed_.indices[n][i]);
    }
}

std::vector<std::int64_t> TensorSample::slices() const {
    std::vector<std::int64_t> result;
    for (const auto& mode : modes_) result.push_back(std::ssize(mode.rows));
    return result;
}

}  // namespace arges::partition
