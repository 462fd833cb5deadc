/// Runs the plan of a product of several tensors.
#pragma once

#include "arges/element_kernels.hpp"
#include "base/first_error.hpp"
#include "base/workspace.hpp"
#include "comm/communicator.hpp"
#include "plan/fused_plan.hpp"
#include "redistribute/exchange.hpp"

#include <memory>
#include <vector>

namespace arges {

/// A plan made ready to run on one rank, again and again: its movements' lists are built once.
class FusedRun {
public:
    /// Local. @param comm null for one rank
    FusedRun(FusedPlan plan, const Communicator* comm);

    /// C = alpha * (projection of the product) + beta * C. Collective, as Exchange::run(): what fails on a rank is thrown there
    /// when all messages are delivered.
    /// @param inputs arrays of the inputs on this rank, in their tensors' own layouts
    /// @param stay   for inputs that will lie as plan.stay says: where to write their elements; else null
    /// @param alpha, beta  single elements; a null alpha stands for one
    void run(const ElementKernels& kernels, const std::vector<const void*>& inputs, void* c, const void* alpha, const void* beta,
             const std::vector<void*>& stay, Workspace& workspace);

    /// Bytes of workspace that run() takes on this rank.
    std::int64_t workspace_bytes() const;
    /// Memory of the lists, in bytes.
    std::int64_t list_bytes() const;
    /// Elements that run() sends and receives on this rank.
    Volume volume() const;

private:
    /// Where the labels of an operand of a local step are.
    struct Block {
        std::vector<int> labels;
        std::vector<std::int64_t> strides;
        std::int64_t offset = 0;
    };
    struct Piece {
        Block block;
        const void* array = nullptr;
    };

    const WorkingOperand& operand(std::size_t i) const;
    /// True if the plan leaves this rank without work: it only sends what it owns and receives what it shall own.
    bool is_idle() const { return plan_.grid.is_idle(rank_); }
    std::int64_t place(int label) const;
    std::int64_t elements(const std::vector<int>& labels, std::int64_t slice) const;
    std::vector<std::int64_t> buffer_elements(std::int64_t slice) const;
    std::unique_ptr<Exchange> slice_exchange(std::size_t i, std::int64_t slice) const;
    Block block_of(std::size_t i, std::int64_t slice) const;
    Block packed_block(const std::vector<int>& labels, std::int64_t slice) const;
    const void* bring_in(const ElementKernels& kernels, std::size_t i, std::int64_t slice, const void* tensor, Workspace& workspace, FirstError& error);
    void multiply_chain(const ElementKernels& kernels, const std::vector<const void*>& inputs, void* result, const void* alpha, const void* beta,
                        std::int64_t slice, Workspace& workspace) const;
    void multiply(const ElementKernels& kernels, const Piece& a, const Piece& b, const void* alpha, const void* beta, const Block& c, void* result,
                  std::int64_t slice) const;

    FusedPlan plan_;
    const Communicator* comm_;
    std::int64_t rank_;
    std::vector<Volume> volume_;                       // of the inputs, then of the result
    std::vector<std::unique_ptr<Exchange>> exchange_;  // likewise; null: nothing moves, or slice by slice
    std::vector<std::unique_ptr<Exchange>> stay_;      // from the copies to where the inputs will lie; on this rank only
};

}  // namespace arges
