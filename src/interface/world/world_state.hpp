/// What the copies of a World share, and in which order it numbers its ranks.
#pragma once

#include "arges/error.hpp"
#include "arges/world.hpp"
#include "base/recent_map.hpp"
#include "base/workspace.hpp"
#include "comm/communicator.hpp"
#include "interface/world/world_device.hpp"
#include "layout/layout.hpp"
#include "plan/product/plan_options.hpp"
#include "plan/sparse/sparse_step.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace arges {

class PreparedSparseStep;
class PreparedTerm;
class TensorState;
class Trace;

/// Communicator, torus, memory accounts, and what is kept between statements: layouts, plans, workspace.
class WorldState {
public:
    /// @param device     none: what ARGES_DEVICE says
    /// @param constants  of the machine; null: the stored ones
    WorldState(MPI_Comm comm, const Torus& torus, RankOrder order, const std::optional<Device>& device = {},
               const MachineModel* constants = nullptr);
    explicit WorldState(const PlannedMachine& machine);

    std::int64_t size() const { return size_; }
    std::int64_t rank() const { return rank_; }
    bool dry() const { return !communicator_; }
    const Torus& torus() const { return torus_; }
    const RankGrid& grid() const { return grids_.front(); }
    /// Grids for products, see grids_for_products(); the first has all ranks.
    const std::vector<RankGrid>& grids() const { return grids_; }
    /// The communicator; not in a dry run.
    const Communicator& communicator() const { return *communicator_; }
    /// The communicator where there are several ranks, else null.
    const Communicator* movement_communicator() const { return !dry() && size_ > 1 ? &*communicator_ : nullptr; }

    /// Runs local work that may throw; every rank throws if one does, or if something has failed on its device. `minima` as in
    /// Communicator::agree(). Collective.
    void agree(const std::function<void()>& work, std::span<std::int64_t> minima = {}) const;

    /// Has all ranks hear of what has failed on a device; for elements on the host nothing. Collective.
    void settle(const MemorySpace* space) const;

    /// The device, whose account tensors keep.
    WorldDevice& device() { return device_; }
    const WorldDevice& device() const { return device_; }
    /// The table of kernels that new dense tensors of these elements have, and that statements compute with.
    const ElementKernels& kernels(const ElementKernels& elements) const { return device_.kernels(elements); }

    /// Tensors that lie on the device, those of this rank; another one may have more or fewer.
    const std::vector<TensorState*>& on_device() const { return on_device_; }
    void comes_to_device(TensorState* tensor) { on_device_.push_back(tensor); }
    void leaves_device(const TensorState* tensor) { std::erase(on_device_, tensor); }
    /// Numbers statements of dense tensors, the same on all ranks.
    std::int64_t next_use() { return ++uses_; }
    std::int64_t last_use() const { return uses_; }

    /// The one copy of a layout; equal layouts get the same address. Local.
    Layout intern(Layout layout);
    /// Tells interned layouts apart, on all ranks alike.
    std::uint64_t digest(const Layout& interned) const { return digests_.at(interned.identity()); }
    /// Prepared terms by the text that identifies them. Only collective calls change what is kept.
    RecentMap<std::shared_ptr<PreparedTerm>>& prepared() { return prepared_; }
    /// Steps with sparse factors by the text that identifies them. Only collective calls change what is kept.
    RecentMap<std::shared_ptr<PreparedSparseStep>>& sparse_steps() { return sparse_steps_; }
    /// How large products of two sparse factors are, by their patterns and labels.
    RecentMap<ProductCounts>& sparse_counts() { return sparse_counts_; }
    /// How often products have run, by the text that identifies them and the places of their tensors. Only collective calls change it.
    RecentMap<std::int64_t>& runs() { return runs_; }
    /// Right-hand sides that have the symmetry of their output, by what that follows from.
    RecentMap<bool>& symmetric_sums() { return symmetric_sums_; }
    Workspace& workspace() { return workspace_; }
    /// A number for a tensor or for the pattern of a sparse one, another one each time. Only collective calls take one, so that it is the
    /// same on all ranks.
    std::uint64_t next_number() { return ++numbers_; }
    /// Goes on from a number that all ranks have agreed on.
    void set_number(std::uint64_t latest) { numbers_ = latest; }

    /// Limits and weights for the planner, given what tensors hold now.
    PlanOptions plan_options() const;
    std::int64_t memory_limit() const { return memory_limit_; }
    /// The least free_bytes() of a rank, for decisions that all ranks must make alike. Collective.
    std::int64_t least_free_bytes() const { return movement_communicator() ? communicator().minimum(free_bytes()) : free_bytes(); }
    /// The most that a rank gives, likewise. Collective.
    std::int64_t most(std::int64_t bytes) const { return movement_communicator() ? communicator().maximum(bytes) : bytes; }
    void set_memory_limit(std::int64_t bytes);
    /// How symmetric groups are spread by new tensors and by plans.
    GroupMapping group_mapping() const { return group_mapping_; }
    void set_group_mapping(GroupMapping mapping);
    std::int64_t memory_in_use() const { return in_use_; }
    /// What operations may take on this rank beside its tensors, in bytes.
    std::int64_t free_bytes() const { return std::max<std::int64_t>(0, memory_limit_ - in_use_); }
    /// Makes room, see make_room(). @throws OutOfMemory if an operation wants more bytes than are free. Local.
    /// @param what  it is for, e.g. "A: gather"
    void require_free(std::int64_t bytes, const std::string& what);
    /// Makes room for the elements of a tensor on the host. Local; the same on all ranks. @throws OutOfMemory which says the memory
    void require_for_tensor(std::int64_t bytes, const std::string& title);
    /// What require_free() does where all ranks decide alike, by the rank that has least. Collective.
    void require_everywhere(std::int64_t bytes, const std::string& what);
    std::int64_t memory_peak() const { return peak_; }
    void reset_peak() {
        peak_ = in_use_ + kept_workspace_;
        taken_peak_ = peak_ + kept_plans_ + kept_lists_;
    }
    /// Gives back what is kept for later statements, lists of movements, then the workspace, if so many bytes do not fit beside it. Local.
    void make_room(std::int64_t bytes);
    /// Gives back the lists of all terms that are kept but these. Local: what is not ready on a rank is made ready again on all.
    void give_lists_back(std::span<const PreparedTerm* const> running = {});
    /// Likewise the workspace. Local; the same on all ranks.
    void give_workspace_back();
    /// Accounts for lists of movements that are kept while there is room for them (negative: given back); not in memory_peak().
    void hold_lists(std::int64_t bytes);
    std::int64_t kept_lists() const { return kept_lists_; }
    std::int64_t kept_workspace() const { return kept_workspace_; }
    /// Accounts for memory that tensors hold (negative: give back).
    void hold(std::int64_t bytes, bool on_device = false);
    /// Accounts for working memory of an operation. @param from_workspace  the part of it that is kept for later operations
    /// @param passing  what it takes in addition without an account, see PreparedTerm::passing_bytes()
    void note_working(std::int64_t bytes, std::int64_t from_workspace = 0, std::int64_t passing = 0);
    /// Accounts for a plan that is kept from now on, with the lists of its movements that do not count in the limit.
    /// @param building  what making lists takes besides
    void note_plan(std::int64_t bytes, std::int64_t building = 0);
    /// What a rank takes at most at a time: memory_peak() with what passes, and the plans that are kept with the lists of their
    /// movements. For dry runs, where it is an upper bound of what the process takes.
    std::int64_t taken_peak() const { return taken_peak_; }
    /// Adds to the modelled time of what has run in this world: of statements, and in a dry run of all that moves.
    void note_seconds(double seconds) { planned_seconds_ += seconds; }
    /// Modelled time of what was noted.
    double planned_seconds() const { return planned_seconds_; }
    /// Adds to the bytes that statements have promised to send from this rank.
    void note_planned_bytes(std::int64_t bytes) { planned_bytes_ += bytes; }
    std::int64_t planned_bytes() const { return planned_bytes_; }
    const MachineModel& machine() const { return machine_; }
    OperationReport& report() { return report_; }
    /// Modelled time of an agreement of all ranks.
    double agreement_seconds() const { return agreement_seconds_; }
    /// Where executed steps are noted (ARGES_TRACE); null: nowhere.
    Trace* trace() const { return trace_.get(); }

    /// Where new tensors lie: grid(), all ranks.
    RankGrid tensor_grid;

private:
    void take_topology(const Torus& given, std::int64_t ranks_per_node);
    /// @param limit  what this rank was given; 0: nothing
    void take_device_memory(std::int64_t limit);
    void find_where_messages_lie();

    std::optional<Communicator> communicator_;
    WorldDevice device_;
    std::vector<TensorState*> on_device_;
    std::int64_t uses_ = 0;
    std::int64_t size_ = 1, rank_ = 0;
    Torus torus_;
    std::vector<RankGrid> grids_;
    std::shared_ptr<const Links> links_;
    MachineModel machine_;
    LocalProducts local_;
    GroupMapping group_mapping_ = GroupMapping::packed;
    std::int64_t memory_limit_ = 0, in_use_ = 0, kept_workspace_ = 0, peak_ = 0, taken_peak_ = 0;
    std::int64_t kept_lists_ = 0;  // of terms that are ready; they give it back
    std::int64_t kept_plans_ = 0;  // those that newer ones have replaced included
    double planned_seconds_ = 0, agreement_seconds_ = 0;
    std::int64_t planned_bytes_ = 0;
    std::map<std::string, Layout> layouts_;
    std::unordered_map<const void*, std::uint64_t> digests_;
    RecentMap<std::shared_ptr<PreparedTerm>> prepared_{1000};
    RecentMap<std::shared_ptr<PreparedSparseStep>> sparse_steps_{64};
    RecentMap<ProductCounts> sparse_counts_{1000};
    RecentMap<std::int64_t> runs_{10000};
    RecentMap<bool> symmetric_sums_{1000};
    std::uint64_t numbers_ = 0;  // of the latest tensor or pattern
    Workspace workspace_;
    OperationReport report_;
    std::shared_ptr<Trace> trace_;
};

/// The ranks of a world where there are several, else null: what a CollectiveCall is over.
inline const Communicator* ranks_of(const World& world) { return world.state() ? world.state()->movement_communicator() : nullptr; }

/// The communicator of a world of real ranks.
/// @param what names the caller in messages
/// @throws InvalidArgument for a dry run and for World::outside()
inline const Communicator& communicator_of(const World& world, const std::string& what) {
    if (world.is_dry_run()) throw InvalidArgument(what + ": the world is a dry run, which has no data; use a world of real ranks");
    return world.state()->communicator();
}

/// The shape of a world and the number that this rank has in it.
struct WorldOrder {
    Torus torus;
    std::optional<std::int64_t> rank;  ///< none: as in the communicator
};

/// What RankOrder, ARGES_COORDINATES and ARGES_RANK_ORDER say; of the variables and the file, those of rank 0 count. Coordinates are
/// those of all processes, and count for communicators of all of them. Collective.
/// @param torus  given by the user
/// @throws InvalidArgument on every rank as parse_coordinates() and place_on_torus() do, or if the file cannot be read
WorldOrder world_order(const Communicator& ranks, const Torus& torus, RankOrder order);

/// The machine with its torus, if torus or coordinates say one, and the number of its ranks. Local.
/// @throws InvalidArgument if they do not fit together, or the coordinates cannot be read
PlannedMachine resolved(PlannedMachine machine);

/// Memory in the account of a world, which outlives the object, as long as that lives. Local; on the host with the same numbers on all
/// ranks.
class HeldMemory {
public:
    HeldMemory(WorldState& world, std::int64_t bytes, bool on_device = false) : world_(world), bytes_(bytes), on_device_(on_device) {
        world_.hold(bytes_, on_device_);
    }
    ~HeldMemory() { world_.hold(-bytes_, on_device_); }
    HeldMemory(const HeldMemory&) = delete;
    HeldMemory& operator=(const HeldMemory&) = delete;
    std::int64_t bytes() const { return bytes_; }

private:
    WorldState& world_;
    std::int64_t bytes_;
    bool on_device_;
};

}  // namespace arges
