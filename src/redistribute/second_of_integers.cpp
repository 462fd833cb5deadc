/// @file second_of_integers.cpp
/// Kernels that read elements at the places of others (Second), of integers and truth values; compiled here once.
#include "arges/algebra.hpp"
#include "arges/element_functions.hpp"

namespace arges {

template const ElementKernels& algebra_kernels<Second<std::int16_t>>();
template const ElementKernels& algebra_kernels<Second<std::int32_t>>();
template const ElementKernels& algebra_kernels<Second<std::int64_t>>();
template const ElementKernels& algebra_kernels<Second<bool>>();

}  // namespace arges
