/// Small arrays of a core, the last mode fastest as in the columns of TTMc, and products of rows with them.
#pragma once

#include "arges/tensor.hpp"
#include "comm/communicator.hpp"
#include "sparse/row_matrix.hpp"

#include <cstdint>
#include <vector>

namespace arges::decompose {

/// Of an element in an array of these lengths.
std::size_t place_in_core(const std::vector<int>& index, const std::vector<int>& lengths);

/// The array as a matrix with a row for each index of a mode, columns by the others, transposed: column by column.
/// @param by_columns  else row by row
template <class T>
std::vector<T> core_unfolding(const std::vector<double>& core, const std::vector<int>& lengths, int mode, bool by_columns);

/// The array times a matrix in a mode: its index a becomes b by matrix[a + b * length].
std::vector<double> times_in_mode(const std::vector<double>& core, const std::vector<int>& lengths, int mode,
                                  const std::vector<double>& matrix);

/// By pair of slices of a mode, the first index fastest: the inner product of one of the first array with one of the second.
std::vector<double> slice_products(const std::vector<double>& a, const std::vector<double>& b, const std::vector<int>& lengths, int mode);

/// The core as a tensor, spread over the ranks. Collective.
template <class T>
Tensor<T> core_tensor(const World& world, const std::vector<double>& core, const std::vector<int>& lengths);
/// The array of a tensor. Collective.
template <class T>
std::vector<double> core_array(const Tensor<T>& core);

/// result = scale * result + rows * transform (rows.columns x columns, column by column).
template <class T>
void multiply_rows(sparse::RowMatrix<const T> rows, const std::vector<T>& transform, sparse::RowMatrix<T> result, T scale = 0);

/// A^T B of two matrices with the same rows, over all ranks, column by column. Collective.
template <class T>
std::vector<double> inner_products(const Communicator& comm, sparse::RowMatrix<const T> a, sparse::RowMatrix<const T> b);

}  // namespace arges::decompose
