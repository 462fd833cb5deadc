/// Runs the plan of a pairwise operation.
#pragma once

#include "base/workspace.hpp"
#include "comm/communicator.hpp"
#include "local/row_products.hpp"
#include "plan/contraction_plan.hpp"
#include "redistribute/exchange.hpp"

#include <array>
#include <optional>

namespace arges {

/// Arrays of the operands on this rank, in their tensors' own layouts. B is null with one input.
template <class T>
struct OperandData {
    const T* a = nullptr;
    const T* b = nullptr;
    T* c = nullptr;
};

/// A plan made ready to run on one rank, again and again: its movements' lists are built once (per panel where it has panels).
class ContractionRun {
public:
    /// Local. @param comm null for one rank
    ContractionRun(ContractionPlan plan, const Communicator* comm);

    /// C = alpha * (projection of A * B) + beta * C. Collective, as Exchange::run(): what fails on a rank is thrown there when
    /// all messages are delivered.
    template <class T>
    void run(const OperandData<T>& data, T alpha, T beta, Workspace& workspace);

    const ContractionPlan& plan() const { return plan_; }
    /// Bytes of workspace that run() takes on this rank.
    std::int64_t workspace_bytes() const;
    /// Memory of the lists, in bytes.
    std::int64_t list_bytes() const;
    /// Elements that run() sends and receives on this rank, counted from the lists of whole operands.
    Volume volume() const;

private:
    /// An input cut to the current panel.
    template <class T>
    struct Working {
        Layout layout;
        const T* array = nullptr;           // first element of the panel
        T* copy = nullptr;                  // the same where it is a working copy
        std::vector<std::int64_t> strides;  // of the slots
    };

    template <class T>
    void bring_in(Operand o, std::int64_t panel, const T* tensor, Workspace& workspace, Working<T>& w);
    template <class T>
    void apply_weights(Operand o, Working<T>& w) const;
    template <class T>
    void multiply(const std::array<Working<T>, 2>& inputs, T alpha, T beta, T* c) const;
    template <class T>
    void multiply_by_rows(const std::array<Working<T>, 2>& inputs, T alpha, T* c, Workspace& workspace) const;
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
