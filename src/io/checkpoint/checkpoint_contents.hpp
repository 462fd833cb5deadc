/// What is in a checkpoint beside the elements: shapes, places and checksums of tensors, and values.
#pragma once

#include "arges/checkpoint.hpp"
#include "io/file/parallel_file.hpp"

#include <cstddef>
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

    /// All of it in bytes, to be sent.
    std::vector<std::byte> bytes() const;
    static CheckpointContents from_bytes(const std::vector<std::byte>& bytes);
};

/// Reads and checks the contents by one rank. Local. @throws InvalidArgument if the file is no checkpoint, or damaged
CheckpointContents read_contents(const InputFile& file);

}  // namespace arges::io
