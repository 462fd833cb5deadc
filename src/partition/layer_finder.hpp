/// Fast look-up of the layers of many slices. Pure.
#pragma once

#include "partition/layers.hpp"

#include <cstdint>
#include <vector>

namespace arges::partition {

/// layer_of() for many slices of one mode: a table of a few thousand buckets of slices, then bisection among the layers of a
/// bucket.
class LayerFinder {
public:
    explicit LayerFinder(Boundaries boundaries) : boundaries_(std::move(boundaries)) {
        const auto length = boundaries_.back();
        while (length >> shift_ > most_buckets) ++shift_;
        const auto last = std::ssize(boundaries_) - 2;
        std::int64_t layer = 0;
        for (std::int64_t begin = 0; begin <= length + (std::int64_t{1} << shift_); begin += std::int64_t{1} << shift_) {
            while (layer < last && boundaries_[layer + 1] <= begin) ++layer;
            first_.push_back(layer);
        }
    }
    std::int32_t operator()(std::int64_t slice) const {
        const std::size_t bucket = slice >> shift_;
        auto low = first_[bucket], high = first_[bucket + 1];
        while (low < high) {
            const auto middle = low + (high - low + 1) / 2;
            if (boundaries_[middle] <= slice)
                low = middle;
            else
                high = middle - 1;
        }
        return low;
    }
    const Boundaries& boundaries() const { return boundaries_; }

private:
    static constexpr std::int64_t most_buckets = 4096;
    Boundaries boundaries_;
    int shift_ = 0;
    std::vector<std::int32_t> first_;  // layer of the first slice of each bucket
};

}  // namespace arges::partition
