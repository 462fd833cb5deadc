/// Order, duplicates and element-wise work on sparse tensors, and their norms and inner products. Sums are in double, and do not depend on
/// the number of threads.
#pragma once

#include "sparse/nonzeros.hpp"
#include "sparse/row_matrix.hpp"

#include <functional>
#include <span>

namespace arges::sparse {

/// What becomes of nonzeros with the same coordinate.
enum class Duplicates {
    sum,        ///< their values are added, in the order in which they stand
    refuse,     ///< InvalidArgument that names the coordinate
    keep_first  ///< the one that stands first is kept
};

/// Sorts by the index in modes[0], then in modes[1], and so on; equal ones keep their order. @throws InvalidArgument for a wrong
/// mode
template <class T>
void sort_nonzeros(Nonzeros<T>& nonzeros, std::span<const int> modes);

/// Sorts by all modes, mode 0 first, and leaves each coordinate once. Returns how many nonzeros are gone. Values that become zero
/// are kept.
template <class T>
std::int64_t merge_duplicates(Nonzeros<T>& nonzeros, Duplicates duplicates);

/// value = f(value, coordinate) for each nonzero, in any order and on several threads.
template <class T>
void apply(Nonzeros<T>& nonzeros, const std::function<T(T, std::span<const std::int64_t>)>& f);

/// alpha a + beta b, sorted by all modes: a nonzero wherever a or b has one. Both have distinct coordinates and the same lengths.
/// @throws InvalidArgument for different lengths
template <class T>
Nonzeros<T> sum(T alpha, const Nonzeros<T>& a, T beta, const Nonzeros<T>& b);

/// a times b element by element, sorted by all modes: a nonzero wherever both have one. Both have distinct coordinates and the
/// same lengths.
/// @throws InvalidArgument for different lengths
template <class T>
Nonzeros<T> product(const Nonzeros<T>& a, const Nonzeros<T>& b);

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
