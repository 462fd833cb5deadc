/// Layers of consecutive slices for medium- and coarse-grain distributions. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace arges::partition {

/// Layer l has the slices boundary[l] <= i < boundary[l + 1]. The first boundary is 0, the last is the length of the mode.
using Boundaries = std::vector<std::int64_t>;

/// Layer of a slice; empty layers have none.
std::int64_t layer_of(const Boundaries& boundaries, std::int64_t slice);

/// layer_of() for many slices of one mode: a table of a few buckets of slices for each layer, then bisection among the layers of a
/// bucket.
class LayerFinder {
public:
    explicit LayerFinder(Boundaries boundaries) : boundaries_(std::move(boundaries)) {
        const auto length = boundaries_.back();
        const auto last = std::ssize(boundaries_) - 2;
        while (length >> shift_ > buckets_of_layer * (last + 8)) ++shift_;
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
    static constexpr std::int64_t buckets_of_layer = 8;
    Boundaries boundaries_;
    int shift_ = 0;
    std::vector<std::int32_t> first_;  // layer of the first slice of each bucket
};

/// How a mode is cut into layers.
enum class LayerPolicy : std::uint8_t {
    nonzeros,  ///< SPLATT's chains: equal numbers of nonzeros
    set,       ///< equal numbers of slices
    ordered,   ///< ordered-c of irregularity-aware-cpd-2023: sizes corrected by the c-th part of the imbalance of `set`
    max_min    ///< max-min of the same: the fullest and emptiest layers of `set` exchange slices
};

/// A policy with its parameter, as "nnz", "set", "ordered-2", "max-min".
struct LayerRule {
    LayerPolicy policy = LayerPolicy::nonzeros;
    double c = 1;  ///< of `ordered`, at least 1
    auto operator<=>(const LayerRule&) const = default;
};
std::string to_string(const LayerRule& rule);
/// @throws InvalidArgument for a name that to_string() does not give; the message lists those that there are
LayerRule parse_layer_rule(const std::string& text);
/// nnz, set, ordered-1, ordered-2 and max-min.
const std::vector<LayerRule>& all_policies();

/// floor(l * length / layers); some layers are empty where there are more layers than slices.
Boundaries equal_layers(std::int64_t length, std::int64_t layers);

/// Boundaries by the policies set, ordered and max_min: Algorithm 3 of irregularity-aware-cpd-2023 with the errors of its text
/// put right. With n_i slices and m_i nonzeros in the equal layer i, M nonzeros in L layers, I slices in all:
/// - ordered-c gives layer i n_i (1 - (1 - (M / L) / m_i) / c) slices, all from the equal layers, scaled so that they sum to I
///   (n_i + I / (L c) slices if m_i = 0, as if slices had the mean number of nonzeros);
/// - max-min pairs the fullest layer with the emptiest, the second fullest with the second emptiest, and so on; the fuller of a
///   pair gives up floor((m_hi - m_lo) / 2 / (M / I)) slices, but keeps one.
///
/// Every layer has a slice if there are enough; else the layers are those of equal_layers().
/// @param counts nonzeros of the equal layers, as many as there are layers
Boundaries corrected_layers(const LayerRule& rule, std::int64_t length, const std::vector<std::int64_t>& counts);

/// SPLATT's chains: a layer ends after the slice with which it reaches its share of the nonzeros that are left. Slices with
/// nonzeros are fed in ascending order; the state can be sent to the next rank in between.
class LayerChain {
public:
    /// @throws InvalidArgument for less than one layer
    LayerChain(std::int64_t length, std::int64_t nonzeros, std::int64_t layers);
    /// `count` nonzeros of a slice above all slices before. @throws InvalidArgument for any other slice
    void feed(std::int64_t slice, std::int64_t count);
    /// Many slices, ascending; slice i has start[i + 1] - start[i] nonzeros. Takes O(l log n) steps for l layers that begin
    /// among n slices.
    void feed(std::span<const std::int64_t> slices, std::span<const std::int64_t> start);
    /// All boundaries. Those that the chain did not reach lie at the end of the mode, one slice apart, and push those before
    /// them down where needed, so that every layer has a slice; with fewer slices than layers the first layers have one each
    /// and the others none.
    Boundaries finish();

    /// The state as numbers, and back.
    std::vector<std::int64_t> state() const;
    static LayerChain from_state(const std::vector<std::int64_t>& state);

private:
    LayerChain() = default;
    bool all_placed() const { return std::ssize(boundaries_) == layers_; }
    bool check_at(std::int64_t slice);
    void pass_to(std::int64_t slice);

    std::int64_t length_ = 0, nonzeros_ = 0, layers_ = 1;
    std::int64_t target_ = 0, last_ = 0;          // a layer ends at last_ + target_ nonzeros
    std::int64_t counted_ = 0, slice_count_ = 0;  // nonzeros up to the last slice fed, and of it
    std::int64_t slice_ = -1;                     // the last slice fed
    Boundaries boundaries_;                       // begins of the layers so far
};

}  // namespace arges::partition
