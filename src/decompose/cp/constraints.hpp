/// What constraints and penalties on a factor are, and the points nearest to a given one that meet them.
#pragma once

#include "arges/cpd.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace arges::decompose {

/// Something is added to the function that is minimized.
bool is_penalty(CpConstraintKind kind);
/// The factor cannot be multiplied by any number.
bool fixes_scale(CpConstraintKind kind);
/// No negative element is allowed.
bool is_nonnegative(CpConstraintKind kind);

/// One for each mode; none where no mode has one. Pure.
std::vector<CpConstraint> constraints_of(const CpOptions& options, int order);

/// @throws InvalidArgument for constraints that make no sense, or do not fit to the other options or to so many modes
void check_constraints(const CpOptions& options, int order);

/// How the factor of a mode is improved.
enum class FactorUpdate : std::uint8_t {
    solve,       ///< by the Gram matrix
    orthogonal,  ///< the polar factor
    smooth,      ///< tridiagonal equations
    rows,        ///< ADMM of each row
    columns      ///< ADMM of all rows
};
/// @param bounded  columns must have length 1 at most
FactorUpdate update_of(CpConstraintKind kind, bool bounded);
/// Whether columns of a mode without a penalty must have length 1 at most, so that the penalties of others mean something. Pure.
bool is_bounded(const std::vector<CpConstraint>& constraints, double regularization, int mode);

/// Replaces x by argmin over z of step |z - x|^2 / 2 + penalty of a constraint on rows, or on elements; others leave x as it is. Pure.
template <class T>
void apply_row_constraint(const CpConstraint& constraint, double step, std::span<T> x);

/// Replaces x by the nearest point without negative elements whose sum is 1: max(x - t, 0), with t from the elements that stay (Michelot,
/// J. Optim. Theory Appl. 50, 1986). Pure.
template <class T>
void project_to_simplex(std::span<T> x);

/// Replaces x by the nearest sequence without negative elements that rises, then falls: isotonic regression from both sides, by pooling
/// adjacent violators, for all places of the peak at once (Bro and Sidiropoulos, J. Chemometrics 12, 1998; Stout, Comput. Stat. Data Anal.
/// 53, 2008). Pure.
void project_to_unimodal(std::vector<double>& x);

/// Replaces b by the solution of (shift I + weight D^T D) x = b, where D takes differences between neighbours of a sequence of `length`
/// elements, of which those that are not in `index` are zero. Pure.
/// @param index  of each element of b, ascending @param shift  above 0
void solve_smooth(std::span<const std::int64_t> index, std::int64_t length, double shift, double weight, std::vector<double>& b);

}  // namespace arges::decompose
