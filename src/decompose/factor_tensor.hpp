/// Rows of factor matrices, which ranks have, as tensors.
#pragma once

#include "arges/tensor.hpp"
#include "comm/communicator.hpp"
#include "sparse/row_matrix.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace arges::decompose {

/// A range of indices of each mode.
struct IndexRanges {
    std::vector<std::int64_t> begin, end;
};

/// Ranges of a tensor of these lengths; empty ones stand for all indices.
/// @throws InvalidArgument unless they are one for each mode, within the lengths
IndexRanges checked_ranges(const std::string& title, const std::vector<std::int64_t>& lengths, IndexRanges ranges);

/// The place of a mode in lists by mode. @throws InvalidArgument unless 0 <= mode < order
std::size_t checked_mode(const std::string& title, int mode, int order);

/// Rows of factors on this rank. Local.
/// @param columns by mode
/// @throws InvalidArgument unless there are rows and values for each mode, rows ascend within the lengths, and values are as many
template <class T>
void check_rows(const std::string& title, const std::vector<std::int64_t>& lengths, const std::vector<std::int64_t>& columns,
                const std::vector<std::vector<std::int64_t>>& rows, const std::vector<std::vector<T>>& factors);

/// A whole factor on every rank, row by row; rows that nobody has are zero. Collective.
template <class T>
std::vector<T> gathered_rows(const Communicator& comm, const std::vector<std::int64_t>& rows, const std::vector<T>& values,
                             std::int64_t length, std::int64_t columns);

/// Rows begin <= i < end of a matrix as a tensor of (end - begin) x columns; rows that nobody has are zero. Collective.
/// @param rows   numbers of the rows that this rank has
/// @param values rows.size() x columns, row after row
template <class T>
Tensor<T> factor_tensor(const World& world, std::span<const std::int64_t> rows, std::span<const T> values, std::int64_t columns,
                        std::int64_t begin, std::int64_t end);

/// Rows of a matrix that ranks have, taken to where others want them; rows that nobody has become zero. Collective.
/// @param rows   numbers of the rows that this rank has
/// @param values these rows, one after the other
/// @param wanted numbers of the rows of `matrix`
template <class T>
void take_rows(const Communicator& comm, const std::vector<std::int64_t>& rows, const std::vector<T>& values,
               std::span<const std::int64_t> wanted, sparse::RowMatrix<T> matrix);

/// Labels of so many dimensions, which no other label of a statement has: {"x1", "x2"} for letter x.
std::vector<std::string> numbered_labels(char letter, int count);

}  // namespace arges::decompose
