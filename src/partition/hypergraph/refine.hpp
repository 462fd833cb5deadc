/// Bisections of hypergraphs and their refinement by Fiduccia and Mattheyses' method.
#pragma once

#include "partition/hypergraph/hypergraph.hpp"
#include "partition/hypergraph/hypergraph_random.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace arges::partition {

/// Most that each side of a bisection should weigh, by side and constraint.
using SideLimits = std::array<std::vector<std::int64_t>, 2>;

/// How good a bisection is: first the weight above the limits, as a share of all, then the cut.
struct BisectionQuality {
    double overload = 0;
    std::int64_t cut = 0;
    auto operator<=>(const BisectionQuality&) const = default;
};

/// Vertices by gain, best first; of equal ones the last that came. Several queues share the vertices: each is in one at most.
class GainQueues {
public:
    /// @param largest absolute value of a gain; gains are told apart in at most `buckets` steps
    GainQueues(std::size_t vertices, std::size_t queues, std::int64_t largest, std::int64_t buckets);

    void insert(std::uint32_t v, std::size_t queue, std::int64_t gain);
    void remove(std::uint32_t v);
    bool contains(std::uint32_t v) const { return bucket_[v] != none; }
    /// The first vertex of a queue, or `none`.
    std::uint32_t top(std::size_t queue);
    /// The vertex behind another one of the same gain, or `none`.
    std::uint32_t behind(std::uint32_t v) const { return next_[v]; }
    void clear();

    static constexpr std::uint32_t none = ~0u;

private:
    int shift_ = 0;
    std::int64_t offset_ = 0;  ///< bucket of gain 0
    std::size_t buckets_ = 0;  ///< of a queue
    std::vector<std::uint32_t> head_, next_, previous_, bucket_;
    std::vector<std::int64_t> highest_;  ///< by queue: no bucket above has a vertex
};

/// A bisection that is changed vertex by vertex.
class Bisection {
public:
    Bisection(const Hypergraph& hypergraph, SideLimits limits, WorkBudget& work);

    /// Starts from these sides.
    void assign(std::vector<std::uint8_t> sides);
    /// Starts with all on side 1 and moves vertices to side 0, from a seed on, always one with the largest gain, until side 0 has
    /// its share of the weight (greedy hypergraph growing).
    void grow(std::uint32_t seed, double share, RandomNumbers& random);
    /// Passes of FM until one improves nothing, `passes` at most.
    void refine(int passes);

    const std::vector<std::uint8_t>& sides() const { return side_; }
    BisectionQuality quality() const { return {overload(), cut_}; }

private:
    struct Choice {
        std::uint32_t vertex = GainQueues::none;
        std::int64_t gain = 0;
    };
    std::int64_t gain(std::uint32_t v) const;
    void queue(std::uint32_t v);
    void move(std::uint32_t v, bool update);
    void change_gains(std::uint32_t net, std::int64_t by);
    void change_gain(std::uint32_t v, std::int64_t by);
    double overload() const;
    double overload_after(std::uint32_t v) const;
    bool may_move(std::uint32_t v, double now) const;
    Choice choose();
    void begin_pass(bool queue_all);
    bool pass();

    const Hypergraph& hypergraph_;
    SideLimits limits_;
    WorkBudget& work_;
    std::size_t constraints_;
    GainQueues queues_;
    std::vector<std::uint8_t> side_, locked_;
    std::vector<std::uint8_t> heaviest_;  ///< constraint that a vertex weighs most in
    std::vector<std::int64_t> gains_;
    std::vector<std::array<std::uint32_t, 2>> pins_;  ///< of each net on each side
    std::vector<std::array<std::uint32_t, 2>> xor_;   ///< exclusive or of those pins: the pin itself where there is one
    std::array<std::vector<std::int64_t>, 2> weight_;
    std::vector<std::uint32_t> moved_;
    std::int64_t cut_ = 0;
};

}  // namespace arges::partition
