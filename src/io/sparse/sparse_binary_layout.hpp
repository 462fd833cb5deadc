/// Where things are in our binary form of sparse tensors. All numbers are little-endian.
///
/// offset  bytes
/// 0       8       "ARGESTNS"
/// 8       4       version, 1
/// 12      4       order N
/// 16      4       bytes of an index, 4 or 8
/// 20      4       bytes of a value, 4 or 8 (IEEE 754)
/// 24      8       number of nonzeros
/// 32      8       number of blocks B
/// 40      8 N     lengths
/// 40+8N   8 B     nonzeros of each block
///         4       CRC-32 of all before
/// then for each block of n nonzeros: n indices of each mode, mode after mode, counted from 0; n values; CRC-32 (4 bytes) of both
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace arges::io {

static_assert(std::endian::native == std::endian::little, "binary files are little-endian");

struct BinaryHeader {
    static constexpr char magic[9] = "ARGESTNS";
    static constexpr std::uint32_t version = 1;
    static constexpr std::int64_t fixed_bytes = 40;
    static constexpr std::int64_t block_nonzeros = 1 << 15;  ///< at most

    std::uint32_t order = 0, index_bytes = 8, value_bytes = 8;
    std::int64_t count = 0, blocks = 0;
    std::vector<std::int64_t> lengths{};

    /// Bytes of the header with the table of blocks and the checksum.
    std::int64_t bytes() const { return fixed_bytes + 8 * static_cast<std::int64_t>(order) + 8 * blocks + 4; }
    std::int64_t nonzero_bytes() const { return static_cast<std::int64_t>(order) * index_bytes + value_bytes; }
    /// Bytes of a block with its checksum.
    std::int64_t block_bytes(std::int64_t nonzeros) const { return nonzeros * nonzero_bytes() + 4; }
    /// Bytes of the file.
    std::int64_t file_bytes() const { return bytes() + count * nonzero_bytes() + 4 * blocks; }
};

}  // namespace arges::io
