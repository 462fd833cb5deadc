/// @file world.hpp
/// The ranks that tensors live on, arranged as a torus, with a memory limit.
#pragma once

#include "arges/device.hpp"
#include "arges/group_mapping.hpp"
#include "arges/torus.hpp"

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace arges {

/// @cond
struct MachineModel;
class WorldState;
/// @endcond

/// What one operation moved and computed on this rank; see World::last_report().
struct OperationReport {
    std::int64_t bytes_sent = 0;         ///< payload bytes sent to other ranks, measured
    std::int64_t bytes_planned = 0;      ///< what the plan promised for this rank
    std::int64_t peak_memory_bytes = 0;  ///< planned peak of working memory on a rank
    std::int64_t messages_sent = 0;      ///< to other ranks
    double exposed_seconds = 0;          ///< that messages kept the rank: not hidden behind its products
    double seconds = 0;                  ///< from the call to its end, planning and waiting for other ranks included
};

/// How the ranks of a World are numbered.
enum class RankOrder : std::uint8_t {
    given,      ///< as in the communicator, unless ARGES_COORDINATES or ARGES_RANK_ORDER says otherwise
    by_machine  ///< by coordinates on the torus where ARGES_COORDINATES has them, else the ranks of a node follow each other
};

/// The ranks that tensors are spread over. A copy refers to the same world. Any communicator will do, several
/// worlds may be used at once; MPI_Init is the caller's, and every world and tensor must be gone before MPI_Finalize.
class World {
public:
    /// All ranks of `comm` (which is duplicated). Collective.
    /// @param comm  any intra-communicator
    /// @param torus shape of the machine; detected when empty: ranks of a node innermost, then prime factors
    /// @param order numbers of the ranks: another order than that of `comm` changes rank() and communicator(), no result
    /// @throws InvalidArgument if MPI is not initialised, if the torus does not hold the ranks of `comm`, or if the file of coordinates
    /// does not fit
    explicit World(MPI_Comm comm = MPI_COMM_WORLD, const Torus& torus = {}, RankOrder order = RankOrder::given);
    /// Likewise with the elements of dense tensors on a device; without one ARGES_DEVICE says where. The smallest memory_limit counts.
    /// Collective.
    /// @throws InvalidArgument also if ranks give different devices, there is no such device, or the library was built without it
    World(MPI_Comm comm, const Device& device, const Torus& torus = {}, RankOrder order = RankOrder::given);
    /// All processes, likewise on a device. Collective.
    explicit World(const Device& device, const Torus& torus = {});
    /// All processes, on a machine with these constants (arges/machine.hpp); the file of stored ones is not looked at. On the device, or
    /// where ARGES_DEVICE says. Collective.
    explicit World(const MachineModel& machine, const std::optional<Device>& device = {});
    /// A world of imaginary ranks for planning, e.g. dry_run(4096) or dry_run({4096, Torus({16, 16, 16})}): no MPI, no data. Tensors on it
    /// have no storage; statements are planned and accounted for but not executed, scalars come out as zero. What needs data (files, sparse
    /// tensors, decompositions, linear algebra) is refused.
    /// @throws InvalidArgument for less than one or more than 2^31 - 1 ranks, a torus or coordinates that do not hold them, nodes that do
    /// not divide them, or a file that cannot be read
    static World dry_run(const PlannedMachine& machine);

    /// Number of ranks.
    std::int64_t size() const;
    /// The calling rank in communicator(), which may be another than in the communicator that was given, see RankOrder (0 in a dry run).
    std::int64_t rank() const;
    /// Shape of the torus.
    const Torus& torus() const;
    /// The world of ranks that do not take part; for transfer() only.
    static World outside();
    /// False for outside().
    bool takes_part() const { return state_ != nullptr; }
    /// True for a world made by dry_run().
    bool is_dry_run() const;
    /// The duplicated communicator, in the world's order (MPI_COMM_NULL in a dry run).
    MPI_Comm communicator() const;

    /// Runs local work, checks of arguments for example, that may throw on some ranks; every rank then throws the exception of the lowest
    /// one, so that none goes on alone. The work may not call anything collective. Collective.
    void agree(const std::function<void()>& work) const;
    /// The largest value that a rank gives, on every rank. Collective; so are the next three.
    std::int64_t maximum(std::int64_t value) const;
    /// The sum of the values of all ranks, on every rank.
    std::int64_t sum(std::int64_t value) const;
    /// Likewise; the same bits on every rank.
    double sum(double value) const;
    /// The text that rank 0 gives, on every rank.
    std::string from_first(std::string text) const;

    /// Limit in bytes on what tensors and operations hold on one rank. Default: the memory available to the
    /// node and its control group, divided by the ranks on the node, or ARGES_MEMORY_LIMIT.
    std::int64_t memory_limit() const;
    /// Sets the limit. Collective: the smallest value given counts.
    void set_memory_limit(std::int64_t bytes);
    /// How symmetric groups are spread over the ranks. Default: GroupMapping::packed, or ARGES_GROUP_MAPPING.
    GroupMapping group_mapping() const;
    /// Sets it for tensors and statements to come; tensors stay where they are. Collective.
    /// @throws InvalidArgument if the ranks give different values
    void set_group_mapping(GroupMapping mapping);
    /// Bytes that tensors of this world hold on this rank now.
    std::int64_t memory_in_use() const;
    /// Largest value so far of tensors plus planned working memory on this rank, workspace that is kept for later statements
    /// included; set back by reset_peak().
    std::int64_t memory_peak() const;
    /// The device, with the limit of its memory; of none, without one.
    Device device() const;
    /// Bytes that tensors of this world hold in the device's memory on this rank now.
    std::int64_t device_memory_in_use() const;
    /// Starts a new measurement of memory_peak().
    void reset_peak();

    /// Report of the latest statement executed on this world, for this rank. Local.
    const OperationReport& last_report() const;
    /// Report of the latest statement, for all ranks: sums of bytes and messages, the largest peak and time. Collective.
    OperationReport total_report() const;

    /// Same world, not only equal ranks.
    bool operator==(const World& other) const { return state_ == other.state_; }

    /// @cond
    const std::shared_ptr<WorldState>& state() const { return state_; }
    /// @endcond

private:
    explicit World(std::shared_ptr<WorldState> state);
    std::shared_ptr<WorldState> state_;
};

/// A program on all processes of MPI: `int main(int argc, char** argv) { return arges::run(argc, argv, [](const World& world) {...}); }`.
/// MPI runs while the body does; all tensors are gone before it ends. An Error, which all ranks see alike, is printed by the first rank;
/// any other exception is printed by the rank that throws it, and ends all ranks. Collective.
/// @param argc, argv  of main(); MPI may take some of them away
/// @param body        the program; is its result right?
/// @return what main() returns: 0, or 1 if the result is not right or there was an error
int run(int& argc, char**& argv, const std::function<bool(const World&)>& body);

}  // namespace arges
