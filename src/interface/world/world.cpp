#include "arges/world.hpp"

#include "arges/machine.hpp"
#include "arges/mpi_session.hpp"
#include "base/options.hpp"
#include "base/text.hpp"
#include "base/trace.hpp"
#include "comm/collective_call.hpp"
#include "comm/communicator.hpp"
#include "interface/statement/prepared_term.hpp"
#include "interface/world/world_state.hpp"
#include "local/contract.hpp"
#include "plan/product/estimate_cost.hpp"
#include "redistribute/device_messages.hpp"
#include "topology/unfold.hpp"

#include <omp.h>

#include <algorithm>
#include <cstdio>
#include <string>

namespace arges {

namespace {

void check_torus(const Torus& torus, std::int64_t ranks) {
    if (torus.ranks() != ranks)
        throw InvalidArgument("World: a torus " + torus.to_string() + " holds " + std::to_string(torus.ranks()) + " ranks, but there are " +
                              std::to_string(ranks) + "; the lengths must multiply to that");
}

/// The state of a world that this rank is in.
WorldState& present(const std::shared_ptr<WorldState>& state) {
    if (!state) throw InvalidArgument("World: this rank is not in the world (World::outside()); only transfer() may be called with it");
    return *state;
}

/// What `arges calibrate` has measured, else the defaults.
MachineModel stored_machine() {
    const auto otherwise = default_machine(omp_get_max_threads());
    return read_machine_model(machine_file_option(), otherwise).value_or(otherwise);
}

/// The constants of a file that must be there.
MachineModel machine_in(const std::string& file) {
    const auto otherwise = default_machine(omp_get_max_threads());
    auto machine = read_machine_model(file, otherwise);
    if (!machine) machine = machine_with_device(file, otherwise);
    if (!machine)
        throw InvalidArgument("machine constants in " + file +
                              ": there is no such file; write it with arges calibrate --output, or name a100, h100 or h200");
    return *std::move(machine);
}

/// Text that tells layouts apart.
std::string fingerprint(const Layout& layout) {
    std::string text = layout.symmetry().to_string() + "|";
    for (auto n : layout.grid().lengths) text += std::to_string(n) + "x";
    text += "|";
    for (auto n : layout.extents()) text += std::to_string(n) + ",";
    for (int s = 0; s < layout.slots(); ++s) {
        const auto& m = layout.mapping(s);
        text += m.is_blocks() ? "b" : m.rows ? "r" : "p";
        for (int d : layout.slot_dimensions(s)) text += std::to_string(d) + ".";
        for (const auto& list : m.torus_by_position) {
            for (int t : list) text += std::to_string(t) + ",";
            text += ";";
        }
        for (auto v : m.virtual_factor) text += "v" + std::to_string(v);
        for (int t : m.torus) text += "," + std::to_string(t);
        text += "w" + std::to_string(m.begin) + ":" + std::to_string(m.end) + "/";
    }
    return text;
}

}  // namespace

WorldState::WorldState(MPI_Comm comm, const Torus& given, RankOrder order, const std::optional<Device>& on, const MachineModel* constants)
    : communicator_(comm) {
    size_ = communicator_->size();
    const CollectiveCall call(movement_communicator(), "World", given.lengths(), static_cast<std::uint64_t>(order));
    const auto [torus, rank] = world_order(*communicator_, given, order);
    if (rank) communicator_ = reordered(*communicator_, *rank);
    rank_ = communicator_->rank();
    const auto per_node = communicator_->ranks_per_node();
    std::int64_t limit = 0;
    std::string machine;
    agree([&] {
        group_mapping_ = group_mapping_option();
        if (on && on->memory_limit < 0)
            throw InvalidArgument("Device: a memory limit of " + std::to_string(on->memory_limit) + " bytes; it must not be negative");
        device_ = WorldDevice(on ? on->kind : device::default_kind());
        if (rank_ == 0) machine = to_text(constants ? *constants : stored_machine());
        limit = memory_limit_option().value_or(0);
        trace_ = Trace::from_option(rank_, process_number());
    });
    if (!communicator_->all_equal(2 * static_cast<std::uint64_t>(group_mapping_) + static_cast<std::uint64_t>(device_.kind())))
        throw InvalidArgument(
            "ARGES_GROUP_MAPPING or ARGES_DEVICE differs between ranks, or the Device of a World; use the same on every rank");
    communicator_->broadcast(machine, 0);
    machine_ = among_ranks(parse_machine_model(machine, "rank 0"), size_, per_node);
    local::set_contraction_costs(
        {machine_.multiplication_seconds * 1e9, machine_.vector_multiplication_seconds * 1e9, machine_.packed_element_seconds * 1e9});
    take_topology(torus, per_node);
    local_ = {communicator_->maximum(omp_get_max_threads())};
    if (limit == 0) limit = available_node_memory() / communicator_->ranks_on_my_node();
    memory_limit_ = communicator_->minimum(limit);
    if (device_.kind() == DeviceKind::none) return;
    take_device_memory(on ? on->memory_limit : 0);
    find_where_messages_lie();
}

void WorldState::find_where_messages_lie() {
    bool may_be_there = false;
    agree([&] { may_be_there = size_ > 1 && device_messages_option() && device::may_have_messages().value_or(mpi_takes_cuda_arrays()); });
    const bool all = communicator_->minimum(may_be_there ? 1 : 0) == 1;
    device::set_messages(all && messages_arrive_on_device(*communicator_, device_.kernels(element_kernels<double>())));
}

void WorldState::take_device_memory(std::int64_t limit) {
    const auto ranks_on_node = communicator_->ranks_on_my_node();
    agree([&] {
        if (limit == 0) limit = device_memory_option().value_or(0);
        if (limit == 0) limit = device_.free_share(ranks_on_node);
    });
    device_.set_limit(communicator_->minimum(limit));
}

WorldState::WorldState(const PlannedMachine& given) {
    const auto machine = resolved(given);
    size_ = *machine.ranks;
    group_mapping_ = group_mapping_option();
    auto constants = machine.file.empty() ? stored_machine() : machine_in(machine.file);
    if (machine.ranks_per_node > 0) constants.interconnect.ranks_per_node = machine.ranks_per_node;
    machine_ = among_ranks(std::move(constants), size_, 1);
    // A machine that is named has the device that its constants say; else the one that worlds have here.
    const bool has_device = machine.file.empty() ? device::default_kind() != DeviceKind::none : machine_.device.has_value();
    if (has_device) device_ = WorldDevice::planned(static_cast<std::int64_t>(machine_.device.value_or(DeviceRates()).memory_bytes));
    take_topology(machine.torus, 1);
    local_ = {omp_get_max_threads()};
    memory_limit_ = memory_limit_option().value_or(available_node_memory());
}

void WorldState::take_topology(const Torus& given, std::int64_t ranks_per_node) {
    if (!given.lengths().empty()) check_torus(given, size_);
    auto topology = topology_of(size_, given, ranks_per_node, machine_.interconnect, {machine_.bytes_per_second, machine_.message_seconds});
    torus_ = std::move(topology.torus);
    links_ = std::move(topology.links);
    grids_ = grids_for_products(torus_);
    tensor_grid = grid();
    agreement_seconds_ = arges::agreement_seconds(size_, plan_options());
}

void WorldState::agree(const std::function<void()>& work, std::span<std::int64_t> minima) const {
    if (!communicator_) return work();
    communicator_->agree(
        [&] {
            try {
                work();
            } catch (...) {
                device_.check();  // which may be why
                throw;
            }
            device_.check();
        },
        minima);
}

void WorldState::settle(const MemorySpace* space) const {
    if (space != nullptr) agree([] {});
}

Layout WorldState::intern(Layout layout) {
    const auto text = fingerprint(layout);
    const auto [known, is_new] = layouts_.try_emplace(text, std::move(layout));
    if (is_new) digests_.emplace(known->second.identity(), Digest().add(text).value());
    return known->second;
}

void WorldState::require_free(std::int64_t bytes, const std::string& what) {
    make_room(bytes);
    if (bytes > free_bytes())
        throw OutOfMemory(what + ": " + std::to_string(bytes) + " bytes on a rank are over the memory limit, which leaves " +
                          std::to_string(free_bytes()) +
                          "; take a part of the tensor, use more ranks, or raise the limit (World::set_memory_limit, ARGES_MEMORY_LIMIT)");
}

void WorldState::require_for_tensor(std::int64_t bytes, const std::string& title) {
    make_room(bytes);
    if (bytes <= memory_limit_ - in_use_) return;
    auto text = title + ": " + std::to_string(bytes) + " bytes per rank on top of " + std::to_string(in_use_) +
                " in use are over the limit of " + std::to_string(memory_limit_);
    if (device_.kind() != DeviceKind::none)
        text += ", and " + std::to_string(device_.free_bytes()) + " of the " + std::to_string(device_.limit()) +
                " bytes of the device are free (Device::memory_limit, --device-memory)";
    throw OutOfMemory(text + "; use more ranks or raise the limit (World::set_memory_limit, ARGES_MEMORY_LIMIT)");
}

void WorldState::require_everywhere(std::int64_t bytes, const std::string& what) {
    const auto left = least_free_bytes();
    if (bytes > left)
        throw OutOfMemory(what + " takes " + with_commas(bytes) + " bytes on a rank, and the limit leaves " + with_commas(left) +
                          "; use more ranks or raise the limit (World::set_memory_limit, ARGES_MEMORY_LIMIT)");
    make_room(bytes);
    note_working(bytes);
}

PlanOptions WorldState::plan_options() const {
    PlanOptions options;
    options.memory_limit = free_bytes();
    options.group_mapping = group_mapping_;
    options.links = links_;
    options.grids = grids_;
    options.machine = machine_;
    options.local = local_;
    return options;
}

void WorldState::set_memory_limit(std::int64_t bytes) {
    memory_limit_ = dry() ? bytes : communicator_->minimum(bytes);
    prepared_.clear();
    workspace_.clear();
    kept_workspace_ = kept_plans_ = 0;  // the terms have given their lists back
}

void WorldState::set_group_mapping(GroupMapping mapping) {
    if (mapping == group_mapping_) return;
    group_mapping_ = mapping;
    prepared_.clear();
    kept_plans_ = 0;
}

void WorldState::make_room(std::int64_t bytes) {
    const auto left = memory_limit_ - in_use_ - kept_workspace_;
    if (bytes > left - kept_lists_) give_lists_back();
    if (bytes > left) give_workspace_back();
}

void WorldState::give_lists_back(std::span<const PreparedTerm* const> running) {
    if (kept_lists_ == 0) return;
    for (const auto& [key, term] : prepared_)
        if (std::ranges::find(running, term.get()) == running.end()) term->give_lists_back();
}

void WorldState::give_workspace_back() {
    workspace_.clear();
    kept_workspace_ = 0;
}

void WorldState::hold_lists(std::int64_t bytes) {
    kept_lists_ += bytes;
    note_working(0);
}

void WorldState::hold(std::int64_t bytes, bool on_device) {
    if (on_device) return device_.hold(bytes);
    in_use_ += bytes;
    note_working(0);
}

void WorldState::note_working(std::int64_t bytes, std::int64_t from_workspace, std::int64_t passing) {
    kept_workspace_ = std::max(kept_workspace_, from_workspace);
    const std::int64_t now = in_use_ + kept_workspace_ + bytes - from_workspace;
    peak_ = std::max(peak_, now);
    taken_peak_ = std::max(taken_peak_, now + passing + kept_plans_ + kept_lists_);
}

void WorldState::note_plan(std::int64_t bytes, std::int64_t building) {
    kept_plans_ += bytes;
    note_working(0, 0, building);
}

World::World(MPI_Comm comm, const Torus& torus, RankOrder order) : state_(std::make_shared<WorldState>(comm, torus, order)) {}
World::World(MPI_Comm comm, const Device& device, const Torus& torus, RankOrder order)
    : state_(std::make_shared<WorldState>(comm, torus, order, device)) {}
World::World(const Device& device, const Torus& torus) : World(MPI_COMM_WORLD, device, torus) {}
World::World(const MachineModel& machine, const std::optional<Device>& device)
    : state_(std::make_shared<WorldState>(MPI_COMM_WORLD, Torus(), RankOrder::given, device, &machine)) {}
World::World(std::shared_ptr<WorldState> state) : state_(std::move(state)) {}
World World::outside() { return World(std::shared_ptr<WorldState>()); }
World World::dry_run(const PlannedMachine& machine) { return World(std::make_shared<WorldState>(machine)); }

std::int64_t World::size() const { return present(state_).size(); }
std::int64_t World::rank() const { return present(state_).rank(); }
const Torus& World::torus() const { return present(state_).torus(); }
bool World::is_dry_run() const { return present(state_).dry(); }
MPI_Comm World::communicator() const { return present(state_).dry() ? MPI_COMM_NULL : state_->communicator().raw(); }
std::int64_t World::memory_limit() const { return present(state_).memory_limit(); }
std::int64_t World::memory_in_use() const { return present(state_).memory_in_use(); }
std::int64_t World::memory_peak() const { return present(state_).memory_peak(); }
Device World::device() const { return Device(present(state_).device().kind(), state_->device().limit()); }
std::int64_t World::device_memory_in_use() const { return present(state_).device().in_use(); }
void World::reset_peak() { present(state_).reset_peak(); }
const OperationReport& World::last_report() const { return present(state_).report(); }

OperationReport World::total_report() const {
    auto& state = present(state_);
    auto report = state.report();
    if (state.dry()) return report;
    const CollectiveCall call(state.movement_communicator(), "World::total_report");
    const auto& comm = state.communicator();
    report.bytes_sent = comm.sum(report.bytes_sent);
    report.bytes_planned = comm.sum(report.bytes_planned);
    report.messages_sent = comm.sum(report.messages_sent);
    report.peak_memory_bytes = comm.maximum(report.peak_memory_bytes);
    for (double* const seconds : {&report.exposed_seconds, &report.seconds})
        *seconds = static_cast<double>(comm.maximum(static_cast<std::int64_t>(*seconds * 1e9))) * 1e-9;
    return report;
}

void World::agree(const std::function<void()>& work) const {
    const auto& state = present(state_);
    const CollectiveCall call(state.movement_communicator(), "World::agree");
    state.agree(work);
}

std::int64_t World::maximum(std::int64_t value) const {
    const CollectiveCall call(present(state_).movement_communicator(), "World::maximum");
    return state_->most(value);
}

std::int64_t World::sum(std::int64_t value) const {
    const auto* const comm = present(state_).movement_communicator();
    const CollectiveCall call(comm, "World::sum");
    return comm ? comm->sum(value) : value;
}

double World::sum(double value) const {
    const auto* const comm = present(state_).movement_communicator();
    const CollectiveCall call(comm, "World::sum");
    if (comm) comm->sum(&value, 1);
    return value;
}

std::string World::from_first(std::string text) const {
    const auto* const comm = present(state_).movement_communicator();
    const CollectiveCall call(comm, "World::from_first");
    if (comm) comm->broadcast(text, 0);
    return text;
}

WorldMachine machine_of(const World& world) {
    const auto& state = present(world.state());
    WorldMachine result{state.machine(), state.dry() ? 1 : state.communicator().ranks_per_node(), state.plan_options().local.threads, {}};
    for (const auto& grid : state.grids()) result.grids.emplace_back(grid.lengths);
    return result;
}

void World::set_memory_limit(std::int64_t bytes) {
    auto& state = present(state_);
    const CollectiveCall call(state.movement_communicator(), "World::set_memory_limit");
    state.agree([&] {
        if (bytes < 0) throw InvalidArgument("memory limit: " + std::to_string(bytes) + " bytes; it must not be negative");
    });
    state.set_memory_limit(bytes);
}

GroupMapping World::group_mapping() const { return present(state_).group_mapping(); }

void World::set_group_mapping(GroupMapping mapping) {
    auto& state = present(state_);
    const CollectiveCall call(state.movement_communicator(), "World::set_group_mapping", mapping);
    state.set_group_mapping(mapping);
}

int run(int& argc, char**& argv, const std::function<bool(const World&)>& body) {
    const MpiSession session(argc, argv);
    bool is_right = false;
    try {
        is_right = body(World());
    } catch (const Error& error) {
        if (session.rank() == 0) std::fputs((std::string(error.what()) + "\n").c_str(), stderr);
    } catch (const std::exception& error) {  // the other ranks may be waiting for this one
        std::fputs(("error on rank " + std::to_string(session.rank()) + ": " + error.what() + "\n").c_str(), stderr);
        session.abort(1);
    }
    return is_right ? 0 : 1;
}

}  // namespace arges
