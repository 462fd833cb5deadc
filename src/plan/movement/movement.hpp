/// What a movement of elements between two layouts means, and how much a rank moves, without the list of its messages. Pure description.
#pragma once

#include "layout/layout.hpp"
#include "topology/interconnect.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace arges {

/// One summand of a movement: where a target element has the label values v, the source is read at v[image[label]].
struct LabelTerm {
    std::vector<int> image;
    bool negative = false;
    bool conjugate = false;
    bool operator==(const LabelTerm&) const = default;
};

/// The term that changes no label.
LabelTerm identity_term(std::size_t labels);

/// A stage of a movement that is relayed: ranks that differ only along some torus dimensions, one dimension of the torus before it was
/// unfolded or a part of it, pass on what they hold.
struct RelayStage {
    std::vector<int> torus;  ///< by ascending strides, so that a combined coordinate counts ranks as they lie on the line
    RelayWay way = RelayWay::direct;
    bool operator==(const RelayStage&) const = default;
};

/// to(v) = sum over terms of (+-) from(term v), for all label values v. A label that occurs twice on one side is a diagonal;
/// a label that only the target has is broadcast. Labels that only the source has are not allowed (contract them first).
/// The two sides may lie on different grids of the same ranks.
/// With symmetry on the target one element of each orbit is computed, so the right-hand side must have that symmetry.
struct Movement {
    Layout from, to;
    std::vector<int> from_labels, to_labels;  ///< label of each dimension
    std::vector<std::int64_t> label_extents;
    std::vector<std::int64_t> from_offset, to_offset;  ///< per dimension, for slices; empty: zero
    std::vector<LabelTerm> terms;                      ///< at least one
    std::vector<RelayStage> stages;                    ///< see Relay; empty: every message goes straight to its rank
    /// Of an element of the source, where it has another type than the target, or lies in another memory: elements are converted and
    /// copied where they arrive, a window at a time. 0: the same type and memory.
    std::int64_t from_bytes = 0;

    /// Ranks that hold something on either side.
    std::int64_t ranks() const { return std::max(from.grid().ranks(), to.grid().ranks()); }
    /// Bytes of an element in messages, of which the target's has so many.
    std::int64_t message_bytes(std::int64_t element_bytes) const { return from_bytes != 0 ? from_bytes : element_bytes; }
    LabelTerm identity() const { return identity_term(label_extents.size()); }
    bool operator==(const Movement&) const = default;
};

/// The movement of every element to the same indices of another layout of the same order. The extents are those of the source, unless parts
/// of the two sides are named by offsets later.
Movement copy_between(const Layout& from, const Layout& to);

/// The torus dimensions along which its elements change ranks; all of them where the two sides lie on different grids.
Dimensions exchanged_dimensions(const Movement& spec);

/// Messages that the busiest rank receives where they go straight to their ranks, in closed form: a product over slots and parts of sums.
/// It is exact where no group is packed or unpacked and there are indices for all pairs of coordinates, else an upper bound.
double message_count(const Movement& spec);

/// Bytes or elements that a rank sends to and receives from other ranks.
struct Volume {
    std::int64_t sent = 0;
    std::int64_t received = 0;
    bool operator==(const Volume&) const = default;
};

/// Elements that are converted at a time at most, of so many in all.
std::int64_t converted_at_once(std::int64_t count);
/// Bytes of the room in which they are. @param from_bytes  of an element before; 0: nothing is converted
std::int64_t conversion_bytes(std::int64_t count, std::int64_t from_bytes, std::int64_t element_bytes);
/// Likewise of a movement that writes so many elements for each of its terms.
std::int64_t conversion_bytes(const Movement& spec, std::int64_t written, std::int64_t element_bytes);

/// Equal to MovementRun(comm, spec, rank).volume(). Where a rank has messages for most of a very large machine this is far cheaper:
/// the messages are a product over components, so only sums over each component's short lists are needed.
Volume movement_volume(const Movement& spec, std::int64_t rank);

/// What a movement takes on any rank at most.
struct MovementBound {
    Volume volume;                    ///< elements, where messages go straight to their ranks
    std::int64_t buffers = 0;         ///< elements of all messages that there is room for
    std::int64_t list_bytes = 0;      ///< of the lists that MovementRun keeps
    std::int64_t building_bytes = 0;  ///< besides, while they are built
};

/// Elements are counted where that is quick; the rest follows from extents, so that it costs nothing for any number of elements
/// and ranks.
MovementBound movement_bound(const Movement& spec);

}  // namespace arges
