/// Norms and inner products of sparse tensors. Sums are in double, and do not depend on the number of threads.
#pragma once

#include "sparse/nonzeros.hpp"
#include "sparse/row_matrix.hpp"

#include <span>

namespace arges::sparse {

/// Square root of the sum of the squares of the values; coordinates must be distinct.
template <class T>
double norm(std::span<const T> values);

/// Sum over the common coordinates of the product of the values. Both have distinct coordinates. @throws InvalidArgument for
/// different lengths
template <class T>
double inner_product(const Nonzeros<T>& a, const Nonzeros<T>& b);

/// Sum over the nonzeros x of value(x) times the element of a Kruskal tensor, sum over r of weights[r] * product over the modes m
/// of factors[m](x_m, r). @throws InvalidArgument if the factors do not fit
template <class T>
double inner_product(const LocalNonzeros<T>& nonzeros, std::span<const T> weights, std::span<const RowMatrix<const T>> factors);

}  // namespace arges::sparse
