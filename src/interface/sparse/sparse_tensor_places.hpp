/// Finding equal items among many, by their hashes.
#pragma once

#include "base/math.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace arges {

/// Finds the first of equal items, by open addressing. A slot holds a place and some bits of the hash, so that items are hardly
/// ever compared in vain.
class FirstPlaces {
public:
    explicit FirstPlaces(std::size_t items) : slots_(slots_for(items), none) {}

    /// Memory for so many items.
    static std::int64_t bytes(std::size_t items) { return slots_for(items) * sizeof(std::uint64_t); }

    /// Begins to load what find() will need.
    void prefetch(std::uint64_t hash) const { __builtin_prefetch(&slots_[first_slot(hash)], 1); }

    /// The place of the equal item that is known, or `place` itself, which is known from now on.
    template <class Equal>
    std::size_t find(std::uint64_t hash, std::size_t place, Equal&& equal) {
        const auto print = (hash >> 35) << place_bits;
        for (auto s = first_slot(hash);; s = s + 1 == slots_.size() ? 0 : s + 1) {
            if (slots_[s] == none) {
                slots_[s] = print | place;
                return place;
            }
            const std::size_t other = slots_[s] & place_mask;
            if ((slots_[s] & ~place_mask) == print && equal(other)) return other;
        }
    }

    /// The place of the equal item that is known, if there is one.
    template <class Equal>
    std::optional<std::size_t> known(std::uint64_t hash, Equal&& equal) const {
        const auto print = (hash >> 35) << place_bits;
        for (auto s = first_slot(hash); slots_[s] != none; s = s + 1 == slots_.size() ? 0 : s + 1) {
            const std::size_t other = slots_[s] & place_mask;
            if ((slots_[s] & ~place_mask) == print && equal(other)) return other;
        }
        return std::nullopt;
    }

private:
    static std::size_t slots_for(std::size_t items) { return items + items / 2 + 16; }

    static constexpr int place_bits = 40;
    static constexpr std::uint64_t place_mask = (std::uint64_t{1} << place_bits) - 1;
    static constexpr std::uint64_t none = ~std::uint64_t{0};

    /// By the low half of the hash: the high one is similar for all nonzeros of a home rank.
    std::size_t first_slot(std::uint64_t hash) const { return (static_cast<UnsignedWide>(std::rotl(hash, 32)) * slots_.size()) >> 64; }

    std::vector<std::uint64_t> slots_;
};

/// Calls visit(item, hash(item)) in order until it returns false; in batches, so that the table is loaded ahead.
template <class Hash, class Visit>
void visit_in_batches(std::size_t count, FirstPlaces& table, Hash&& hash, Visit&& visit) {
    constexpr std::size_t batch = 32;
    std::array<std::uint64_t, batch> hashes;
    for (std::size_t begin = 0; begin < count; begin += batch) {
        const auto end = std::min(begin + batch, count);
        for (auto i = begin; i < end; ++i) table.prefetch(hashes[i - begin] = hash(i));
        for (auto i = begin; i < end; ++i)
            if (!visit(i, hashes[i - begin])) return;
    }
}

}  // namespace arges
