/// Inspects products with sparse factors where memory may not suffice, and makes them part by part where it does not.
#pragma once

#include "execute/sparse_step_run.hpp"

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <vector>

namespace arges {

/// The memory of a world as steps ask for it. Collective. @throws OutOfMemory on all ranks
struct StepRoom {
    RequireBytes require;                                                         ///< is so much there?
    std::function<void(std::int64_t working, std::int64_t from_workspace)> take;  ///< takes it, a part of it from the workspace
    std::function<std::int64_t()> free_bytes;                                     ///< of this rank. Local
    Workspace& workspace;
};

/// Elements that a step takes, and what becomes of them.
struct StepCall {
    const ElementKernels& kernels;
    StepElements elements;
    const void* alpha;          ///< null: one
    const void* beta;           ///< of a dense result
    std::byte* result;          ///< a dense one, of which a rank may have nothing
    bool makes_sparse = false;  ///< it is a sparse one
};

/// A sparse result.
struct StepNonzeros {
    IndexColumns indices;
    Buffer<std::byte> values;
    SparseLayout layout;
};

/// Inspects and runs steps, and counts what they send.
class StepExecutor {
public:
    /// @param comm null for one rank
    StepExecutor(const Communicator* comm, StepRoom room) : comm_(comm), room_(std::move(room)) {}

    /// Finds out which nonzeros meet; null: memory does not suffice. Collective. @param beside  bytes that are in use
    std::unique_ptr<SparseStepRun> inspected(const SparseStep& step, const SparseStepPlan& plan, const std::vector<IndexSpans>& indices,
                                             const std::vector<bool>& conjugated, std::int64_t beside);
    /// Takes what a run needs; false: it is not there. Collective. @param beside  bytes that wait for it
    bool has_room(const SparseStepRun& run, const StepCall& call, std::int64_t beside);
    /// The values of a sparse result; a dense one is changed. Collective, after has_room().
    Buffer<std::byte> run(const SparseStepRun& run, const StepCall& call);
    /// Makes the parts that a plan says, one after the other; one for which memory does not suffice is divided again. Of a sparse result
    /// the nonzeros of all parts. Collective. @throws OutOfMemory on all ranks, where that is found before a dense result has changed
    StepNonzeros run_phases(const SparseStep& step, const SparseStepPlan& plan, const std::vector<IndexSpans>& indices, StepCall call);

    /// Why the last inspection has ended that found too little memory; null: there was none.
    const std::exception_ptr& shortage() const { return shortage_; }
    /// Bytes that this rank was to send.
    std::int64_t sent_bytes() const { return sent_bytes_; }

private:
    const Communicator* comm_;
    StepRoom room_;
    std::exception_ptr shortage_;
    std::int64_t sent_bytes_ = 0;
};

}  // namespace arges
