/// Factors that meet constraints which fix their scale.
#pragma once

#include "decompose/cp/constraints.hpp"
#include "decompose/cp/cp_als.hpp"
#include "decompose/cp/cp_operator.hpp"

#include <cstdint>
#include <vector>

namespace arges::decompose {

/// Rows of each factor that some rank owns. Collective.
/// @throws InvalidArgument for more orthogonal columns than rows
template <class T>
std::vector<std::int64_t> rows_over_ranks(const CpData<T>& data, const std::vector<CpConstraint>& constraints);

/// Where a factor stands.
struct FactorPlace {
    const ModeRows& rows;
    int mode;
    std::int64_t total;  ///< rows over all ranks
};

/// Replaces the owned rows by some that meet a constraint. Collective.
template <class T>
void make_feasible(const Communicator& comm, sparse::RowMatrix<T> rows, CpConstraintKind kind, const FactorPlace& place);

/// Replaces the owned rows M by M (M^T M)^(-1/2), again until that is orthogonal to rounding. Where M has not the full rank, small numbers,
/// the same for any distribution, are added. Collective.
template <class T>
void make_orthogonal(const Communicator& comm, sparse::RowMatrix<T> rows, const FactorPlace& place);

/// Columns that may be scaled get length 1; lambda, 1 before or that of all modes, their lengths. Local.
template <class T>
void move_lengths_to_lambda(CpState<T>& state, const std::vector<CpConstraint>& constraints);

}  // namespace arges::decompose
