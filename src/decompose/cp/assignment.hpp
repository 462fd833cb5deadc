/// The assignment problem.
#pragma once

#include <vector>

namespace arges::decompose {

/// A column for each row, each column for at most one row, so that the sum of their values is largest: the Hungarian algorithm with
/// potentials, rows^2 * columns steps (Kuhn 1955; Burkard, Dell'Amico, Martello, Assignment Problems, section 4.4). Pure.
/// @param values rows x columns, row after row, rows <= columns
std::vector<int> best_assignment(const std::vector<double>& values, int rows, int columns);

}  // namespace arges::decompose
