/// @file general_kernels.cpp
/// The kernels of numbers that BLAS does not know: the general ones (arges/algebra.hpp), compiled here once.
#include "arges/algebra.hpp"

namespace arges {

template const ElementKernels& element_kernels<std::int16_t>();
template const ElementKernels& element_kernels<std::int32_t>();
template const ElementKernels& element_kernels<std::int64_t>();
template const ElementKernels& element_kernels<bool>();
template const ElementKernels& element_kernels<long double>();

}  // namespace arges
