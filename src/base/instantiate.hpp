/// The element types, for explicit instantiation.
#pragma once

#include <complex>

/// Calls MACRO(T) for each element type of tensors.
#define ARGES_FOR_EACH_ELEMENT_TYPE(MACRO)                                                                                                 \
    MACRO(float)                                                                                                                           \
    MACRO(double)                                                                                                                          \
    MACRO(std::complex<float>)                                                                                                             \
    MACRO(std::complex<double>)
