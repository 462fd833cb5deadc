#include "execute/sparse_phases.hpp"

#include "arges/error.hpp"
#include "redistribute/movement_run.hpp"

#include <utility>

namespace arges {

namespace {

/// The parts of a step that are left to make.
class Phases {
public:
    Phases(const SparseStep& step, const SparsePhases& planned) : most_(std::min(most_phases, step.extent(planned.label))) {
        for (auto number = planned.parts; number-- > 0;) left_.push_back({planned.label, planned.parts, number});
    }
    bool empty() const { return left_.empty(); }
    SparsePhases next() {
        const auto phase = left_.back();
        left_.pop_back();
        return phase;
    }
    /// Two halves in place of a part. @throws `shortage` where there are as many as there can be
    void divide(const SparsePhases& phase, const std::exception_ptr& shortage) {
        if (2 * phase.parts > most_) std::rethrow_exception(shortage);
        left_.push_back({phase.label, 2 * phase.parts, phase.number + phase.parts});
        left_.push_back({phase.label, 2 * phase.parts, phase.number});
    }

private:
    std::int64_t most_;
    std::vector<SparsePhases> left_;  // the next one last
};

/// Nonzeros of the parts that are finished, with room for all, by what the first ones have, if there is so much.
class FinishedParts {
public:
    FinishedParts(std::size_t order, std::int64_t element_bytes) : element_bytes_(element_bytes) { all_.indices.resize(order); }

    /// Local. @param part_of_all  that the nonzeros are
    void add(const IndexColumns& columns, const Buffer<std::byte>& values, double part_of_all, std::int64_t free_bytes) {
        const auto more = values.size() / element_bytes_;
        done_ += part_of_all;
        if (count_ + more > room_) {
            const auto expected = static_cast<std::int64_t>(1.1 * static_cast<double>(count_ + more) / done_) + 1;
            room_ = bytes_of(expected + count_ + more) < free_bytes ? expected : count_ + more;
            for (auto& column : all_.indices) column.reserve(room_);
            Buffer<std::byte> larger(room_ * element_bytes_);
            copy_array(larger.data(), all_.values.data(), count_ * element_bytes_, nullptr);
            all_.values = std::move(larger);
        }
        for (std::size_t m = 0; m < columns.size(); ++m)
            all_.indices[m].insert(all_.indices[m].end(), columns[m].begin(), columns[m].end());
        copy_array(all_.values.data() + count_ * element_bytes_, values.data(), values.size(), nullptr);
        count_ += more;
    }
    std::int64_t bytes() const { return bytes_of(room_); }
    StepNonzeros take(const SparseLayout& layout) {
        all_.values.shorten(count_ * element_bytes_);
        all_.layout = layout;
        return std::move(all_);
    }

private:
    std::int64_t bytes_of(std::int64_t nonzeros) const {
        return nonzeros * (std::ssize(all_.indices) * std::int64_t{sizeof(std::int64_t)} + element_bytes_);
    }

    std::int64_t element_bytes_, count_ = 0, room_ = 0;
    double done_ = 0;
    StepNonzeros all_;
};

}  // namespace

std::unique_ptr<SparseStepRun> StepExecutor::inspected(const SparseStep& step, const SparseStepPlan& plan,
                                                       const std::vector<IndexSpans>& indices, const std::vector<bool>& conjugated,
                                                       std::int64_t beside) {
    const auto sent = [&] { return comm_ != nullptr ? comm_->traffic().bytes_sent : 0; };
    const auto most = [&](std::int64_t here) { return comm_ != nullptr ? comm_->maximum(here) : here; };
    const auto before = sent();
    try {
        auto run = std::make_unique<SparseStepRun>(comm_, step, plan, indices, [&](std::int64_t bytes) { room_.require(beside + bytes); });
        room_.require(beside + most(run->list_bytes() + run->working_bytes(conjugated)));
        sent_bytes_ += run->inspected_bytes();
        return run;
    } catch (const OutOfMemory&) {
        shortage_ = std::current_exception();
        sent_bytes_ += sent() - before;
        return nullptr;
    }
}

bool StepExecutor::has_room(const SparseStepRun& run, const StepCall& call, std::int64_t beside) {
    try {
        const bool on_device = call.elements.device != nullptr;
        room_.take(run.working_bytes(call.elements.conjugated, on_device) + beside,
                   run.workspace_bytes(call.elements.conjugated, on_device));
        return true;
    } catch (const OutOfMemory&) {
        shortage_ = std::current_exception();
        return false;
    }
}

Buffer<std::byte> StepExecutor::run(const SparseStepRun& run, const StepCall& call) {
    sent_bytes_ += run.sent_bytes();
    if (call.makes_sparse) return run.run(call.kernels, call.elements, call.alpha, room_.workspace);
    run.run(call.kernels, call.elements, call.alpha, call.beta, call.result, room_.workspace);
    return {};
}

StepNonzeros StepExecutor::run_phases(const SparseStep& whole, const SparseStepPlan& plan, const std::vector<IndexSpans>& indices,
                                      StepCall call) {
    auto step = whole;
    FinishedParts finished(step.kept.size(), call.kernels.size);
    std::int64_t beside = 0;  // of the rank that has most
    SparseLayout layout;
    std::vector<SparsePhases> fitting;  // a dense result is changed when all parts are known to fit
    const auto run_part = [&](SparseStepRun& part) {
        if (!has_room(part, call, part.list_bytes() + beside)) std::rethrow_exception(shortage_);
        const auto values = run(part, call);
        call.beta = nullptr;
        if (!call.makes_sparse) return;
        agree(comm_, [&] { finished.add(part.take_indices(), values, 1 / static_cast<double>(step.phase.parts), room_.free_bytes()); });
        layout = part.result_layout();
        beside = comm_ != nullptr ? comm_->maximum(finished.bytes()) : finished.bytes();
    };
    for (Phases left(step, plan.phases); !left.empty();) {
        step.phase = left.next();
        const auto part = inspected(step, plan, indices, call.elements.conjugated, beside);
        if (!part)
            left.divide(step.phase, shortage_);
        else if (!call.makes_sparse)
            fitting.push_back(step.phase);
        else
            run_part(*part);
    }
    for (const auto& phase : fitting) {
        step.phase = phase;
        const auto part = inspected(step, plan, indices, call.elements.conjugated, beside);
        if (!part) std::rethrow_exception(shortage_);
        run_part(*part);
    }
    return finished.take(layout);
}

}  // namespace arges
