/// Checksums of bytes that several ranks have.
#pragma once

#include "io/file/parallel_file.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace arges::io {

/// CRC-32 as in gzip (RFC 1952) of bytes that come in pieces.
class RunningChecksum {
public:
    void add(const void* data, std::size_t bytes);
    /// Of the bytes [begin, end) of a file. Local. @throws InvalidArgument if it cannot be read
    void add(const InputFile& file, std::int64_t begin, std::int64_t end);
    std::uint32_t value() const { return value_; }
    /// Of the bytes of all ranks, one rank's behind the other's. Collective.
    std::uint32_t of_all(const Communicator& comm) const;

private:
    std::uint32_t value_ = 0;
    std::int64_t bytes_ = 0;
};

/// CRC-32 (as in gzip) of some bytes. Local.
std::uint32_t checksum_of(std::span<const char> bytes);

/// CRC-32 (as in gzip) of a whole file; each rank reads a part. Collective. @throws InvalidArgument on every rank if the file
/// cannot be read
std::uint32_t file_checksum(const InputFile& file);

}  // namespace arges::io
