/// The element lists of a movement on one rank: what goes to whom, in an order on which both sides agree without keys.
#pragma once

#include "plan/movement/components.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace arges {

/// Elements whose offsets are arithmetic progressions.
struct EntryProgression {
    std::int64_t count = 0;
    std::int64_t from = 0, from_stride = 0;  ///< as in the lists of EntryGroup
    std::int64_t to = 0, to_stride = 0;
    std::uint8_t factor = 0;  ///< of all
};

/// Elements of one component that are shared with one group of peers. Bit 0 of a factor negates, bit 1 conjugates.
struct EntryGroup {
    std::int64_t peer = 0;                          ///< the peers' combined coordinate in the component's slots
    std::optional<EntryProgression> progression{};  ///< in place of the lists
    std::vector<std::int64_t> from;                 ///< offset in the source array (receiving side: only right if the peer is this rank)
    std::vector<std::int64_t> to;                   ///< offset in the target array (empty on the sending side)
    std::vector<std::uint8_t> factor;               ///< empty: all +1
    /// In place of the lists, where the movement is a nest of loops: elements before each part of the loops, and their number.
    std::vector<std::int64_t> part_begin;
    std::int64_t count() const {
        if (progression) return progression->count;
        return part_begin.empty() ? std::ssize(from) : part_begin.back();
    }
};

/// One component's lists on one rank.
struct ComponentLists {
    std::vector<EntryGroup> send;     ///< by coordinate in the target
    std::vector<EntryGroup> receive;  ///< by coordinate in the source
};

/// A message between this rank and a peer: the Cartesian product of one group per component, first component fastest.
struct MovementMessage {
    std::int64_t peer = 0;
    std::vector<const EntryGroup*> groups;
    std::int64_t count = 1;
};

struct PairUnpack;
struct PairSplit;
class MovementLoops;

/// Whether loops take the place of lists: where lists would be long, or wherever it is possible (for tests).
enum class LoopUse : std::uint8_t { by_size, always };

/// Everything that one rank needs to take part in a movement.
class MovementLists {
public:
    /// Walks this rank's elements on both sides, or counts them. O(elements of the components on this rank); touches no data.
    MovementLists(const Movement& spec, std::int64_t rank, LoopUse loops = LoopUse::by_size);
    ~MovementLists();
    MovementLists(const MovementLists&) = delete;
    MovementLists& operator=(const MovementLists&) = delete;

    /// Messages to other ranks and from other ranks, by ascending peer; those of the rank itself are in the second only.
    const std::vector<MovementMessage>& sends() const { return sends_; }
    const std::vector<MovementMessage>& receives() const { return receives_; }
    /// Elements sent to and received from other ranks.
    Volume volume() const { return volume_; }
    /// Memory of the lists, in bytes.
    std::int64_t bytes() const;
    /// True if no target element is written more than once.
    bool single_source() const { return single_source_; }
    /// True if the target's labels are a slice or a diagonal: other elements of the target are not touched.
    bool pattern() const { return pattern_; }
    /// Set where the movement needs no element lists; then there are no messages.
    const PairUnpack* pair() const { return pair_.get(); }
    /// Set where the movement fills one part of a joint pair; then there are no messages either.
    const PairSplit* split() const { return split_.get(); }
    /// Set where the movement is a nest of loops: the messages' groups have no lists then.
    const MovementLoops* loops() const { return loops_.get(); }
    /// Target elements that this rank writes, copies of a sum's parts counted each.
    std::int64_t written() const;

private:
    std::vector<ComponentLists> components_;
    std::vector<MovementMessage> sends_, receives_;
    Volume volume_;
    bool single_source_ = true, pattern_ = false;
    std::unique_ptr<const PairUnpack> pair_;
    std::unique_ptr<const PairSplit> split_;
    std::unique_ptr<const MovementLoops> loops_;
};

/// Lists of one component, for MovementLists and tests.
ComponentLists component_lists(const Movement& spec, const MovementComponent& component, std::int64_t rank);
/// The same without lists, with the counts of the parts of the loops.
ComponentLists counted_lists(const Movement& spec, const MovementLoops& loops, std::int64_t rank);

}  // namespace arges
