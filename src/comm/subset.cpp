#include "comm/subset.hpp"

#include "arges/error.hpp"

namespace arges {

std::optional<Communicator> subset(const Communicator& all, bool member) {
    MPI_Comm part = MPI_COMM_NULL;
    if (MPI_Comm_split(all.raw(), member ? 0 : MPI_UNDEFINED, static_cast<int>(all.rank()), &part) != MPI_SUCCESS)
        throw MpiError("MPI_Comm_split failed; MPI may have run out of communicators");
    if (!member) return std::nullopt;
    std::optional<Communicator> result(std::in_place, part);
    MPI_Comm_free(&part);
    return result;
}

}  // namespace arges
