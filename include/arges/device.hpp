/// @file device.hpp
/// The device that a World has the elements of its dense tensors on.
#pragma once

#include <cstdint>
#include <string>

namespace arges {

/// Where dense tensors of float, double and the complex types have their elements; all other ones are on the host.
enum class DeviceKind : std::uint8_t {
    none,  ///< in the host's memory
    cuda   ///< in the memory of an NVIDIA device, where what is done with them runs; the ranks of a node take its devices in turn
};

/// What a World is made with: World(MPI_COMM_WORLD, Device(DeviceKind::cuda)).
struct Device {
    explicit Device(DeviceKind where, std::int64_t limit = 0) : kind(where), memory_limit(limit) {}  ///< of a kind, with memory_limit

    DeviceKind kind;  ///< where elements lie
    /// Bytes that tensors and operations hold in the device's memory on one rank; 0: what is free there, divided by the ranks that share
    /// it.
    std::int64_t memory_limit;
};

/// "none" or "cuda".
std::string to_string(DeviceKind kind);

/// A kind by its name. @param text none or cuda @param what it is for, e.g. "--device" @throws InvalidArgument with that for other texts
DeviceKind parse_device(const std::string& text, const std::string& what);

}  // namespace arges
