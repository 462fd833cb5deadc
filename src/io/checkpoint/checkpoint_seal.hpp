/// The end of a checkpoint, behind what HDF5 reads: says where the elements are, and has a checksum of everything else. It is
/// verified before HDF5 sees the file, because HDF5 does not always survive damaged structures.
#pragma once

#include "io/file/parallel_file.hpp"

#include <cstdint>
#include <vector>

namespace arges::io {

/// Elements of a tensor in the file; they have a checksum of their own.
struct ElementRange {
    std::int64_t begin = 0, bytes = 0;
};

/// The bytes to append to the file: 8-byte integers, namely begin and bytes of each range, the CRC-32 of all bytes outside of
/// them, the length of the file, the CRC-32 of all these, their number, and a mark. Local.
/// @throws InvalidArgument if the file cannot be read
std::vector<std::int64_t> checkpoint_seal(const InputFile& file, std::vector<ElementRange> elements);

/// True if the file ends in the mark of a seal. Local.
bool has_seal(const InputFile& file);

/// Verifies the seal. Local. @throws InvalidArgument if the file has none, or differs from what was sealed
void verify_seal(const InputFile& file);

}  // namespace arges::io
