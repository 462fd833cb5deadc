/// Hypergraphs whose vertices are spread over the ranks of a team, and partitions of them. Pure: what ranks tell each other goes through
/// Team.
#pragma once

#include "partition/hypergraph/hypergraph.hpp"
#include "partition/hypergraph/kway_refine.hpp"
#include "partition/hypergraph/partition_hypergraph.hpp"
#include "partition/tensor_part.hpp"

#include <cstdint>
#include <limits>
#include <vector>

namespace arges::partition {

/// What a rank has of a hypergraph: some of the vertices, and of each net its pins among them.
struct HypergraphShare {
    Hypergraph hypergraph;               ///< of these vertices, and the nets that have some of them
    std::vector<std::int64_t> vertices;  ///< numbers in the whole hypergraph, ascending
    std::vector<std::int64_t> nets;      ///< numbers in the whole hypergraph, ascending; a net costs the same on all ranks
    std::int64_t all_nets = 0;           ///< of the whole hypergraph
};

/// A whole hypergraph on rank 0, with the vertices in order of their numbers.
struct GatheredHypergraph {
    Hypergraph hypergraph;                ///< on other ranks an empty one
    std::vector<Team::Numbers> vertices;  ///< on rank 0, which of its vertices each rank has, in the rank's order
};

/// Where the pins of all ranks are.
struct PinPlaces {
    std::int64_t cut = 0;  ///< sum over the nets of cost * (connectivity - 1), on all ranks
    OtherVertices others;  ///< of other ranks, without weights
};

/// The nets of a hypergraph that is spread: net n is looked after by rank n mod ranks, to which all ranks tell what they have of it.
class SpreadNets {
public:
    /// Looks at the nets of `share` as long as it lives. Collective.
    SpreadNets(const Team& team, const HypergraphShare& share);

    /// All nets under their numbers. Collective.
    GatheredHypergraph gathered() const { return gathered(0, largest); }
    /// Nets of two pins or more. Collective. @param most pins; the nets that have most pins, and so say least, are left out beyond
    GatheredHypergraph gathered(std::int64_t most) const { return gathered(2, size_limit(most)); }

    /// Pins of this rank's nets on all ranks. Collective.
    std::vector<std::int64_t> sizes() const;

    /// @param parts of this rank's vertices. Collective.
    PinPlaces places(const VertexParts& parts) const;

private:
    static constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();

    /// Nets of at least `fewest` and at most `most` pins; with 0 all of them are there under their numbers.
    GatheredHypergraph gathered(std::int64_t fewest, std::int64_t most) const;
    /// Tells rank 0 of vertices, which it numbers without gaps, and of their weights. @return numbers of this rank's vertices there
    Team::Numbers gather_vertices(HypergraphData& data, std::vector<Team::Numbers>& vertices) const;
    /// Nets of so many pins, put together by their owners: on rank 0 by owner, each with its number, cost, and pins behind their count.
    /// @param positions  numbers of this rank's vertices
    std::vector<Team::Numbers> gather_nets(const Team::Numbers& positions, std::int64_t fewest, std::int64_t most) const;
    /// The largest size up to which all nets of two pins or more together have at most so many pins.
    std::int64_t size_limit(std::int64_t pins) const;
    std::size_t owner(std::int64_t net) const { return net % team_.size(); }
    std::size_t owned() const { return costs_.size(); }
    /// Calls f(net, list) for each of the lists of a rank, each behind its length, of nets that this one looks after.
    template <class F>
    void for_each_list(std::size_t rank, const Team::Numbers& lists, F f) const;

    /// What all ranks say of each net that this one looks after, by rank. @param entry of a number in a list
    template <class AllLists, class F>
    AllLists joined(const std::vector<Team::Numbers>& lists, F entry) const;

    const Team& team_;
    const HypergraphShare& share_;
    std::vector<std::vector<std::uint32_t>> known_;  ///< by rank, which of the nets that this one looks after it has, ascending: n / ranks
    std::vector<std::int64_t> costs_;                ///< of those nets
};

/// What cut() says of a hypergraph that is spread. @param parts of this rank's vertices. Collective.
std::int64_t cut(const Team& team, const HypergraphShare& share, const VertexParts& parts);

/// Memory that spread partitions take at most, in bytes: for each pin that a rank has, and on rank 0 for each that it gathers.
inline constexpr std::int64_t spread_bytes = 100, gathered_bytes = 150;

/// Pins that rank 0 gathers at most.
std::int64_t most_gathered_pins(const PartitionOptions& options);

/// Parts of this rank's vertices, of a small cut and balanced as those of partition_hypergraph(). Ranks cluster their own vertices, rank 0
/// partitions the clusters, and on the way back ranks move their vertices by turns of greedy refinement, each within its share of what
/// parts may still take. All that is done twice: the first parts are rough ones, by which vertices come together on ranks. Where all
/// vertices and pins are no more than what may be gathered, the parts are those of partition_hypergraph() for the whole hypergraph. Else
/// they depend on the number of ranks. Collective.
/// @throws InvalidArgument as check_partition()
VertexParts partition_spread(const Team& team, HypergraphShare share, std::int64_t parts, const PartitionOptions& options = {});

}  // namespace arges::partition
