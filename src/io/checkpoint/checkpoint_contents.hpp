/// What is in a checkpoint: beside the elements shapes, places and checksums of tensors, and values; and the seal at its end.
#pragma once

#include "arges/checkpoint.hpp"
#include "base/packed.hpp"
#include "io/dense/tensor_files.hpp"
#include "io/file/parallel_file.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace arges::io {

/// A tensor of a checkpoint.
struct StoredTensor {
    CheckpointTensor shape;
    std::uint32_t checksum = 0;  ///< of its packed elements
    std::int64_t offset = 0;     ///< of its first element in the file

    void parts(Packed& packed) {
        auto symmetry = symmetry_text(shape.symmetry);
        packed(shape.name, shape.element, shape.extents, symmetry, shape.packed_size, checksum, offset);
        if (packed.is_read()) shape.symmetry = symmetry_of_text(symmetry, shape.extents.size());
    }
};

/// The contents of a checkpoint.
///
/// In HDF5: the attributes `format` and `version` of the root; a group `tensors` with a dataset of packed elements for each
/// tensor, with attributes `extents`, `symmetry` and `checksum`; a group `values` with a dataset for each value. Behind that, a
/// seal.
struct CheckpointContents {
    static constexpr char format[] = "arges checkpoint";
    static constexpr std::int64_t version = 1;

    std::map<std::string, StoredTensor> tensors;
    std::map<std::string, CheckpointValue> values;

    void parts(Packed& packed) { packed(tensors, values); }
};

/// Reads and checks the contents by one rank. Local. @throws InvalidArgument if the file is no checkpoint, or damaged
CheckpointContents read_contents(const InputFile& file);

/// Elements of a tensor in the file; they have a checksum of their own.
struct ElementRange {
    std::int64_t begin = 0, bytes = 0;
};

/// The seal is the end of a checkpoint, behind what HDF5 reads: says where the elements are, and has a checksum of everything else. It is
/// verified before HDF5 sees the file, because HDF5 does not always survive damaged structures.
///
/// The bytes to append to the file: 8-byte integers, namely begin and bytes of each range, the CRC-32 of all bytes outside of
/// them, the length of the file, the CRC-32 of all these, their number, and a mark. Local.
/// @throws InvalidArgument if the file cannot be read
std::vector<std::int64_t> checkpoint_seal(const InputFile& file, std::vector<ElementRange> elements);

/// True if the file ends in the mark of a seal. Local.
bool has_seal(const InputFile& file);

/// Verifies the seal. Local. @throws InvalidArgument if the file has none, or differs from what was sealed
void verify_seal(const InputFile& file);

}  // namespace arges::io
