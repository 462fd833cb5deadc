/// The header of .npy files (NumPy Enhancement Proposal 1: magic, version, length, a Python dictionary).
#pragma once

#include "io/file/number_type.hpp"
#include "io/file/parallel_file.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace arges::io {

/// What a .npy file holds.
struct NpyArray {
    NumberType type;
    bool is_fortran_order = false;      ///< the first index varies fastest; else the last
    std::vector<std::int64_t> extents;  ///< of the axes
    std::int64_t data = 0;              ///< where the elements begin
};

/// The bytes of a header of version 1 (or 2, for a very long one), a multiple of 64; `array.data` does not count.
std::string npy_array_header(const NpyArray& array);

/// True if a file begins like .npy. Local.
bool is_npy(const InputFile& file);

/// Reads a header (of version 1, 2 or 3) and checks it against the size of the file. Local.
/// @throws InvalidArgument if the file is damaged, or its elements are not numbers of a type that can be read
NpyArray read_npy_array_header(const InputFile& file);

}  // namespace arges::io
