/// Labels with a bar: which dimensions of a tensor are rows of a matrix, and which are columns.
#pragma once

#include "arges/linalg.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace arges::linalg {

/// One side of a matricization.
struct MatrixSide {
    std::vector<int> dimensions;        ///< of the tensor, the fastest first
    std::vector<std::string> labels;    ///< their labels
    std::vector<std::int64_t> extents;  ///< and extents
    std::int64_t size = 1;              ///< product of the extents
};

/// A tensor as a matrix.
struct Matricization {
    MatrixSide rows, columns;
    std::string text;  ///< such as T["ab|ij"], for messages

    /// The adjoint or transposed matrix.
    Matricization flipped() const { return {columns, rows, text}; }
};

/// Reads labels such as ab|ij or abij->bi|aj.
/// @param extents of the tensor
/// @param name    of the tensor
/// @throws InvalidArgument for anything else, and where labels do not fit the tensor
Matricization parse_matricization(const Labels& labels, const std::vector<std::int64_t>& extents, const std::string& name);

/// The side with its dimensions in the order of the labels of `like`.
/// @throws InvalidArgument unless both have the same labels with the same extents; `text` and `like_text` are the two matrices
MatrixSide matched(const MatrixSide& side, const MatrixSide& like, const std::string& text, const std::string& like_text);

/// Throws InvalidArgument unless there are as many rows as columns.
void check_square(const Matricization& matrix, const std::string& what);

/// Extents, or labels, of one side, then of another.
template <class T>
std::vector<T> joined(std::vector<T> first, const std::vector<T>& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
}

}  // namespace arges::linalg
