/// The device of a world, with the account of its memory on this rank.
#pragma once

#include "arges/device.hpp"
#include "arges/element_kernels.hpp"
#include "device/device.hpp"
#include "device/failure.hpp"

#include <algorithm>
#include <complex>
#include <cstdint>
#include <limits>

namespace arges {

class WorldDevice {
public:
    WorldDevice() = default;
    /// @throws InvalidArgument as device::tables_of() does
    explicit WorldDevice(DeviceKind kind) : kind_(kind), tables_(device::tables_of(kind)) {}

    /// One that need not be there: plans are made for it.
    static WorldDevice planned(std::int64_t limit) {
        WorldDevice device;
        device.kind_ = DeviceKind::cuda;
        device.set_limit(limit);
        return device;
    }

    DeviceKind kind() const { return kind_; }
    /// Does it compute with elements of this type under their algebra?
    bool computes(const ElementKernels& elements) const {
        if (kind_ == DeviceKind::none) return false;
        const auto* const host = &elements.on_host();
        return host == &element_kernels<double>() || host == &element_kernels<float>() ||
               host == &element_kernels<std::complex<double>>() || host == &element_kernels<std::complex<float>>();
    }
    /// May a tensor of so many bytes on a rank lie there? A quarter of the memory is left to what computes with tensors.
    bool has_room(std::int64_t bytes) const { return bytes <= limit_ / 4 * 3 - in_use_; }
    /// The table of its memory for dense tensors of these elements; where it does not compute with them that of the host.
    const ElementKernels& kernels(const ElementKernels& elements) const {
        for (const auto* const table : tables_)
            if (table != nullptr && table->host == &elements.on_host()) return *table;
        return elements.on_host();
    }
    /// What this rank may hold where nobody says it: its part of what is free.
    std::int64_t free_share(std::int64_t ranks_on_node) const {
        if (kind_ == DeviceKind::none) return 0;
        const auto* const space = tables_[0]->space;
        if (space->memory == nullptr) return std::numeric_limits<std::int64_t>::max();
        const auto memory = space->memory();
        return memory.free_bytes / ((ranks_on_node + memory.devices - 1) / memory.devices);
    }
    void set_limit(std::int64_t bytes) { limit_ = bytes; }
    std::int64_t limit() const { return limit_; }
    std::int64_t in_use() const { return in_use_; }
    std::int64_t free_bytes() const { return std::max<std::int64_t>(0, limit_ - in_use_); }
    /// Throws what has failed on this rank's device, once. Local.
    void check() const {
        if (kind_ != DeviceKind::none) device::Failure::the().rethrow();
    }
    /// Accounts for memory that tensors hold (negative: give back).
    void hold(std::int64_t bytes) { in_use_ += bytes; }

private:
    DeviceKind kind_ = DeviceKind::none;
    device::Tables tables_{};
    std::int64_t limit_ = 0, in_use_ = 0;
};

}  // namespace arges
