/// All ways to join two disjoint connected subsets of a graph that an edge connects.
#pragma once

#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

namespace arges {

/// Visits every pair of disjoint, connected, adjacent subsets of at most 64 vertices once, after all pairs that join to
/// either of the two: DPccp of Moerkotte and Neumann (VLDB 2006). The work is proportional to the pairs visited.
class ConnectedPairs {
public:
    /// By vertex, its neighbours as bits.
    explicit ConnectedPairs(std::vector<std::uint64_t> neighbours) : neighbours_(std::move(neighbours)) {}

    /// Calls visit(first, second) until it returns false; false if it did.
    template <class Visit>
    bool for_each(Visit&& visit) const {
        for (auto v = neighbours_.size(); v-- > 0;) {
            const auto start = std::uint64_t{1} << v;
            if (!(with_partners(start, visit) && grow(start, up_to(start), [&](std::uint64_t set) { return with_partners(set, visit); })))
                return false;
        }
        return true;
    }

    /// Number of pairs, or a number above `limit` if there are more.
    std::int64_t count(std::int64_t limit) const {
        std::int64_t pairs = 0;
        for_each([&](std::uint64_t, std::uint64_t) { return ++pairs <= limit; });
        return pairs;
    }

private:
    /// The vertex and all below it.
    static std::uint64_t up_to(std::uint64_t vertex) { return (vertex << 1) - 1; }

    std::uint64_t neighbours_of(std::uint64_t set) const {
        std::uint64_t result = 0;
        for (auto rest = set; rest != 0; rest &= rest - 1) result |= neighbours_[std::countr_zero(rest)];
        return result & ~set;
    }

    /// Visits the larger connected sets that contain `set` and none of `excluded` besides; subsets of others first.
    template <class Visit>
    bool grow(std::uint64_t set, std::uint64_t excluded, const Visit& visit) const {
        const auto next = neighbours_of(set) & ~excluded;
        for (auto s = next & -next; s != 0; s = (s - next) & next)
            if (!visit(set | s)) return false;
        for (auto s = next & -next; s != 0; s = (s - next) & next)
            if (!grow(set | s, excluded | next, visit)) return false;
        return true;
    }

    /// Visits the pairs of `set` and a set of vertices above its lowest.
    template <class Visit>
    bool with_partners(std::uint64_t set, Visit& visit) const {
        const auto excluded = up_to(set & -set) | set;
        const auto next = neighbours_of(set) & ~excluded;
        for (auto rest = next; rest != 0;) {
            const auto start = std::bit_floor(rest);
            rest ^= start;
            const auto pair = [&](std::uint64_t partner) { return visit(set, partner); };
            if (!pair(start) || !grow(start, excluded | (up_to(start) & next), pair)) return false;
        }
        return true;
    }

    std::vector<std::uint64_t> neighbours_;
};

}  // namespace arges
