/// ADMM for one factor: argmin over H of tr(H G H^T) / 2 - tr(M^T H) + penalty of H, with constraints that H meets.
#pragma once

#include "comm/communicator.hpp"
#include "decompose/cp/constraints.hpp"
#include "decompose/cp/gram_solver.hpp"
#include "decompose/cp/whole_columns.hpp"

#include <functional>
#include <vector>

namespace arges::decompose {

/// rho, a tenth of the mean of a diagonal with this trace. Pure.
/// @throws InvalidArgument unless it is finite
double admm_rho(double trace, int columns);

/// rho and (G + rho I)^-1, row by row: one for all rows of a factor, or one for each.
template <class T>
struct AdmmMatrix {
    double rho = 1;
    std::vector<T> inverse{};
    std::size_t stride = 0;  ///< from the inverse of a row to that of the next; 0: all rows have the same

    /// The same G for all rows, and rho of its trace. @throws InvalidArgument if G has an element that is not finite
    AdmmMatrix(Gram gram, int columns);
    /// One for each row, each of which is still to be set.
    AdmmMatrix(double common_rho, std::int64_t rows, int columns);
    void set(std::int64_t row, Gram gram, int columns);

    const T* of_row(std::int64_t row) const { return inverse.data() + static_cast<std::size_t>(row) * stride; }
};

/// The owned rows of one mode: the factor, its scaled dual variables, which the next call starts from, and the MTTKRP.
template <class T>
struct AdmmRows {
    sparse::RowMatrix<T> factor, dual, product;
    double typical = 0;  ///< mean of the squares of a row of the factor: smaller ones need not be as exact
};

/// For constraints on rows: each row stops by itself. Local.
template <class T>
void improve_rows(const AdmmRows<T>& rows, const AdmmMatrix<T>& matrix, const CpConstraint& constraint);
/// One of them. @param scratch two rows
template <class T>
void improve_row(const AdmmRows<T>& rows, const AdmmMatrix<T>& matrix, const CpConstraint& constraint, std::int64_t row, T* scratch);

/// What the columns of a factor must be.
struct ColumnConstraint {
    CpConstraint constraint;
    bool bounded = false;                 ///< columns have length 1 at most
    const WholeColumns* whole = nullptr;  ///< of a unimodal or smooth mode
    std::int64_t length = 0;              ///< of a smooth mode
};

/// For constraints on columns. Collective.
/// @param scratch two matrices like the factor
template <class T>
void improve_columns(const Communicator& comm, const AdmmRows<T>& rows, const AdmmMatrix<T>& matrix, const ColumnConstraint& constraint,
                     const sparse::RowMatrix<T> (&scratch)[2]);

/// Replaces rows by the nearest ones whose columns sum to 1 over all ranks, without negative elements. Collective.
template <class T>
void project_columns_to_simplex(const Communicator& comm, sparse::RowMatrix<T> rows);

/// Adds up what f(row, sums) adds to `count` numbers: over the threads in their order. Local.
std::vector<double> sums_over_rows(std::int64_t rows, std::size_t count, const std::function<void(std::int64_t row, double* sums)>& f);

/// rows = rows * matrix, whose rows follow each other. Local.
template <class T>
void multiply_rows(sparse::RowMatrix<T> rows, const std::vector<T>& matrix);

}  // namespace arges::decompose
