/// @file chemistry/denominators.hpp
/// Orbital-energy denominators.
#pragma once

#include "arges/tensor.hpp"

#include <vector>

namespace arges::chemistry {

/// Divides each element of a residual with letters a.. i.. (first half virtual, second half
/// occupied) by its denominator e_i + e_j + ... - e_a - e_b - ... Local.
/// @param residual  what is divided
/// @param occupied  energies of the occupied orbitals, in hartree
/// @param virtuals  energies of the virtual orbitals
/// @throws InvalidArgument if there is not one energy for each index, or not as many virtual as
/// occupied letters
void divide_by_denominators(Tensor<double>& residual, const std::vector<double>& occupied, const std::vector<double>& virtuals);

}  // namespace arges::chemistry
