/// An owned MPI communicator with typed, counted, large-count calls. The only code that calls MPI is in this folder.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace arges {

/// Payload bytes that this rank sent to other ranks.
struct Traffic {
    std::int64_t bytes_sent = 0;
    std::int64_t messages_sent = 0;
    double seconds = 0;  ///< that exchanges kept this rank: what of their time was not hidden behind work between start() and finish()
};

/// One contiguous piece of memory to send to or receive from a rank.
struct Piece {
    std::int64_t peer = 0;
    std::byte* data = nullptr;
    std::int64_t bytes = 0;
};

/// Requests of an exchange under way.
struct PendingExchange {
    std::vector<MPI_Request> requests;
};

/// A duplicate of a communicator, freed with the last copy. All calls throw MpiError when MPI reports an error, and OutOfMemory on every
/// rank where one has no memory for what it is to receive. Where ARGES_CALL_TIMEOUT
/// is set (in checked builds by default), ranks compare their collective calls before they make them, see RollCall.
class Communicator {
public:
    /// Duplicates `comm`. Collective. @throws InvalidArgument if MPI is not initialised or the communicator is null, or if
    /// ARGES_CALL_TIMEOUT is wrong
    explicit Communicator(MPI_Comm comm);

    std::int64_t rank() const { return rank_; }
    std::int64_t size() const { return size_; }
    MPI_Comm raw() const;

    /// Number of ranks on each node, if it is the same on all and node members are consecutive; else 1. Collective.
    std::int64_t ranks_per_node() const;
    /// Of each rank, the first rank on its node. Collective.
    std::vector<std::int64_t> nodes() const;
    /// Ranks that share this rank's node. Collective.
    std::int64_t ranks_on_my_node() const;

    /// Of each rank of another communicator, its number here; -1 where it is not here. Local.
    std::vector<std::int64_t> numbers_of(const Communicator& other) const;

    /// Starts a point-to-point exchange of pieces; messages over the limit are split. Counted as traffic. The pieces'
    /// memory must stay as it is until finish().
    /// @param channel  from 0: exchanges that are under way together, and whose order may differ between ranks, take different ones
    PendingExchange start(const std::vector<Piece>& sends, const std::vector<Piece>& receives, int channel = 0) const;
    /// Waits for a started exchange.
    void finish(PendingExchange& pending) const;
    /// start() and finish().
    void exchange(const std::vector<Piece>& sends, const std::vector<Piece>& receives) const;
    /// Largest message sent in one piece, in bytes; lowered by tests.
    void set_message_limit(std::int64_t bytes) const;
    /// Bytes for each rank; returns what each rank sends to this one. Counted as traffic.
    std::vector<std::vector<std::byte>> all_to_all(const std::vector<std::vector<std::byte>>& to_rank) const;
    /// A number for each rank; returns what each rank has for this one. Not counted as traffic. Collective.
    std::vector<std::int64_t> all_to_all_counts(const std::vector<std::int64_t>& to_rank) const;
    /// Contributions of all ranks, concatenated by rank, on every rank, in the room that `room` gives for so many bytes; `counts` gets
    /// their lengths.
    void all_gather(const std::byte* mine, std::int64_t bytes, const std::function<std::byte*(std::int64_t)>& room,
                    std::vector<std::int64_t>* counts = nullptr) const;
    /// Contributions of all ranks, concatenated by rank, on `root`; empty elsewhere.
    std::vector<std::byte> gather(const std::vector<std::byte>& mine, std::int64_t root) const;
    void broadcast(void* data, std::int64_t bytes, std::int64_t root) const;
    /// Gives every rank the root's text or values, whatever their number. Collective.
    void broadcast(std::string& text, std::int64_t root) const;
    template <class V>
    requires std::is_trivially_copyable_v<V>
    void broadcast(std::vector<V>& values, std::int64_t root) const {
        const auto count = value_of(std::ssize(values), root);
        agree([&] { values.resize(count); });
        broadcast(values.data(), values.size() * sizeof(V), root);
    }
    std::int64_t maximum(std::int64_t value) const;
    std::int64_t minimum(std::int64_t value) const;
    std::int64_t sum(std::int64_t value) const;
    /// Sums over ranks of `count` integers, of the same number on every rank. Not counted as traffic, as the calls on single values.
    /// Collective.
    void sum(std::int64_t* values, std::int64_t count) const;
    /// Sums over ranks of `count` doubles by recursive doubling: about log2(P) messages of `count` doubles per rank, counted as traffic.
    /// Which values are added to which depends on P only, as MPI does not promise for its own reduction, so the result is bitwise the same
    /// on every rank and each time. Collective.
    void sum(double* values, std::int64_t count) const;
    void barrier() const;
    /// Waits for all ranks however long it takes, with no core kept busy, no word about waiting and no time limit: for ranks whose work is
    /// expected to take differently long. Collective.
    void rest() const;
    /// True if all ranks give the same number. Collective.
    bool all_equal(std::uint64_t value) const;

    /// Runs `work`; if it throws on any rank, every rank throws the exception of the lowest such rank. `minima`, which `work` may set,
    /// become the minima over the ranks with the same message; their number must be the same on all. Collective.
    void agree(const std::function<void()>& work, std::span<std::int64_t> minima = {}) const;

    const Traffic& traffic() const;

private:
    /// The root's value, on every rank.
    std::int64_t value_of(std::int64_t value, std::int64_t root) const;
    /// Compares with the other ranks what this one is about to do.
    void meet(const char* step) const;
    /// Minima over the ranks, in place.
    void minima_of(std::span<std::int64_t> values) const;

    struct Handle;
    std::shared_ptr<Handle> handle_;
    std::int64_t rank_ = 0, size_ = 1;
};

/// Does MPI say that it takes arrays in the memory of CUDA devices? One that does not ends the process where it is given one. Local.
bool mpi_takes_cuda_arrays();

/// This process's number among all that MPI started together. Local.
std::int64_t process_number();
/// How many there are. Local.
std::int64_t process_count();

/// Reinterprets values as bytes and back, for the calls above.
template <class T>
std::vector<std::byte> to_bytes(const std::vector<T>& values) {
    const auto* first = reinterpret_cast<const std::byte*>(values.data());
    return {first, first + values.size() * sizeof(T)};
}
template <class T>
std::vector<T> from_bytes(const std::vector<std::byte>& bytes) {
    std::vector<T> values(bytes.size() / sizeof(T));
    std::copy(bytes.begin(), bytes.end(), reinterpret_cast<std::byte*>(values.data()));
    return values;
}

/// Communicator::agree(); without a communicator, on one rank, just the work.
inline void agree(const Communicator* comm, const std::function<void()>& work) {
    if (comm != nullptr)
        comm->agree(work);
    else
        work();
}

/// A communicator of the ranks for which `member` is true, in the same order; nothing on the others. Collective over `all`.
std::optional<Communicator> subset(const Communicator& all, bool member);

/// A communicator of the ranks that give the same number, in the same order. Collective. @param number  from 0
Communicator alike(const Communicator& all, int number);

/// The same ranks in another order. Collective. @param rank  that this one gets: on all ranks together a permutation
Communicator reordered(const Communicator& all, std::int64_t rank);

}  // namespace arges
