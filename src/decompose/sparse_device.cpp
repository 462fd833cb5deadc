#include "decompose/sparse_device.hpp"

#include "arges/error.hpp"
#include "base/buffer.hpp"
#include "sparse/device_nonzeros.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

namespace arges::decompose {

DeviceSums device_sums(const SparseShare& share, std::span<const std::int64_t> columns, std::span<const std::int64_t> widths,
                       const MachineModel& machine) {
    constexpr double calls = 4;  // of a mode: the factor, both loops, the sums
    const auto rates = machine.device.value_or(DeviceRates());
    const auto element = share.value_bytes;
    const auto others = std::ssize(share.rows) - 1;
    DeviceSums sums;
    std::int64_t largest = 0;
    for (int m = 0; m < share.order(); ++m) {
        const auto count = share.nonzeros[share.nonzeros.size() == 1 ? 0 : m], factor = share.rows[m] * columns[m] * element,
                   out = share.rows[m] * widths[m] * element;
        sums.bytes += sparse::device_nonzeros_bytes(share.element_bytes(), share.rows, count, m, widths[m]) + array_memory(factor);
        largest = std::max(largest, out);
        const auto nonzeros = static_cast<double>(count), width = static_cast<double>(widths[m]);
        const double read = nonzeros * (width * static_cast<double>(others * element) + static_cast<double>(element + 4 * others));
        sums.seconds += read / rates.copied_bytes_per_second + static_cast<double>(factor + out) / rates.link_bytes_per_second +
                        calls * rates.call_seconds;
        sums.on_host += nonzeros * width * machine.nonzero_column_seconds;
    }
    sums.bytes += array_memory(largest);
    return sums;
}

DeviceSums device_mttkrp(const SparseShare& share, std::int64_t columns, const MachineModel& machine) {
    const std::vector<std::int64_t> all(share.rows.size(), columns);
    return device_sums(share, all, all, machine);
}

DeviceSums device_ttmc(const SparseShare& share, std::span<const int> ranks, const MachineModel& machine) {
    const std::vector<std::int64_t> columns(ranks.begin(), ranks.end());
    auto widths = columns;
    const auto core = std::accumulate(columns.begin(), columns.end(), std::int64_t{1}, std::multiplies<>());
    for (auto& width : widths) width = core / width;
    return device_sums(share, columns, widths, machine);
}

DeviceSums device_row_equations(const SparseShare& share, std::int64_t columns, const MachineModel& machine) {
    const std::vector<std::int64_t> of_factors(share.rows.size(), columns),
        of_equations(share.rows.size(), columns * (columns + 1) / 2 + columns);
    auto sums = device_sums(share, of_factors, of_equations, machine);
    sums.seconds *= 2;  // two rows of each factor
    return sums;
}

DeviceSums device_losses(const SparseShare& share, std::int64_t columns, const MachineModel& machine) {
    auto sums = device_mttkrp(share, columns, machine);
    sums.bytes += array_memory(*std::max_element(share.nonzeros.begin(), share.nonzeros.end()) * share.value_bytes);  // derivatives
    sums.seconds *= 2;  // the model, too, on both sides
    sums.on_host *= 2;
    return sums;
}

DeviceRoom::DeviceRoom(WorldState& world, const ElementKernels& elements, const DeviceSums& sums, bool always) {
    const auto& kernels = world.kernels(elements);
    if (kernels.sum_nonzeros == nullptr) return;
    const bool has_room = world.device().has_room(sums.bytes);
    if (always && !has_room)
        throw OutOfMemory("sums over nonzeros take " + std::to_string(sums.bytes) + " bytes on the device of a rank, of which " +
                          std::to_string(world.device().free_bytes()) +
                          " are free, a quarter of all for what computes there; use more ranks or the format 'auto', or raise the limit "
                          "(Device::memory_limit, --device-memory)");
    if (!has_room || (!always && sums.seconds >= sums.on_host)) return;
    table_ = &kernels;
    held_.emplace(world, sums.bytes, true);
}

void check_has_device(const WorldState& world, const ElementKernels& elements, const std::string& what) {
    if (world.kernels(elements).sum_nonzeros == nullptr)
        throw InvalidArgument(what + " needs a device; choose one (Device, --device cuda, ARGES_DEVICE=cuda), or another format");
}

}  // namespace arges::decompose
