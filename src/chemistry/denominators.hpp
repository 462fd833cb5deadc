/// Orbital-energy denominators.
#pragma once

#include "arges/tensor.hpp"

#include <vector>

namespace arges::chemistry {

/// Divides each element of a residual with letters a.. i.. (first half virtual, second half
/// occupied) by its denominator e_i + e_j + ... - e_a - e_b - ... Local.
/// @param occupied  energies of the occupied orbitals, in hartree
/// @param virtuals  energies of the virtual orbitals
void divide_by_denominators(Tensor<double>& residual, const std::vector<double>& occupied,
                            const std::vector<double>& virtuals);

/// Divides each element by the sum over its dimensions of terms[dimension][index]. Threaded where the
/// tensor has no symmetry. Local.
void divide_by_sums(Tensor<double>& tensor, const std::vector<std::vector<double>>& terms);

}  // namespace arges::chemistry
