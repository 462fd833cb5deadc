/// Movements whose messages are relayed along lines of the torus: every rank of a group gathers what the others have, or sums of what all
/// have are scattered over the group. All pieces of a message are passed on from rank to rank, so that a link carries each of them once.
/// Pure.
#pragma once

#include "plan/movement/movement.hpp"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace arges {

/// A movement that may be relayed.
struct RelayShape {
    bool gathers = true;     ///< false: sums are scattered
    std::vector<int> torus;  ///< along these the ranks of a group differ, ascending
    std::vector<int> slots;  ///< by slot of the side that is spread more widely: the one over the same labels on the other side
};

/// The shape of a movement that may be relayed: slots lie on both sides alike, but for further torus dimensions on the side that is spread
/// more widely; along them every rank needs all that the others have, or has parts of all sums.
std::optional<RelayShape> relay_shape(const Movement& spec);

/// Elements of the buffer that a rank sends or receives at once.
struct RelayPiece {
    std::int64_t peer = 0, begin = 0, count = 0;
};

/// Messages that are under way at the same time.
struct RelayStep {
    std::vector<RelayPiece> sends, receives;
};

/// What a rank does in a movement with stages. There is a buffer with a block for each rank of the group: what it has of the side that is
/// spread more widely. A gather fills it, step by step: after a stage a rank has the blocks of all ranks that differ from it along the
/// dimensions of the stages so far. Sums take the same steps backwards, the other way, and add what arrives to what is there.
/// Example: a ring of 4 ranks with a block each; rank 0 sends block 0 both ways, then receives halves of block 2 from both sides.
class Relay {
public:
    /// @param spec  has stages that name each dimension of relay_shape() once
    Relay(const Movement& spec, std::int64_t rank);

    bool gathers() const { return gathers_; }
    /// In the order in which they are taken.
    const std::vector<RelayStep>& steps() const { return steps_; }
    /// Of the buffer.
    std::int64_t elements() const { return begin_.back(); }
    /// The block of a rank of the group.
    RelayPiece block_of(std::int64_t peer) const;
    /// Elements that are received in a step, at most.
    std::int64_t most_received() const;
    Volume volume() const;

private:
    struct Member {
        std::int64_t coordinate, ranks;  // of the rank along the stage
    };
    void take_stage(const std::vector<Member>& members, std::size_t stage, const RankGrid& grid, const RelayStage& how, std::int64_t rank);

    bool gathers_ = true;
    std::vector<std::pair<std::int64_t, std::size_t>> blocks_;  // by rank of the group
    std::vector<std::int64_t> begin_;                           // of blocks in the buffer, and its end
    std::vector<RelayStep> steps_;
};

/// Elements of the buffers that a movement with stages takes on any rank, at most.
std::int64_t relay_buffers(const Movement& spec);

}  // namespace arges
