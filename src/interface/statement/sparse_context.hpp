/// What the parts of a running statement with sparse tensors share, and what inspections have found for statements to come.
#pragma once

#include "execute/sparse_match.hpp"
#include "execute/sparse_phases.hpp"
#include "interface/sparse/sparse_symmetry.hpp"

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>

namespace arges {

/// What was found out about nonzeros, kept for the next time that the same ones meet.
class PreparedSparseStep {
public:
    using Run = std::variant<std::unique_ptr<SparseStepRun>, std::unique_ptr<SparseMatch>, std::unique_ptr<SparseProjection>>;

    /// Collective. @param pattern  of a sparse result
    PreparedSparseStep(WorldState& world, Run run, const std::shared_ptr<const SparsePattern>& pattern)
        : result(pattern), run_(std::move(run)), world_(world),
          held_(world.most(std::visit([](const auto& own) { return own->list_bytes(); }, run_))) {
        world_.hold(held_);
    }
    ~PreparedSparseStep() {
        world_.hold(-held_);
        hold_on_device(0);
    }
    PreparedSparseStep(const PreparedSparseStep&) = delete;
    PreparedSparseStep& operator=(const PreparedSparseStep&) = delete;

    template <class R>
    const R& run() const {
        return *std::get<std::unique_ptr<R>>(run_);
    }
    /// Of lists, on the rank that has most.
    std::int64_t bytes() const { return held_; }
    /// Accounts for lists on the device, which are all that the step has there. Local; the same on all ranks.
    void hold_on_device(std::int64_t bytes) {
        world_.hold(bytes - held_there_, true);
        held_there_ = bytes;
    }
    std::int64_t held_on_device() const { return held_there_; }
    /// Gives them back, if there are some; the next run there copies them again. Likewise.
    void drop_device_lists() {
        if (held_there_ == 0) return;
        run<SparseStepRun>().drop_device_lists();
        hold_on_device(0);
    }
    /// The pattern of a sparse result: as long as a tensor has it, or, of an intermediate result, as long as the step is kept.
    std::weak_ptr<const SparsePattern> result;
    std::shared_ptr<const SparsePattern> intermediate;

private:
    Run run_;
    WorldState& world_;  // which holds it
    std::int64_t held_, held_there_ = 0;
};

/// A prepared step with the pattern of its result, if that is sparse.
struct KeptSparseStep {
    std::shared_ptr<PreparedSparseStep> step;
    std::shared_ptr<const SparsePattern> pattern;
};

/// Elements, world and accounts of one statement.
class SparseContext {
public:
    /// @param text  the statement, for messages
    /// @param there  the table of the device where it is computed; null: on the host
    SparseContext(const ElementKernels& algebra, const World& world_of_tensors, std::function<std::string()> text,
                  const ElementKernels* there = nullptr);
    SparseContext(const SparseContext&) = delete;
    SparseContext& operator=(const SparseContext&) = delete;
    /// What this rank was to send, for the world's accounts. Local.
    void note_sent() { world.note_planned_bytes(planned + executor.sent_bytes()); }

    const Communicator* comm() const { return world.movement_communicator(); }
    std::string text() const { return text_(); }
    /// Is so much there? Collective. @throws OutOfMemory on all ranks
    void require(std::int64_t bytes) const { world.require_everywhere(bytes, text()); }
    /// Takes memory that is worked with. Local, under agree(); the second is collective. @throws OutOfMemory
    void take_here(std::int64_t bytes) const;
    void take(std::int64_t bytes) const {
        world.agree([&] { take_here(bytes); });
    }

    /// A tensor of a result. Collective.
    std::shared_ptr<SparseState> state(std::vector<std::int64_t> lengths, std::shared_ptr<const SparsePattern> pattern,
                                       SparseValues values) const;
    /// Copies of the values, times a factor where there is one. Collective. @throws OutOfMemory
    SparseValues copied(const SparseState& tensor, const void* factor = nullptr) const;

    /// What an earlier statement has found; no step: it is not known, or of no use. Collective if it makes a sparse result.
    KeptSparseStep kept(const std::string& key, bool makes_pattern) const;
    /// Keeps a step, if it is not too large. Collective.
    void keep(const std::string& key, const std::shared_ptr<PreparedSparseStep>& made) const;
    /// Gives back what is kept for other statements. False: there is nothing.
    bool forgets_steps() const;
    /// Gives back lists on the device but those that were used last, and take up to an eighth of its memory. Local; the same on all ranks.
    void bound_device_lists() const;
    /// What is kept, or made: `make` gives a run, and sets the pattern of its result. Collective.
    template <class Make>
    KeptSparseStep kept_or_made(const std::string& key, Make&& make) const {
        auto found = kept(key, true);
        if (found.step) return found;
        PreparedSparseStep::Run run = make(found.pattern);
        found.step = std::make_shared<PreparedSparseStep>(world, std::move(run), found.pattern);
        keep(key, found.step);
        return found;
    }

    /// The table of dense tensors.
    const ElementKernels& dense_kernels() const { return device != nullptr ? *device : kernels; }

    const ElementKernels& kernels;  ///< of values of sparse tensors, for the host
    const ElementKernels* const device;
    const World& handle;
    WorldState& world;
    StepExecutor executor;
    std::int64_t planned = 0;  ///< bytes that this rank sends beside those of the executor
    bool measures = true;      ///< all ranks run the statement: what is not known of nonzeros may be found out

private:
    std::function<std::string()> text_;
};

}  // namespace arges
