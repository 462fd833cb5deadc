/// What a SparseTensor holds.
#pragma once

#include "arges/sparse_tensor.hpp"
#include "interface/world_state.hpp"
#include "sparse/nonzeros.hpp"

#include <memory>
#include <string>
#include <vector>

namespace arges {

inline constexpr int max_sparse_order = 16;
inline constexpr std::int64_t max_sparse_length = std::int64_t{1} << 62;

/// The nonzeros of one sparse tensor on this rank.
template <class T>
class SparseState {
public:
    /// No nonzeros. Local.
    /// @throws InvalidArgument if the lengths do not make a sparse tensor, or the world has no data
    SparseState(World handle, std::vector<std::int64_t> lengths, std::string title);
    ~SparseState() { world->hold(-held_); }
    SparseState(const SparseState&) = delete;
    SparseState& operator=(const SparseState&) = delete;

    const sparse::Nonzeros<T>& local() const { return local_; }
    /// Values on this rank, to be changed in place.
    std::vector<T>& values() { return local_.values; }
    /// True if every nonzero is on the rank that the hash of its indices names.
    bool at_home() const { return at_home_; }
    const Communicator& comm() const { return world->communicator(); }
    /// Name for messages.
    std::string title() const { return name.empty() ? "sparse tensor" : name; }

    /// Takes over nonzeros of this tensor, each coordinate on one rank only. Collective.
    /// @throws OutOfMemory if a rank has more than the memory limit allows
    void replace(sparse::Nonzeros<T> nonzeros, bool at_home);
    /// Gives the nonzeros away and keeps none. Collective.
    sparse::Nonzeros<T> take();
    /// The same nonzeros. Local.
    std::shared_ptr<SparseState> copy() const;

    World world_handle;
    std::shared_ptr<WorldState> world;
    std::string name;

private:
    sparse::Nonzeros<T> local_;
    bool at_home_ = true;
    std::int64_t held_ = 0;  // of the rank that has most, so that accounts are equal on all ranks
};

/// Bytes of `count` nonzeros.
template <class T>
std::int64_t nonzeros_bytes(int order, std::int64_t count) {
    return count * (order * static_cast<std::int64_t>(sizeof(std::int64_t)) + static_cast<std::int64_t>(sizeof(T)));
}

/// No nonzeros, with columns for the modes.
template <class T>
sparse::Nonzeros<T> no_nonzeros(std::vector<std::int64_t> lengths) {
    sparse::Nonzeros<T> none;
    none.lengths = std::move(lengths);
    none.indices.resize(none.lengths.size());
    return none;
}

/// The tensor's state. @throws InvalidArgument if there is none
template <class T>
SparseState<T>& state_of(const SparseTensor<T>& tensor, const char* where);

}  // namespace arges
