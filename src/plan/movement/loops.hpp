/// Movements as nests of loops, where lists of elements would be as long as the data: slots that share labels crosswise, or whole composite
/// nodes.
#pragma once

#include "arges/element_kernels.hpp"
#include "plan/movement/components.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace arges {

/// Elements of a movement that follow each other in a message: entry i goes from `from + list.from[i]` to `to + list.to[i]`. Offsets
/// of the sender are right on the sending rank, those of the receiver on the receiving one.
struct LoopRun {
    local::ListedTransfer list;
    std::int64_t from = 0, to = 0;
};

/// A part of the loops of one term. Entries of different parts of a term have different targets.
struct LoopPart {
    std::size_t term = 0;
    std::int64_t begin = 0, end = 0;
};

/// A movement, v = all values of its labels: for each term all labels but two are fixed in turn. What a slot then says of the two,
/// where it has only one of them, is a short list. A node over children that has both, in two of them, adds up its element from the
/// children's numbers: the inner loop is cut where the children change their order, and is sorted by what its child adds to the coordinate,
/// so that the values for a coordinate follow each other. Both sides of a message run through the same loops, so that they need no lists
/// and agree on the order. Example: (ae|bf) with eightfold symmetry to sym(a,b) sym(e,f): b and e are fixed, f runs, and a runs up to where
/// (ae) passes (bf), then on.
class MovementLoops {
public:
    /// Null where lists are short, or where no two labels can be separated; else all components become one.
    /// @param always  short ones too
    static std::unique_ptr<const MovementLoops> make(const Movement& spec, std::vector<MovementComponent>& components, bool always = false);
    ~MovementLoops();

    /// Coordinates of the component's slots on each side, combined with the first slot fastest.
    std::int64_t from_grid_length() const;
    std::int64_t to_grid_length() const;
    /// The combined coordinate of a rank, which must not be idle.
    std::int64_t from_coordinate(std::int64_t rank) const;
    std::int64_t to_coordinate(std::int64_t rank) const;

    /// All loops, in order.
    const std::vector<LoopPart>& parts() const { return parts_; }
    /// Calls f for what a coordinate of the source sends to a coordinate of the target in a part.
    void for_each_run(const LoopPart& part, std::int64_t from_coordinate, std::int64_t to_coordinate,
                      const std::function<void(LoopRun&)>& f) const;
    /// Bytes of the tables, about.
    std::int64_t bytes() const;

private:
    class Nest;
    class Walk;
    MovementLoops(const Movement& spec, const MovementComponent& component);

    Movement spec_;
    std::vector<int> from_slots_, to_slots_;
    std::vector<std::unique_ptr<const Nest>> nests_;  // by term
    std::vector<LoopPart> parts_;
};

}  // namespace arges
