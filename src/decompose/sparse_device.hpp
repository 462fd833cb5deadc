/// Sums over the nonzeros of a sparse tensor on a device: what they take there, and whether they run there.
#pragma once

#include "arges/element_kernels.hpp"
#include "arges/machine.hpp"
#include "decompose/distribution/sparse_share.hpp"
#include "interface/world/world_state.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace arges::decompose {

/// Sums over a rank's nonzeros in all modes on a device.
struct DeviceSums {
    std::int64_t bytes = 0;           ///< on the device, an upper bound
    double seconds = 0, on_host = 0;  ///< of an iteration there with its copies, and on the host
};

/// Of an iteration in which the factor of each mode changes once. Pure.
/// @param columns, widths  by mode: of its factor, and of the sums over its slices
DeviceSums device_sums(const SparseShare& share, std::span<const std::int64_t> columns, std::span<const std::int64_t> widths,
                       const MachineModel& machine);
/// MTTKRP with so many columns. Pure.
DeviceSums device_mttkrp(const SparseShare& share, std::int64_t columns, const MachineModel& machine);
/// TTMc with factors of so many columns. Pure.
DeviceSums device_ttmc(const SparseShare& share, std::span<const int> ranks, const MachineModel& machine);

/// The normal equations of rows where only some elements are known. Pure.
DeviceSums device_row_equations(const SparseShare& share, std::int64_t columns, const MachineModel& machine);

/// Losses of a CP model at nonzeros, and their gradient. Pure.
DeviceSums device_losses(const SparseShare& share, std::int64_t columns, const MachineModel& machine);

/// A rank's room on its device for such sums, in the account of the world. Local.
class DeviceRoom {
public:
    /// There is one where the device computes with the elements, has room, and is faster than the host.
    /// @param always  it need not be faster
    DeviceRoom(WorldState& world, const ElementKernels& elements, const DeviceSums& sums, bool always = false);
    /// The table of the device; null: sums run on the host.
    const ElementKernels* table() const { return table_; }

private:
    std::optional<HeldMemory> held_;
    const ElementKernels* table_ = nullptr;
};

/// Whether there can be such sums. @throws InvalidArgument if the world has no device
void check_has_device(const WorldState& world, const ElementKernels& elements, const std::string& what);

}  // namespace arges::decompose
