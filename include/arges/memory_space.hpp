/// @file memory_space.hpp
/// Where arrays of elements lie: on the host, or in the memory of a device.
#pragma once

#include <cstdint>

namespace arges {

/// What a rank has of the devices of its node.
struct DeviceMemory {
    int number = 0;               ///< of the rank's device
    int devices = 1;              ///< on the node
    std::int64_t free_bytes = 0;  ///< of the rank's device
};

/// A memory that the host's code does not read or write: only the functions of tables of kernels do (ElementKernels::space), and copy().
struct MemorySpace {
    const char* name = "";  ///< for messages
    /// Memory of `bytes` bytes, above 0, on a cache line; null if it is not to be had.
    void* (*allocate)(std::int64_t bytes) = nullptr;
    /// Gives the memory of so many bytes back; it may be kept for the next array.
    void (*free)(void* array, std::int64_t bytes) noexcept = nullptr;
    /// Copies between two arrays, each of which lies in this space or on the host.
    void (*copy)(void* to, const void* from, std::int64_t bytes) = nullptr;
    /// The device, and what is free there now; null: the space has no limit of its own.
    DeviceMemory (*memory)() = nullptr;
    /// Waits for whatever runs on the device, other programs' libraries in this process included; null: there is nothing to wait for.
    void (*wait)() = nullptr;
    /// Kernels and copies that are called from now on go to this one of two queues, 0 or 1; 0 is that of all who do not choose. Each runs
    /// in its order, both at the same time. Null, as the next one is then: there is one queue.
    void (*use_queue)(int queue) = nullptr;
    /// What comes to this queue from now on runs behind what is in the other one by now.
    void (*follow)(int queue) = nullptr;
    /// Waits for the queue that is used; null: there is nothing to wait for.
    void (*finish)() = nullptr;
};

}  // namespace arges
