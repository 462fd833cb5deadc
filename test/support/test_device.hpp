/// A device for tests: memory that faults wherever the host touches it.
#pragma once

#include "arges/element_kernels.hpp"

#include <cstdint>

namespace arges::test {

/// Tensors of float, double and the complex types in a World on DeviceKind::cuda lie in a memory that can be read and written only while a
/// kernel of their table runs: the kernels of devices (src/device), in loops on the host, as late as they may run. Whatever else touches an
/// element, MPI included, ends the process. From now on also in a World that is not told where. Local.
/// @param messages  MPI takes messages there: then the memory is open to all
void use_test_device(bool messages = false);

/// Likewise for as long as the object lives, but for a World that is not told. Local.
class TestDevice {
public:
    TestDevice();
    ~TestDevice();
    TestDevice(const TestDevice&) = delete;
    TestDevice& operator=(const TestDevice&) = delete;
    /// The `call`th kernel from now on fails on this rank, once; 0: none does.
    static void fail_at(std::int64_t call);
    /// Likewise the `call`th array, for which there is no memory.
    static void fail_allocation_at(std::int64_t call);
    /// Kernels that this rank has run, and arrays that it has taken.
    static std::int64_t calls();
    static std::int64_t allocations();
    /// Most bytes of arrays since reset_peak(), those of kernels included.
    static std::int64_t peak();
    static void reset_peak();
};

/// The table of float, double or a complex type for the tests' device.
template <class T>
const ElementKernels& test_device_kernels();

/// The table of tensors in a World that is not told: that of a device with ARGES_DEVICE=cuda or ARGES_TEST_DEVICE.
const ElementKernels& tested(const ElementKernels& elements);
template <class T>
const ElementKernels& tested_kernels() {
    return tested(element_kernels<T>());
}

/// The table of a device: that of tensors in a World that is not told, else the tests' own.
template <class T>
const ElementKernels& device_kernels() {
    return tested_kernels<T>().space == nullptr ? test_device_kernels<T>() : tested_kernels<T>();
}

}  // namespace arges::test
