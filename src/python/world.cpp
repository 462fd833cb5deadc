// Worlds.
#include "python/bindings.hpp"

#include "arges/mpi_session.hpp"
#include "comm/processes.hpp"
#include "interface/world/world_state.hpp"

namespace arges::python {

namespace {

/// MPI where nobody else has initialised it; until finalize().
std::unique_ptr<MpiSession> session;

/// @param comm    handle of a communicator as Fortran has it; none: all processes
/// @param device  none: what ARGES_DEVICE says
World made_world(std::optional<std::int64_t> comm, const Extents& torus, const std::optional<std::string>& device, std::int64_t memory) {
    if (!mpi_is_running()) {
        int argc = 0;
        char** argv = nullptr;
        session = std::make_unique<MpiSession>(argc, argv);
    }
    const Torus shape = torus.empty() ? Torus() : Torus(torus);
    if (!device && memory != 0) throw InvalidArgument("World: device_memory without a device; give device=\"cuda\", too");
    if (!device) return World(communicator_of_fortran(comm), shape);
    return World(communicator_of_fortran(comm), Device(parse_device(*device, "device"), memory), shape);
}

/// A copy of a tensor on another world; ranks without the source or the target give none, and get none without the target.
std::optional<AnyTensor> transferred(const World& meeting, const AnyTensor* source, const std::optional<World>& target) {
    auto type = source != nullptr ? static_cast<std::int64_t>(source->element()) : -1;
    if (!meeting.is_dry_run()) {
        const auto own = type;
        type = meeting.state()->communicator().maximum(type);
        meeting.agree([&] {
            if (own >= 0 && own != type)
                throw InvalidArgument("transfer: the source has other element types on some ranks; give the same tensor");
        });
    }
    if (type < 0) throw InvalidArgument("transfer: no rank of the meeting world has the source tensor");
    const AnyTensor none;
    auto result =
        transfer(static_cast<ElementType>(type), meeting, source != nullptr ? *source : none, target ? *target : World::outside());
    if (!target) return std::nullopt;
    return result;
}

nb::dict report_of(const OperationReport& report) {
    return named("bytes_sent", report.bytes_sent, "bytes_planned", report.bytes_planned, "peak_memory_bytes", report.peak_memory_bytes,
                 "messages_sent", report.messages_sent, "exposed_seconds", report.exposed_seconds, "seconds", report.seconds);
}

}  // namespace

void bind_world(nb::module_& module) {
    nb::class_<World>(module, "World")
        .def_static("make", &made_world, nb::arg("comm").none(), nb::arg("torus"), nb::arg("device").none(), nb::arg("device_memory"))
        .def_static(
            "dry_run",
            [](std::optional<std::int64_t> ranks, const Extents& torus, std::int64_t ranks_per_node, std::string file,
               std::string coordinates) {
                PlannedMachine machine;
                machine.ranks = ranks;
                machine.torus = torus.empty() ? Torus() : Torus(torus);
                machine.ranks_per_node = ranks_per_node;
                machine.file = std::move(file);
                machine.coordinates = std::move(coordinates);
                return World::dry_run(machine);
            },
            nb::arg("ranks").none(), nb::arg("torus"), nb::arg("ranks_per_node"), nb::arg("file"), nb::arg("coordinates"))
        .def_prop_ro("size", &World::size)
        .def_prop_ro("rank", &World::rank)
        .def_prop_ro("torus", [](const World& w) { return w.torus().lengths(); })
        .def_prop_ro("is_dry_run", &World::is_dry_run)
        .def_prop_ro("memory_limit", &World::memory_limit)
        .def("set_memory_limit", &World::set_memory_limit)
        .def_prop_ro("device", [](const World& w) { return to_string(w.device().kind); })
        .def_prop_ro("device_memory_limit", [](const World& w) { return w.device().memory_limit; })
        .def_prop_ro("device_memory_in_use", &World::device_memory_in_use)
        .def_prop_ro("memory_in_use", &World::memory_in_use)
        .def_prop_ro("memory_peak", &World::memory_peak)
        .def("reset_peak", &World::reset_peak)
        .def("last_report", [](const World& w) { return report_of(w.last_report()); })
        .def("total_report", [](const World& w) { return report_of(w.total_report()); })
        .def("agree", &agree, nb::arg("work"), nb::arg("same"))
        .def("all_equal",
             [](const World& w, nb::handle value) {
                 const auto* const ranks = w.state()->movement_communicator();
                 return ranks == nullptr || ranks->all_equal(digest_of({value}));
             })
        .def("broadcast",
             [](const World& w, std::string text) {
                 w.state()->communicator().broadcast(text, 0);
                 return text;
             })
        .def("__eq__", [](const World& a, const World& b) { return a == b; })
        .def("__hash__", [](const World& w) { return reinterpret_cast<std::uintptr_t>(w.state().get()); });
    module.def("transfer", &transferred, nb::arg("meeting"), nb::arg("source").none(), nb::arg("target").none());
    module.def("mpi_is_running", &mpi_is_running);
    module.def("mpi_is_ours", [] { return session != nullptr; });
    module.def("abort", [] {
        if (session) session->abort(1);
    });
    module.def("finalize", [] { session.reset(); });
}

}  // namespace arges::python
