// The functions of arges.h for worlds.
#include "arges/error.hpp"
#include "c/arges_c.hpp"
#include "comm/processes.hpp"

using namespace arges::c;
using arges::Torus;
using arges::World;

namespace {

Torus torus_of(const char* text) { return text == nullptr ? Torus() : Torus::parse(text); }

/// What a world is to be on; not given: what ARGES_DEVICE says.
struct GivenDevice {
    const char* kind = nullptr;
    std::int64_t memory = 0;
    bool is_given = false;
};

/// The arguments are looked at by all ranks together, before there is a world.
void create_world(MPI_Comm comm, const GivenDevice& device, const char* torus, arges_world** world) {
    std::unique_ptr<arges_world> box;
    Torus shape;
    std::optional<arges::Device> place;
    arges::Communicator(comm).agree([&] {
        given(world, "world");
        box = std::make_unique<arges_world>();
        shape = torus_of(torus);
        if (device.is_given) place.emplace(arges::parse_device(text_of(device.kind, "device"), "device"), device.memory);
    });
    box->world = place ? World(comm, *place, shape) : World(comm, shape);
    *world = box.release();
}

}  // namespace

arges_status arges_world_create(MPI_Comm comm, const char* torus, arges_world** world) {
    return guarded(__func__, [&] { create_world(comm, {}, torus, world); });
}

arges_status arges_world_create_f(MPI_Fint comm, const char* torus, arges_world** world) {
    return guarded(__func__, [&] { create_world(arges::communicator_of_fortran(comm), {}, torus, world); });
}

arges_status arges_world_create_on_device(MPI_Comm comm, const char* device, int64_t device_memory, const char* torus,
                                          arges_world** world) {
    return guarded(__func__, [&] { create_world(comm, {device, device_memory, true}, torus, world); });
}

arges_status arges_world_create_on_device_f(MPI_Fint comm, const char* device, int64_t device_memory, const char* torus,
                                            arges_world** world) {
    return guarded(__func__, [&] { create_world(arges::communicator_of_fortran(comm), {device, device_memory, true}, torus, world); });
}

arges_status arges_world_create_dry_run(int64_t ranks, const char* torus, int64_t ranks_per_node, const char* machine_file,
                                        const char* coordinates_file, arges_world** world) {
    return guarded(__func__, [&] {
        given(world, "world");
        arges::PlannedMachine machine;
        if (ranks != 0 || (torus == nullptr && coordinates_file == nullptr)) machine.ranks = ranks;
        machine.torus = torus_of(torus);
        machine.ranks_per_node = ranks_per_node;
        if (machine_file != nullptr) machine.file = machine_file;
        if (coordinates_file != nullptr) machine.coordinates = coordinates_file;
        *world = std::make_unique<arges_world>(arges_world{World::dry_run(machine)}).release();
    });
}

arges_status arges_world_copy(const arges_world* world, arges_world** copy) {
    return guarded(__func__, [&] {
        const auto& own = given(world, "world").world;
        given(copy, "copy");
        *copy = std::make_unique<arges_world>(arges_world{own}).release();
    });
}

arges_status arges_world_destroy(arges_world* world) {
    delete world;
    return ARGES_OK;
}

arges_status arges_world_size(const arges_world* world, int64_t* size) {
    return guarded(__func__, [&] { given(size, "size") = given(world, "world").world.size(); });
}

arges_status arges_world_rank(const arges_world* world, int64_t* rank) {
    return guarded(__func__, [&] { given(rank, "rank") = given(world, "world").world.rank(); });
}

arges_status arges_world_agree(const arges_world* world, arges_status status, const char* message) {
    return guarded(__func__, [&] {
        const auto own = [&] {
            const std::string text = message == nullptr ? "" : message;
            switch (choice<arges_status>(status, ARGES_ERROR, "status")) {
            case ARGES_OK: return;
            case ARGES_INVALID_ARGUMENT: throw arges::InvalidArgument(text);
            case ARGES_OUT_OF_MEMORY: throw arges::OutOfMemory(text);
            case ARGES_UNSUPPORTED: throw arges::Unsupported(text);
            case ARGES_MPI_ERROR: throw arges::MpiError(text);
            default: throw arges::Error(text);
            }
        };
        if (world == nullptr)
            own();
        else
            world->world.agree(own);
    });
}

arges_status arges_world_memory_limit(const arges_world* world, int64_t* bytes) {
    return guarded(__func__, [&] { given(bytes, "bytes") = given(world, "world").world.memory_limit(); });
}

arges_status arges_world_set_memory_limit(arges_world* world, int64_t bytes) {
    return guarded(__func__, [&] { given(world, "world").world.set_memory_limit(bytes); });
}

arges_status arges_world_memory(const arges_world* world, int64_t* in_use, int64_t* peak) {
    return guarded(__func__, [&] {
        const auto& own = given(world, "world").world;
        const auto now = own.memory_in_use(), most = own.memory_peak();
        if (in_use != nullptr) *in_use = now;
        if (peak != nullptr) *peak = most;
    });
}

arges_status arges_world_reset_peak(arges_world* world) {
    return guarded(__func__, [&] { given(world, "world").world.reset_peak(); });
}

arges_status arges_world_report(const arges_world* world, int64_t* bytes_sent, int64_t* messages, double* seconds) {
    return guarded(__func__, [&] {
        const auto report = given(world, "world").world.total_report();
        if (bytes_sent != nullptr) *bytes_sent = report.bytes_sent;
        if (messages != nullptr) *messages = report.messages_sent;
        if (seconds != nullptr) *seconds = report.seconds;
    });
}
