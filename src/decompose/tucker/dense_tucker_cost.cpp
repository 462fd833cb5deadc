// The order of modes for ST-HOSVD by dynamic programming over the sets of modes that are truncated, and
// the cheaper kernel, both in modelled time.
#include "decompose/tucker/dense_unfolding.hpp"

#include <algorithm>
#include <limits>

namespace arges::decompose {

namespace {

double cube(double n) { return n * n * n; }

}  // namespace

TuckerKernel cheaper_kernel(std::int64_t length, std::int64_t width, std::int64_t ranks) {
    const double n = length, w = width, processes = ranks;
    const double shorter = std::min(n, w), longer = std::max(n, w);
    const double gram = n * n * w / processes + MachineModel::eigen_flops * cube(n);
    const double qr = MachineModel::tsqr_slowness * 2 * longer * shorter * shorter / processes + MachineModel::svd_flops * cube(shorter);
    return qr < gram ? TuckerKernel::qr : TuckerKernel::gram;
}

/// Exact dynamic programming over the sets of modes that have been truncated: what is left of the tensor depends on the set only.
std::vector<int> cheapest_mode_order(const Layout& layout, const std::vector<std::int64_t>& ranks, std::int64_t element_bytes,
                                     const MachineModel& machine) {
    const auto order = layout.extents().size();
    const auto sets = std::size_t{1} << order;
    const double processes = layout.grid().ranks();
    const auto kept = [&](std::size_t m) {
        const auto length = layout.extents()[m];
        return static_cast<double>(ranks[m] > 0 ? ranks[m] : std::max<std::int64_t>(1, length / 4));
    };
    std::vector<double> best(sets, std::numeric_limits<double>::infinity());
    std::vector<std::size_t> last(sets, 0);
    best[0] = 0;
    for (std::size_t set = 0; set < sets; ++set) {
        double elements = 1;
        for (std::size_t m = 0; m < order; ++m) elements *= (set >> m & 1) != 0 ? kept(m) : static_cast<double>(layout.extents()[m]);
        for (std::size_t m = 0; m < order; ++m) {
            if ((set >> m & 1) != 0) continue;
            const double n = layout.extents()[m];
            const double flops = (n + 2 * kept(m)) * elements / processes + MachineModel::eigen_flops * cube(n);
            const double moved = layout.slot(m).grid_length() > 1 ? elements / processes * static_cast<double>(element_bytes) : 0;
            const double cost = best[set] + flops / machine.flops_per_second + moved / machine.bytes_per_second;
            const auto next = set | std::size_t{1} << m;
            if (cost < best[next]) best[next] = cost, last[next] = m;
        }
    }
    std::vector<int> result;
    for (auto set = sets - 1; set != 0; set &= ~(std::size_t{1} << last[set])) result.push_back(last[set]);
    std::reverse(result.begin(), result.end());
    return result;
}

}  // namespace arges::decompose
