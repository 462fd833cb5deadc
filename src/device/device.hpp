/// The tables of kernels for dense tensors whose elements lie on a device.
#pragma once

#include "arges/device.hpp"
#include "arges/element_kernels.hpp"

#include <array>
#include <cstddef>
#include <optional>

namespace arges::device {

/// One for each type of ARGES_FOR_EACH_ELEMENT_TYPE, in that order; nulls without a device.
using Tables = std::array<const ElementKernels*, 4>;

/// Those of this rank's device. @throws InvalidArgument if there is none of the kind, or the library was built without it
Tables tables_of(DeviceKind kind);

/// Where a World has its tensors that is not told: what ARGES_DEVICE says. @throws InvalidArgument for values that are not known
DeviceKind default_kind();

/// Does MPI take messages in the memory of a device? What tests say; none: MPI says it.
std::optional<bool> may_have_messages();
/// Do messages of this rank lie there? Not before a World has found out that they arrive.
bool has_messages();
void set_messages(bool on_device);

/// For tests: other tables in place of those of CUDA, or null for these again. @param by_default  also a World that is not told has them
/// @param messages  may_have_messages() with them
void replace_cuda(const Tables* tables, bool by_default, bool messages);

/// The table of a type on this rank's CUDA device. Ranks of a node take its devices in turn; those that share one wait for each other.
/// @throws InvalidArgument if there is none, or the library was built without CUDA
template <class T>
const ElementKernels& cuda_kernels(const ElementKernels& host);

}  // namespace arges::device
