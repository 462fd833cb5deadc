#include "device/device.hpp"

#include "arges/error.hpp"
#include "base/instantiate.hpp"
#include "base/options.hpp"

namespace arges::device {

#ifndef ARGES_CUDA
template <class T>
const ElementKernels& cuda_kernels(const ElementKernels&) {
    throw InvalidArgument("ARGES_DEVICE=cuda: this library was built without CUDA; build it by `make GPU=cuda`, or set ARGES_DEVICE=none");
}
#endif

template <class T>
const ElementKernels& kernels_of(const ElementKernels& host) {
    return device_option() == DeviceKind::none ? host : cuda_kernels<T>(host);
}

#define ARGES_INSTANTIATE(T) template const ElementKernels& kernels_of<T>(const ElementKernels&);
ARGES_FOR_EACH_ELEMENT_TYPE(ARGES_INSTANTIATE)
#undef ARGES_INSTANTIATE

}  // namespace arges::device
