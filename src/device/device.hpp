/// The device that tensors of float, double and the complex types lie on, where ARGES_DEVICE asks for one.
#pragma once

#include "arges/element_kernels.hpp"

namespace arges::device {

/// The table that tensors of a type get: with ARGES_DEVICE=cuda that of the device, else the library's own. The same one at every call.
/// @param host  the library's own @throws InvalidArgument if there is no device, or no such option
template <class T>
const ElementKernels& kernels_of(const ElementKernels& host);

}  // namespace arges::device
