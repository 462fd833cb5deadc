/// Runs the plan of a pairwise operation.
#pragma once

#include "arges/element_kernels.hpp"
#include "base/workspace.hpp"
#include "comm/communicator.hpp"
#include "local/row_products.hpp"
#include "plan/contraction_plan.hpp"
#include "redistribute/exchange.hpp"

#include <array>
#include <optional>

namespace arges {

/// Arrays of the operands on this rank, in their tensors' own layouts. B is null with one input.
struct OperandData {
    const void* a = nullptr;
    const void* b = nullptr;
    void* c = nullptr;
};

/// A plan made ready to run on one rank, again and again: its movements' lists are built once (per panel where it has panels).
class ContractionRun {
public:
    /// Local. @param comm null for one rank
    ContractionRun(ContractionPlan plan, const Communicator* comm);

    /// C = alpha * (projection of A * B) + beta * C. Collective, as Exchange::run(): what fails on a rank is thrown there when
    /// all messages are delivered.
    /// @param alpha, beta  single elements; a null alpha stands for one
    void run(const ElementKernels& kernels, const OperandData& data, const void* alpha, const void* beta, Workspace& workspace);

    const ContractionPlan& plan() const { return plan_; }
    /// Bytes of workspace that run() takes on this rank.
    std::int64_t workspace_bytes() const;
    /// Memory of the lists, in bytes.
    std::int64_t list_bytes() const;
    /// Elements that run() sends and receives on this rank, counted from the lists of whole operands.
    Volume volume() const;

private:
    /// An input cut to the current panel.
    struct Working {
        Layout layout;
        const std::byte* array = nullptr;   // first element of the panel
        std::byte* copy = nullptr;          // the same where it is a working copy
        std::vector<std::int64_t> strides;  // of the slots
    };

    void bring_in(const ElementKernels& kernels, Operand o, std::int64_t panel, const void* tensor, Workspace& workspace, Working& w);
    void apply_weights(const ElementKernels& kernels, Operand o, Working& w) const;
    void multiply(const ElementKernels& kernels, const std::array<Working, 2>& inputs, const void* alpha, const void* beta, void* c) const;
    void multiply_by_rows(const ElementKernels& kernels, const std::array<Working, 2>& inputs, const void* alpha, void* c, Workspace& workspace) const;
    local::RowProduct row_product() const;
    std::int64_t row_copies(const local::RowProduct& product) const;
    int slot_of(Operand o, std::size_t group) const;

    ContractionPlan plan_;
    const Communicator* comm_;
    std::int64_t rank_;
    std::vector<IndexGroup> groups_;
    std::array<std::optional<Exchange>, 3> exchange_;  // of whole operands; inputs only without panels
    std::array<Volume, 3> volume_;
};

}  // namespace arges
