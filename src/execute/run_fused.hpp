/// Runs the plan of a product of several tensors.
#pragma once

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

    /// C = alpha * (projection of the product) + beta * C. Collective.
    /// @param inputs arrays of the inputs on this rank, in their tensors' own layouts
    /// @param stay   for inputs that will lie as plan.stay says: where to write their elements; else null
    template <class T>
    void run(const std::vector<const T*>& inputs, T* c, T alpha, T beta, const std::vector<T*>& stay, Workspace& workspace);

    /// Bytes of workspace that run() takes on this rank.
    std::int64_t workspace_bytes() const;
    /// Memory of the lists, in bytes.
    std::int64_t list_bytes() const;
    /// Elements that run() sends and receives on this rank.
    Volume volume() const;

private:
    /// An operand of a local step: where its labels' axes are.
    struct Block {
        std::vector<int> labels;
        std::vector<std::int64_t> strides;
    };
    Block block_of(const WorkingOperand& operand) const;
    Block packed_block(const std::vector<int>& labels) const;
    std::int64_t local_extent(int label) const;
    std::int64_t elements(const std::vector<int>& labels) const;
    std::vector<std::int64_t> buffer_elements() const;
    template <class T>
    void multiply(const Block& a, const T* x, const Block& b, const T* y, T alpha, T beta, const Block& c, T* z) const;

    FusedPlan plan_;
    std::int64_t rank_;
    std::vector<std::unique_ptr<Exchange>> exchange_;  // of the inputs, then of the result; null: nothing moves
    std::vector<std::unique_ptr<Exchange>> stay_;      // from the copies to where the inputs will lie; on this rank only
};

}  // namespace arges
