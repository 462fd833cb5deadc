/// The device that tensors of float, double and the complex types lie on, where ARGES_DEVICE asks for one.
#pragma once

#include "arges/element_kernels.hpp"

namespace arges::device {

/// The table that tensors of a type get: with ARGES_DEVICE=cuda that of the device, else the library's own. The same one at every call.
/// @param host  the library's own @throws InvalidArgument if there is no device, or no such option
template <class T>
const ElementKernels& kernels_of(const ElementKernels& host);

/// The table of a type on this rank's CUDA device. Ranks of a node take its devices in turn; those that share one wait for each other.
/// @throws InvalidArgument if there is none, or the library was built without CUDA
template <class T>
const ElementKernels& cuda_kernels(const ElementKernels& host);

}  // namespace arges::device
