/// @file second_of_numbers.cpp
/// Kernels that read elements at the places of others (Second), of the types that BLAS has; compiled here once.
#include "arges/algebra.hpp"
#include "arges/element_functions.hpp"

namespace arges {

template const ElementKernels& algebra_kernels<Second<float>>();
template const ElementKernels& algebra_kernels<Second<double>>();
template const ElementKernels& algebra_kernels<Second<std::complex<float>>>();
template const ElementKernels& algebra_kernels<Second<std::complex<double>>>();

}  // namespace arges
