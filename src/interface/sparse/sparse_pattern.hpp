/// Where the nonzeros of sparse tensors are; tensors may share it.
#pragma once

#include "interface/world/world_state.hpp"
#include "layout/sparse_layout.hpp"
#include "sparse/nonzeros.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace arges {

class SparseOrbits;

/// Coordinates of the nonzeros of this rank, accounted for with the world as those of the rank that has most. They do not change; a tensor
/// that is the only one with a pattern may take it apart.
class SparsePattern : public sparse::NonzeroIndices {
public:
    /// On which ranks nonzeros are.
    enum class Place {
        anywhere,
        by_hash,   ///< each on the rank that the hash of its indices names
        by_layout  ///< each on the rank that `layout` names, where a statement has left it
    };

    /// Local; with the same numbers on all ranks. @param all, most  nonzeros over all ranks, and of the rank that has most
    SparsePattern(WorldState& of, sparse::NonzeroIndices coordinates, Place where, std::uint64_t number, std::int64_t all,
                  std::int64_t most, std::optional<SparseLayout> by = {})
        : NonzeroIndices(std::move(coordinates)), place(where), layout(std::move(by)), identity(number), total(all), most_here(most),
          held_(of, bytes(order(), most)) {}

    /// Of the coordinates of so many nonzeros.
    static std::int64_t bytes(int order, std::int64_t count) { return count * order * std::int64_t{sizeof(std::int64_t)}; }
    /// What is accounted for.
    std::int64_t held() const { return held_.bytes(); }

    const Place place;
    const std::optional<SparseLayout> layout;  ///< where nonzeros lie that a statement has put there
    const std::uint64_t identity;              ///< of all patterns of the world only this one has it; the same on all ranks
    const std::int64_t total;                  ///< nonzeros over all ranks
    const std::int64_t most_here;              ///< of the rank that has most
    /// How many times the mean the rank has that would have most, where that has been counted.
    mutable std::vector<std::pair<SparseLayout, double>> imbalances;
    /// All elements of the orbits, if they are representatives and a product has asked for them.
    mutable std::shared_ptr<const SparseOrbits> orbits;

private:
    HeldMemory held_;  // tensors hold the world, which may hold patterns itself
};

}  // namespace arges
