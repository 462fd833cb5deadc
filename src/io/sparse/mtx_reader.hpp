/// Reading sparse matrices from MatrixMarket files, plain or compressed.
#pragma once

#include "interface/sparse/sparse_values.hpp"
#include "io/sparse/text_reader.hpp"

#include <cstdint>

namespace arges::io {

/// What the header of a MatrixMarket file says.
struct MatrixHeader {
    enum class Field { real, integer, pattern, complex };
    Field field = Field::real;
    MatrixSymmetry symmetry = MatrixSymmetry::general;
    std::int64_t rows = 0, columns = 0;
    std::int64_t entries = 0;  ///< lines with one
    TextHeader text{};         ///< with the line of the sizes
    /// Elements that a line stands for, at most.
    std::int64_t per_line() const { return symmetry == MatrixSymmetry::general ? 1 : 2; }
};

/// True if a text is to be read as a MatrixMarket file, or refused as one: by its name (.mtx, .mtx.gz) or by its first line that is no
/// comment or blank, `%%MatrixMarket ...`, be it with a byte-order mark, blanks or another number of signs before the word. Local.
bool is_matrix_market(const InputFile& file, bool compressed);

/// The header. Local. @throws InvalidArgument with the line if it is wrong
MatrixHeader matrix_header(const InputFile& file, bool compressed);

/// Reads a matrix, without the elements that its symmetry implies; collective. `room` is the number of bytes that nonzeros may take on a
/// rank, with those elements. @throws InvalidArgument or OutOfMemory on every rank
ReadNonzeros read_matrix_market(const InputFile& file, const ElementText& text, const SparseReadOptions& options, bool compressed,
                                std::int64_t room);

/// Puts behind each element that is not on the diagonal the one that the symmetry implies. Local.
void expand(AnyNonzeros& nonzeros, MatrixSymmetry symmetry, const ElementText& text);

}  // namespace arges::io
