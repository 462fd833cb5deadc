/// Binary forms of sparse tensors: our own (.atns), and SPLATT's .bin, which is only read. See docs/sparse_files.md.
///
/// In our own form all numbers are little-endian:
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

#include "arges/sparse_io.hpp"
#include "io/file/parallel_file.hpp"
#include "io/sparse/text_reader.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
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

/// True if a file that begins with these bytes is in our binary form.
bool is_own_binary(std::span<const std::byte> beginning);
/// True if a file that begins with these bytes is in SPLATT's coordinate form.
bool is_splatt_binary(std::span<const std::byte> beginning);

/// What the header of a binary file says: no lengths where it says nothing.
struct BinaryShape {
    std::vector<std::int64_t> lengths{};
    std::int64_t count = 0;
    std::int64_t value_bytes = 0;
};
/// Of our form. Local. @throws InvalidArgument if the header is wrong
BinaryShape own_binary_shape(const InputFile& file);
/// Of SPLATT's form. Local. @throws InvalidArgument if the header is wrong
BinaryShape splatt_shape(const InputFile& file);

/// Reads our form as float or double. Collective. @throws InvalidArgument or OutOfMemory on every rank
ReadNonzeros read_own_binary(const InputFile& file, ElementType type, std::int64_t room);
/// Reads SPLATT's form likewise. Collective. @throws InvalidArgument or OutOfMemory on every rank
ReadNonzeros read_splatt_binary(const InputFile& file, ElementType type, std::int64_t room);

/// Writes our form of float or double. Collective. @throws InvalidArgument on every rank
void write_own_binary(const Communicator& comm, const sparse::NonzeroIndices& nonzeros, const SparseValues& values,
                      const std::string& path);

}  // namespace arges::io
