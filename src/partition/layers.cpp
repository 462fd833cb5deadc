// Layers of slices: SPLATT's chains of equal nonzeros, and the policies set, ordered-c and max-min, Algorithm 3 of
// irregularity-aware-cpd-2023 (section 4.2).
#include "partition/layers.hpp"

#include "arges/error.hpp"
#include "base/math.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numeric>

namespace arges::partition {

namespace {

void check_layers(std::int64_t length, std::int64_t layers) {
    if (layers < 1 || length < 0)
        throw InvalidArgument("a mode of " + std::to_string(length) + " slices cannot be cut into " + std::to_string(layers) +
                              " layers; give at least one layer");
}

/// floor(a * b / c) without overflow, for c > 0.
std::int64_t scaled(std::int64_t a, std::int64_t b, std::int64_t c) { return Wide{a} * b / c; }

/// Sizes of ordered-c in slices, not yet scaled to the length of the mode.
std::vector<double> ordered_sizes(const Boundaries& equal, const std::vector<std::int64_t>& counts, double nonzeros, double c) {
    const double layers = counts.size();
    std::vector<double> sizes(counts.size());
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        const double slices = equal[i + 1] - equal[i];
        sizes[i] = counts[i] > 0 ? slices * (1 - (1 - nonzeros / layers / static_cast<double>(counts[i])) / c)
                                 : slices + static_cast<double>(equal.back()) / (layers * c);
    }
    return sizes;
}

/// Scales sizes to the length, rounds their sums, and leaves every layer a slice.
Boundaries rounded(const std::vector<double>& sizes, std::int64_t length) {
    const double total = std::accumulate(sizes.begin(), sizes.end(), 0.0);
    const auto layers = std::ssize(sizes);
    Boundaries boundaries{0};
    double sum = 0;
    for (std::int64_t l = 1; l < layers; ++l) {
        sum += sizes[l - 1];
        const auto at = std::llround(sum / total * static_cast<double>(length));
        boundaries.push_back(std::clamp(static_cast<std::int64_t>(at), boundaries.back() + 1, length - (layers - l)));
    }
    boundaries.push_back(length);
    return boundaries;
}

Boundaries max_min_layers(const Boundaries& equal, const std::vector<std::int64_t>& counts, std::int64_t nonzeros) {
    const auto length = equal.back();
    std::vector<std::int64_t> sizes(counts.size());
    for (std::size_t i = 0; i < sizes.size(); ++i) sizes[i] = equal[i + 1] - equal[i];
    std::vector<std::size_t> descending(counts.size());
    std::iota(descending.begin(), descending.end(), std::size_t{0});
    std::stable_sort(descending.begin(), descending.end(), [&](auto a, auto b) { return counts[a] > counts[b]; });
    for (std::size_t i = 0; i < counts.size() / 2; ++i) {
        const auto fuller = descending[i], emptier = descending[counts.size() - 1 - i];
        const auto moved = std::min(scaled(counts[fuller] - counts[emptier], length, 2 * nonzeros), sizes[fuller] - 1);
        sizes[fuller] -= moved;
        sizes[emptier] += moved;
    }
    Boundaries boundaries{0};
    for (auto size : sizes) boundaries.push_back(boundaries.back() + size);
    return boundaries;
}

}  // namespace

std::int64_t layer_of(const Boundaries& boundaries, std::int64_t slice) {
    return std::upper_bound(boundaries.begin(), boundaries.end(), slice) - boundaries.begin() - 1;
}

std::string to_string(const LayerRule& rule) {
    switch (rule.policy) {
    case LayerPolicy::nonzeros: return "nnz";
    case LayerPolicy::set: return "set";
    case LayerPolicy::max_min: return "max-min";
    case LayerPolicy::ordered: break;
    }
    std::array<char, 32> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), rule.c).ptr;
    return "ordered-" + std::string(digits.data(), end);
}

LayerRule parse_layer_rule(const std::string& text) {
    if (text == "nnz") return {LayerPolicy::nonzeros, 1};
    if (text == "set") return {LayerPolicy::set, 1};
    if (text == "max-min") return {LayerPolicy::max_min, 1};
    const std::string ordered = "ordered-";
    if (text.starts_with(ordered)) {
        LayerRule rule{LayerPolicy::ordered, 0};
        const char* const end = text.data() + text.size();
        const auto [next, error] = std::from_chars(text.data() + ordered.size(), end, rule.c);
        if (error == std::errc() && next == end && std::isfinite(rule.c) && rule.c >= 1) return rule;
    }
    throw InvalidArgument("layer policy '" + text +
                          "' is not known; there are nnz, set, max-min and ordered-c with a number c "
                          "of at least 1, such as ordered-2");
}

const std::vector<LayerRule>& all_policies() {
    static const std::vector<LayerRule> policies{
        {LayerPolicy::nonzeros, 1}, {LayerPolicy::set, 1}, {LayerPolicy::ordered, 1}, {LayerPolicy::ordered, 2}, {LayerPolicy::max_min, 1}};
    return policies;
}

Boundaries equal_layers(std::int64_t length, std::int64_t layers) {
    check_layers(length, layers);
    Boundaries boundaries;
    for (std::int64_t l = 0; l <= layers; ++l) boundaries.push_back(scaled(l, length, layers));
    return boundaries;
}

Boundaries corrected_layers(const LayerRule& rule, std::int64_t length, const std::vector<std::int64_t>& counts) {
    if (rule.policy == LayerPolicy::nonzeros)
        throw InvalidArgument("layers of equal nonzeros follow from the nonzeros of all slices; build them with LayerChain");
    const auto layers = std::ssize(counts);
    auto equal = equal_layers(length, layers);
    const auto nonzeros = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
    if (rule.policy == LayerPolicy::set || nonzeros == 0 || length < layers) return equal;
    if (rule.policy == LayerPolicy::max_min) return max_min_layers(equal, counts, nonzeros);
    return rounded(ordered_sizes(equal, counts, static_cast<double>(nonzeros), rule.c), length);
}

LayerChain::LayerChain(std::int64_t length, std::int64_t nonzeros, std::int64_t layers)
    : length_(length), nonzeros_(nonzeros), layers_(layers), boundaries_{0} {
    check_layers(length, layers);
    target_ = nonzeros / layers;
}

/// May begin a layer at `slice`, the slice after one with slice_count_ nonzeros. Returns whether it does. "Always choosing s but
/// marking lastn with s-1 leads to better balance" (SPLATT, mpi_io.c).
bool LayerChain::check_at(std::int64_t slice) {
    const auto goal = last_ + target_;
    if (counted_ < goal) return false;
    // SPLATT's distances are unsigned: a slice before the last one that is beyond the goal too is never nearer.
    const auto before = counted_ - slice_count_;
    last_ = before <= goal && goal - before < counted_ - goal ? before : counted_;
    boundaries_.push_back(slice);
    if (!all_placed()) target_ = (nonzeros_ - last_) / (layers_ - std::ssize(boundaries_) + 1);
    return true;
}

/// Checks at the slices after the last one fed, up to `slice`. Between two slices fed, nothing
/// changes after one that begins no layer.
void LayerChain::pass_to(std::int64_t slice) {
    for (auto s = slice_ + 1; s <= slice && !all_placed(); ++s) {
        if (s == 0) continue;
        if (!check_at(s)) break;
        slice_count_ = 0;
    }
}

void LayerChain::feed(std::int64_t slice, std::int64_t count) {
    if (slice <= slice_ || slice >= length_)
        throw InvalidArgument("slice " + std::to_string(slice) + " cannot follow slice " + std::to_string(slice_) + " in a mode " + "of " +
                              std::to_string(length_) + " slices; feed a layer chain in ascending order");
    pass_to(slice);
    counted_ += count;
    slice_count_ = count;
    slice_ = slice;
}

void LayerChain::feed(std::span<const std::int64_t> slices, std::span<const std::int64_t> start) {
    std::size_t i = 0;
    // Slices before the one with which the goal is reached begin no layer: only the last of them matters.
    while (i < slices.size() && !all_placed()) {
        const auto missing = last_ + target_ - counted_;
        const auto next = start.begin() + i + 1;
        const auto reached =
            missing <= 0 ? i : static_cast<std::size_t>(std::lower_bound(next, start.end(), start[i] + missing) - start.begin()) - 1;
        if (const auto last = std::min(reached, slices.size()); last > i) {
            counted_ += start[last] - start[i];
            slice_count_ = start[last] - start[last - 1];
            slice_ = slices[last - 1];
            i = last;
            continue;
        }
        feed(slices[i], start[i + 1] - start[i]);
        ++i;
    }
}

Boundaries LayerChain::finish() {
    pass_to(length_ - 1);
    for (auto l = std::ssize(boundaries_); l <= layers_; ++l) boundaries_.push_back(length_);
    for (std::int64_t l = 1; l < layers_; ++l) {
        auto& boundary = boundaries_[l];
        boundary = std::min({boundary, std::max(length_ - (layers_ - l), l), length_});
    }
    return boundaries_;
}

std::vector<std::int64_t> LayerChain::state() const {
    std::vector<std::int64_t> numbers{length_, nonzeros_, layers_, target_, last_, counted_, slice_count_, slice_};
    numbers.insert(numbers.end(), boundaries_.begin(), boundaries_.end());
    return numbers;
}

LayerChain LayerChain::from_state(const std::vector<std::int64_t>& state) {
    LayerChain chain;
    const auto members = {&chain.length_, &chain.nonzeros_, &chain.layers_,      &chain.target_,
                          &chain.last_,   &chain.counted_,  &chain.slice_count_, &chain.slice_};
    if (state.size() <= members.size()) throw InvalidArgument("the state of a layer chain is cut off; pass on what state() gave");
    auto number = state.begin();
    for (auto* member : members) *member = *number++;
    chain.boundaries_.assign(number, state.end());
    return chain;
}

}  // namespace arges::partition
