/// What one pairwise operation computes: C = (projection of) sum over labels of A * B. Pure description.
#pragma once

#include "layout/layout.hpp"
#include "plan/exchange_spec.hpp"
#include "plan/machine_model.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace arges {

/// A tensor with a label for each dimension.
struct OperandSpec {
    Layout layout;
    std::vector<int> labels;
    bool conjugated = false;
    std::string name;
    bool is_lasting = false;  ///< the tensor keeps the layout that a product gives it, and later runs find it there
    bool operator==(const OperandSpec&) const = default;
};

/// One or two inputs and an output. With two inputs every label of the inputs is in the output or in both inputs; with one,
/// labels that are not in the output are summed.
struct ContractionSpec {
    std::vector<OperandSpec> inputs;
    OperandSpec output;
    std::vector<std::int64_t> label_extents;
    std::vector<std::string> label_names;
    std::vector<LabelTerm> terms;    ///< projection onto the output's symmetry; the identity comes first
    std::int64_t element_bytes = 8;
    double flops_per_product = 2;    ///< 8 for complex types
    bool operator==(const ContractionSpec&) const = default;
};

/// How symmetric groups that survive a contraction are put on the torus.
enum class GroupMapping : std::uint8_t {
    packed,  ///< the packed index of the group is cyclic: no padding
    blocks   ///< each dimension is cyclic, virtual blocks make up equal phases (cyclops-2012)
};

/// What the planner may do.
struct PlanOptions {
    std::int64_t memory_limit = std::int64_t{1} << 62;  ///< bytes per rank for working memory
    GroupMapping group_mapping = GroupMapping::packed;
    std::vector<double> link_weight;  ///< relative cost of a byte along each dimension of the grid of all ranks; empty: 1
    MachineModel machine;
    /// Grids on which a product may run: first the one of all ranks, then those that leave some ranks idle. Empty: that of the output.
    std::vector<RankGrid> grids;
    /// Runs of the product, this one included, among which the cost of moving a lasting tensor is shared.
    std::int64_t expected_runs = 1;
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
