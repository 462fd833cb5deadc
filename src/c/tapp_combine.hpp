/// Sums of tensors of different element types.
#pragma once

#include "tapp.h"

#include <complex>
#include <cstdint>
#include <span>

namespace arges::tapp {

/// One tensor of a sum.
struct Term {
    TAPP_datatype type = TAPP_F32;      ///< of its elements
    const void* data = nullptr;         ///< null: there is no such term
    std::complex<double> factor = 1.0;  ///< it is multiplied with
    bool conjugate = false;             ///< before that
};

/// An axis of a sum with its strides, in elements.
struct SumAxis {
    std::int64_t count = 1;
    std::int64_t x = 0, y = 0, to = 0;
};

/// to = x + y in double precision; a real `to` takes real parts. An element of `to` may be where those that it is made from are.
void combine(std::span<const SumAxis> axes, const Term& x, const Term& y, TAPP_datatype type, void* to);

/// The number at `scalar`.
std::complex<double> number(TAPP_datatype type, const void* scalar);

}  // namespace arges::tapp
