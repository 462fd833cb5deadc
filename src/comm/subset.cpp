#include "comm/subset.hpp"

#include "arges/error.hpp"

namespace arges {

namespace {

/// Of the members, by ascending key.
std::optional<Communicator> split(const Communicator& all, bool member, std::int64_t key) {
    MPI_Comm part = MPI_COMM_NULL;
    if (MPI_Comm_split(all.raw(), member ? 0 : MPI_UNDEFINED, static_cast<int>(key), &part) != MPI_SUCCESS)
        throw MpiError("MPI_Comm_split failed; MPI may have run out of communicators");
    if (!member) return std::nullopt;
    std::optional<Communicator> result(std::in_place, part);
    MPI_Comm_free(&part);
    return result;
}

}  // namespace

std::optional<Communicator> subset(const Communicator& all, bool member) { return split(all, member, all.rank()); }

Communicator reordered(const Communicator& all, std::int64_t rank) { return *split(all, true, rank); }

}  // namespace arges
