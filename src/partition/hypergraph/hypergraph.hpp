/// Hypergraphs with weighted vertices and nets with costs, and what is counted of their partitions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace arges::partition {

/// What a hypergraph is made of.
struct HypergraphData {
    std::int64_t vertices = 0;
    int constraints = 1;                     ///< weights of each vertex
    std::vector<std::int64_t> net_begin{0};  ///< nets + 1 positions in `pins`
    std::vector<std::uint32_t> pins;         ///< vertices of net 0, of net 1, ...
    std::vector<std::int64_t> costs;         ///< of nets; none: all 1
    std::vector<std::int64_t> weights;       ///< of vertex 0 in all constraints, of vertex 1, ...; none: all 1
};

/// A hypergraph: vertices with one or several weights, and nets, each a set of vertices (its pins) with a cost. Up to 2^32 - 1
/// vertices and nets; any number of pins.
class Hypergraph {
public:
    Hypergraph() : Hypergraph(HypergraphData{}) {}
    /// Pins that a net has twice are dropped.
    /// @throws InvalidArgument if positions do not ascend, a pin is no vertex, a weight or cost is negative, or sizes do not
    /// agree
    explicit Hypergraph(HypergraphData data);

    std::int64_t vertices() const { return vertices_; }
    std::int64_t nets() const { return std::ssize(net_begin_) - 1; }
    std::int64_t pin_count() const { return net_begin_.back(); }
    int constraints() const { return constraints_; }

    std::span<const std::uint32_t> pins(std::int64_t net) const { return range(pins_, net_begin_, net); }
    std::int64_t cost(std::int64_t net) const { return costs_[net]; }

    /// The nets that have the vertex, ascending.
    std::span<const std::uint32_t> nets_of(std::int64_t vertex) const { return range(incident_, vertex_begin_, vertex); }
    /// All weights of a vertex.
    std::span<const std::int64_t> weights(std::int64_t vertex) const {
        return {weights_.data() + vertex * constraints_, static_cast<std::size_t>(constraints_)};
    }
    std::int64_t weight(std::int64_t vertex, int constraint = 0) const { return weights_[vertex * constraints_ + constraint]; }
    /// Sum over the vertices, by constraint.
    const std::vector<std::int64_t>& total_weights() const { return total_weights_; }

private:
    static std::span<const std::uint32_t> range(const std::vector<std::uint32_t>& all, const std::vector<std::int64_t>& begin,
                                                std::int64_t i) {
        const auto first = begin[i], last = begin[i + 1];
        return {all.data() + first, static_cast<std::size_t>(last - first)};
    }
    void check() const;
    void drop_repeated_pins();
    void find_incident_nets();
    void add_weights();

    std::int64_t vertices_ = 0;
    int constraints_ = 1;
    std::vector<std::int64_t> net_begin_, vertex_begin_;
    std::vector<std::uint32_t> pins_, incident_;
    std::vector<std::int64_t> costs_, weights_, total_weights_;
};

/// The same hypergraph with one weight, 1, for each vertex.
Hypergraph with_unit_weights(const Hypergraph& hypergraph);

/// Part of each vertex.
using VertexParts = std::vector<std::int32_t>;

/// Number of parts that a net connects, for every net: 0 without pins.
std::vector<std::int32_t> connectivity(const Hypergraph& hypergraph, const VertexParts& parts);

/// Sum over the nets of cost * (connectivity - 1), the cut that counts communication (hypertensor-sc15, equation of chi).
/// @throws InvalidArgument if there is not one part, 0 or above, for each vertex
std::int64_t cut(const Hypergraph& hypergraph, const VertexParts& parts);

/// Weight of every part in every constraint: [part * constraints + constraint].
/// @throws InvalidArgument if a part is not below `count`
std::vector<std::int64_t> part_weights(const Hypergraph& hypergraph, const VertexParts& parts, std::int64_t count);

/// Largest part weight / mean part weight - 1 over all constraints; constraints without weight do not count.
double imbalance(const Hypergraph& hypergraph, const VertexParts& parts, std::int64_t count);

}  // namespace arges::partition
