// Worlds: one for each communicator, so that tensors of several `World` objects meet.
#include "comm/attached.hpp"
#include "cyclops/body.hpp"

namespace CTF {

namespace {

/// All worlds so far.
std::vector<std::weak_ptr<CTF_int::WorldBody>>& bodies() {
    static std::vector<std::weak_ptr<CTF_int::WorldBody>> all;
    return all;
}

std::shared_ptr<CTF_int::WorldBody> body_of(MPI_Comm comm) {
    return std::static_pointer_cast<CTF_int::WorldBody>(arges::attached(comm, [&] {
        auto body = std::make_shared<CTF_int::WorldBody>(CTF_int::WorldBody{arges::World(comm)});
        std::erase_if(bodies(), [](const auto& old) { return old.expired(); });
        bodies().emplace_back(body);
        return body;
    }));
}

}  // namespace

World::World(MPI_Comm communicator, int /*ppn*/, int /*argc*/, char* const* /*argv*/) : comm(communicator), rank(0), np(0) {
    arges::size_and_rank(comm, np, rank);
    body_ = body_of(comm);
}

World::World(MPI_Comm communicator, int argc, char* const* argv) : World(communicator, 1, argc, argv) {}
World::World(int argc, char* const* argv) : World(MPI_COMM_WORLD, 1, argc, argv) {}

World& get_universe() {
    static World* universe = nullptr;
    if (universe == nullptr) {
        universe = new World(MPI_COMM_WORLD);
        arges::at_end_of_mpi([] {
            delete universe;
            universe = nullptr;
        });
    }
    return *universe;
}

}  // namespace CTF

namespace CTF_int {

std::int64_t get_tensor_data_bytes_allocated() {
    std::int64_t bytes = 0;
    for (const auto& body : CTF::bodies())
        if (const auto world = body.lock()) bytes += world->world.memory_in_use();
    return bytes;
}

void factorize(int n, int* nfactor, int** factor) {
    std::vector<int> primes;
    for (int p = 2; n > 1; ++p)
        for (; n % p == 0; n /= p) primes.push_back(p);
    *nfactor = static_cast<int>(primes.size());
    *factor = static_cast<int*>(std::malloc(sizeof(int) * std::max<std::size_t>(primes.size(), 1)));
    std::copy(primes.begin(), primes.end(), *factor);
}

}  // namespace CTF_int
