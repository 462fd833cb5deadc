/// Matrices among the arrays of .npy files.
#pragma once

#include "io/file/number_type.hpp"
#include "io/model/matrix_files.hpp"

#include <string>

namespace arges::io {

struct NpyHeader {
    MatrixShape shape{};
    NumberType type{};              ///< of real numbers
    bool is_fortran_order = false;  ///< column after column; else row after row
    std::int64_t data = 0;          ///< where the elements begin
};

/// The bytes of a header, a multiple of 64.
std::string npy_header(MatrixShape shape, NumberType type);

/// Reads a header and checks it against the size of the file. Local.
/// @throws InvalidArgument if the file is damaged, or is another kind of array than a matrix of real numbers
NpyHeader read_npy_header(const InputFile& file);

}  // namespace arges::io
