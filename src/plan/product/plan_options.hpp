/// What the planner may do.
#pragma once

#include "arges/group_mapping.hpp"
#include "arges/machine.hpp"
#include "layout/layout.hpp"
#include "topology/interconnect.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace arges {

/// What products on a rank take beside the arrays of a plan.
struct LocalProducts {
    std::int64_t threads = 1;  ///< a product by rows has a copy of its result for each, at most
    bool operator==(const LocalProducts&) const = default;
};

/// What the planner may do.
struct PlanOptions {
    static constexpr std::int64_t unlimited = std::int64_t{1} << 62;
    std::int64_t memory_limit = unlimited;              ///< bytes per rank for working memory
    GroupMapping group_mapping = GroupMapping::packed;  ///< of symmetric groups that survive a product
    std::shared_ptr<const Links> links;  ///< between the ranks of the grid of all ranks; null: every rank is equally far from every other
    MachineModel machine;
    /// Grids on which a product may run: first the one of all ranks, then those that leave some ranks idle. Empty: that of the output.
    std::vector<RankGrid> grids;
    /// Runs of the product, this one included, among which the cost of moving a lasting tensor is shared.
    std::int64_t expected_runs = 1;
    LocalProducts local;
    /// Bytes per rank for working memory on a device; none: there is no device for these elements.
    std::optional<std::int64_t> device_memory_limit{};
    /// The options of what is computed in the memory of a device or on the host. What passes between ranks lies on the host.
    PlanOptions computing(bool on_device) const {
        auto there = *this;
        if (!on_device) return there;
        there.machine = arges::on_device(machine);
        there.memory_limit = std::min(memory_limit, device_memory_limit.value_or(memory_limit));
        return there;
    }
    /// The grid of all ranks, for a product with this output.
    const RankGrid& whole_grid(const Layout& output) const { return grids.empty() ? output.grid() : grids.front(); }
    /// The layout of a new tensor, for a product with this output.
    Layout new_layout(const Layout& output, const std::vector<std::int64_t>& extents, const Symmetry& symmetry) const {
        if (group_mapping == GroupMapping::blocks) return block_layout(whole_grid(output), extents, symmetry);
        return grids.empty() ? default_layout(output.grid(), extents, symmetry) : spread_layout(grids, extents, symmetry);
    }
    bool operator==(const PlanOptions&) const = default;
};

}  // namespace arges
