/// Messages that lie in the memory of a device.
#pragma once

#include "arges/element_kernels.hpp"
#include "comm/communicator.hpp"

namespace arges {

/// Whether MPI takes arrays of the ranks' devices as they are: numbers that are sent from there arrive there on all ranks, in short
/// messages and in long ones, between neighbours and across half of the ranks. Collective.
/// @param kernels  of doubles on this rank's device
bool messages_arrive_on_device(const Communicator& comm, const ElementKernels& kernels);

}  // namespace arges
