/// Hashes of slices and nonzeros, by which samples are picked wherever the nonzeros lie.
#pragma once

#include "base/splitmix.hpp"
#include "partition/value_counts.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

namespace arges::partition {

inline std::uint64_t hash_of(std::int64_t slice) { return splitmix(static_cast<std::uint64_t>(slice) + 1); }

/// Adds the hash of an index to that of the nonzero's indices in the modes before.
inline std::uint64_t combined(std::uint64_t hash, std::uint64_t index_hash) { return std::rotl(hash, 23) ^ index_hash; }

/// The hash of a nonzero.
inline std::uint64_t hash_of(std::span<const std::int64_t> indices) {
    std::uint64_t hash = 0;
    for (auto index : indices) hash = combined(hash, hash_of(index));
    return splitmix(hash);
}

/// The same for all nonzeros, and the hashes of their indices by mode, in blocks that stay in the cache: calls f(begin, hashes, by_mode)
/// with those from nonzero `begin` on.
template <class F>
void for_each_hashed_block(const IndexView& view, F f) {
    constexpr std::size_t block = 1024;
    std::vector<std::vector<std::uint64_t>> by_mode(view.indices.size());
    std::vector<std::uint64_t> hashes;
    const std::size_t count = view.count();
    for (std::size_t begin = 0; begin < count; begin += block) {
        const auto size = std::min(block, count - begin);
        hashes.assign(size, 0);
        for (std::size_t m = 0; m < by_mode.size(); ++m) {
            by_mode[m].resize(size);
            for (std::size_t i = 0; i < size; ++i) {
                by_mode[m][i] = hash_of(view.indices[m][begin + i]);
                hashes[i] = combined(hashes[i], by_mode[m][i]);
            }
        }
        for (auto& hash : hashes) hash = splitmix(hash);
        f(begin, hashes, by_mode);
    }
}

/// Whether a hash belongs to a sample of some fraction of all.
inline bool is_sampled(std::uint64_t hash, double fraction) { return unit_interval(hash) < fraction; }

/// The positions of those that do, found without branches, which hashes make unpredictable. @param positions  where they are put
inline std::span<const std::uint32_t> sampled_positions(std::span<const std::uint64_t> hashes, double fraction,
                                                        std::vector<std::uint32_t>& positions) {
    positions.resize(hashes.size());
    std::size_t count = 0;
    for (std::size_t i = 0; i < hashes.size(); ++i) {
        positions[count] = i;
        count += is_sampled(hashes[i], fraction) ? 1 : 0;
    }
    return {positions.data(), count};
}

}  // namespace arges::partition
