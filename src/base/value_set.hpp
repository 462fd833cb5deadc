/// Sets of numbers that lie near each other, as bits.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace arges {

/// Which values of a range there are: a bit for each, and how many there are before each word.
class ValueSet {
public:
    ValueSet(std::span<const std::int64_t> values, std::int64_t begin, std::int64_t range)
        : begin_(begin), bits_(words(range), 0), before_(bits_.size()) {
        for (auto value : values) bits_[word(value)] |= std::uint64_t{1} << place(value);
        for (std::size_t w = 0; w < bits_.size(); ++w) {
            before_[w] = count_;
            count_ += std::popcount(bits_[w]);
        }
    }
    std::int64_t count() const { return count_; }
    /// Any value, also one beside the range.
    bool contains(std::int64_t value) const {
        const auto offset = static_cast<std::uint64_t>(value) - static_cast<std::uint64_t>(begin_);
        return offset >> 6U < bits_.size() && (bits_[offset >> 6U] >> (offset & 63U) & 1U) != 0;
    }
    /// How many smaller values there are. @param value in the range
    std::size_t rank(std::int64_t value) const {
        const auto below = bits_[word(value)] & ((std::uint64_t{1} << place(value)) - 1);
        return before_[word(value)] + std::popcount(below);
    }
    std::vector<std::int64_t> values() const {
        std::vector<std::int64_t> result;
        result.reserve(count_);
        for (std::size_t w = 0; w < bits_.size(); ++w)
            for (auto bits = bits_[w]; bits != 0; bits &= bits - 1)
                result.push_back(begin_ + static_cast<std::int64_t>(w) * 64 + std::countr_zero(bits));
        return result;
    }
    static std::size_t words(std::int64_t range) { return (range + 63) / 64; }

private:
    std::size_t word(std::int64_t value) const { return (value - begin_) >> 6; }
    int place(std::int64_t value) const { return (value - begin_) & 63; }

    std::int64_t begin_, count_ = 0;
    std::vector<std::uint64_t> bits_;
    std::vector<std::int64_t> before_;
};

/// Sets of bits are used for ranges that are at most so many times as long as the values: they take no more memory than a copy of the
/// values or two, and are a few times faster than a hash table and sorting.
inline constexpr std::int64_t dense_range = 64;

inline bool is_dense(std::int64_t values, std::int64_t range) { return range / dense_range <= values; }

/// Smallest and range of values, of which there are some.
inline std::pair<std::int64_t, std::int64_t> range_of(std::span<const std::int64_t> values) {
    const auto [least, largest] = std::minmax_element(values.begin(), values.end());
    return {*least, *largest - *least + 1};
}

}  // namespace arges
