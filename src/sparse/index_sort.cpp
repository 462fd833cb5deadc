// Threaded radix sort of multi-word keys, least significant digit first (Knuth, The Art of Computer Programming 3, section 5.2.5).
#include "sparse/index_sort.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <omp.h>
#include <utility>

namespace arges::sparse {

namespace {

constexpr int digit_bits = 11;
constexpr std::size_t digits = std::size_t{1} << digit_bits;

/// Keys and the positions that they belong to; sorted together.
struct Keyed {
    std::vector<std::uint64_t> keys;
    std::vector<std::int64_t> positions;

    explicit Keyed(std::int64_t count) : keys(count), positions(count) {}
};

/// One stable pass by the digit at `shift`, from `in` to `out`.
void sort_by_digit(const Keyed& in, Keyed& out, int shift) {
    const auto count = in.keys.size();
    const std::size_t parts = omp_get_max_threads();
    std::vector<std::array<std::size_t, digits>> starts(parts);
    const auto digit = [&](std::size_t x) { return static_cast<std::size_t>(in.keys[x] >> shift) & (digits - 1); };
    const int number = parts;
#pragma omp parallel for schedule(static, 1) num_threads(number)
    for (std::size_t p = 0; p < parts; ++p) {
        starts[p].fill(0);
        for (auto x = count * p / parts; x < count * (p + 1) / parts; ++x) ++starts[p][digit(x)];
    }
    std::size_t total = 0;
    for (std::size_t d = 0; d < digits; ++d)
        for (auto& start : starts) total += std::exchange(start[d], total);
#pragma omp parallel for schedule(static, 1) num_threads(number)
    for (std::size_t p = 0; p < parts; ++p)
        for (auto x = count * p / parts; x < count * (p + 1) / parts; ++x) {
            const auto to = starts[p][digit(x)]++;
            out.keys[to] = in.keys[x];
            out.positions[to] = in.positions[x];
        }
}

/// Where clearing the counters of the digits would take longer than the sort.
void sort_few(Keyed& keyed) {
    std::vector<std::pair<std::uint64_t, std::int64_t>> pairs;
    for (std::size_t x = 0; x < keyed.keys.size(); ++x) pairs.emplace_back(keyed.keys[x], keyed.positions[x]);
    std::stable_sort(pairs.begin(), pairs.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (std::size_t x = 0; x < pairs.size(); ++x) keyed.positions[x] = pairs[x].second;
}

}  // namespace

int index_bits(std::int64_t length) { return length <= 1 ? 0 : static_cast<int>(std::bit_width(static_cast<std::uint64_t>(length - 1))); }

std::vector<std::int64_t> sorted_positions(std::int64_t count, std::span<const KeyWord> words, std::span<const int> bits) {
    Keyed now(count), next(count);
    std::iota(now.positions.begin(), now.positions.end(), std::int64_t{0});
    for (auto w = words.size(); w-- > 0;) {
        if (bits[w] == 0) continue;
        words[w](now.positions, now.keys);
        if (count < static_cast<std::int64_t>(2 * digits)) {
            sort_few(now);
            continue;
        }
        for (int shift = 0; shift < bits[w]; shift += digit_bits) {
            sort_by_digit(now, next, shift);
            std::swap(now, next);
        }
    }
    return std::move(now.positions);
}

MemoryTally sorting_memory(std::int64_t count) {
    constexpr std::int64_t pair = sizeof(std::uint64_t) + sizeof(std::int64_t);
    MemoryTally tally;
    tally.hold(2 * pair * count);
    if (count < static_cast<std::int64_t>(2 * digits)) tally.pass(3 * pair * count);  // pairs, which grow, and what their sort takes
    tally.hold((std::int64_t{sizeof(std::int64_t)} - 2 * pair) * count);
    return tally;
}

template <class Index>
std::vector<std::int64_t> lexicographic_positions(std::int64_t count, std::span<const std::span<const Index>> columns,
                                                  std::span<const std::int64_t> lengths) {
    std::vector<KeyWord> words;
    std::vector<int> bits;
    for (std::size_t first = 0; first < columns.size();) {
        auto last = first;
        int width = 0;
        while (last < columns.size() && (last == first || width + index_bits(lengths[last]) <= 64)) width += index_bits(lengths[last++]);
        words.emplace_back([columns, lengths, first, last](std::span<const std::int64_t> order, std::span<std::uint64_t> keys) {
            const auto n = std::ssize(order);
            std::fill(keys.begin(), keys.end(), 0);
            for (auto c = first; c < last; ++c) {
                const int shift = index_bits(lengths[c]);
                const auto* const index = columns[c].data();
#pragma omp parallel for schedule(static)
                for (std::int64_t i = 0; i < n; ++i) {
                    const std::size_t x = i;
                    keys[x] = keys[x] << shift | static_cast<std::uint64_t>(index[order[x]]);
                }
            }
        });
        bits.push_back(width);
        first = last;
    }
    return sorted_positions(count, words, bits);
}

template std::vector<std::int64_t> lexicographic_positions(std::int64_t, std::span<const std::span<const std::uint32_t>>,
                                                           std::span<const std::int64_t>);
template std::vector<std::int64_t> lexicographic_positions(std::int64_t, std::span<const std::span<const std::int64_t>>,
                                                           std::span<const std::int64_t>);

}  // namespace arges::sparse
