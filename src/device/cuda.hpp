/// A device by CUDA and cuBLAS, in libraries that are built by `make GPU=cuda`.
#pragma once

#include "arges/element_kernels.hpp"

namespace arges::device {

/// The table of a type on this rank's device. Ranks of a node take its devices in turn; those that share one wait for each other.
/// @throws InvalidArgument if there is none
template <class T>
const ElementKernels& cuda_kernels(const ElementKernels& host);

}  // namespace arges::device
