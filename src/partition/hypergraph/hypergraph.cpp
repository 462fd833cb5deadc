// Hypergraphs with the nets of each vertex, and the connectivity cut of a partition (hypertensor-sc15, equation of chi).
#include "partition/hypergraph/hypergraph.hpp"

#include "arges/error.hpp"

#include <algorithm>
#include <limits>
#include <string>

namespace arges::partition {

namespace {

constexpr std::int64_t most_vertices = std::numeric_limits<std::uint32_t>::max();

std::int64_t checked_sum(std::int64_t a, std::int64_t b) {
    std::int64_t sum = 0;
    if (__builtin_add_overflow(a, b, &sum))
        throw InvalidArgument("the weights of a hypergraph's vertices add up to more than 2^63 - 1; scale them down");
    return sum;
}

void check_count(const Hypergraph& hypergraph, const VertexParts& parts) {
    if (std::ssize(parts) != hypergraph.vertices())
        throw InvalidArgument("a partition of " + std::to_string(parts.size()) + " vertices was given for a hypergraph of " +
                              std::to_string(hypergraph.vertices()) + "; give one part for each vertex");
    for (std::size_t v = 0; v < parts.size(); ++v)
        if (parts[v] < 0)
            throw InvalidArgument("vertex " + std::to_string(v) + " is in part " + std::to_string(parts[v]) +
                                  "; parts are numbered from 0");
}

}  // namespace

Hypergraph::Hypergraph(HypergraphData data)
    : vertices_(data.vertices), constraints_(data.constraints), net_begin_(std::move(data.net_begin)), pins_(std::move(data.pins)),
      costs_(std::move(data.costs)), weights_(std::move(data.weights)) {
    if (net_begin_.empty()) net_begin_.push_back(0);
    if (vertices_ < 0 || vertices_ > most_vertices || nets() > most_vertices)
        throw InvalidArgument("a hypergraph has " + std::to_string(vertices_) + " vertices and " + std::to_string(nets()) +
                              " nets; each must be below 2^32");
    if (constraints_ < 1) throw InvalidArgument("a hypergraph's vertices need at least one weight each");
    if (costs_.empty()) costs_.assign(nets(), 1);
    if (weights_.empty()) weights_.assign(vertices_ * constraints_, 1);
    check();
    drop_repeated_pins();
    find_incident_nets();
    add_weights();
}

void Hypergraph::check() const {
    if (net_begin_.front() != 0 || net_begin_.back() != std::ssize(pins_) || !std::is_sorted(net_begin_.begin(), net_begin_.end()))
        throw InvalidArgument("the positions of a hypergraph's nets must ascend from 0 to the number of pins");
    if (std::ssize(costs_) != nets())
        throw InvalidArgument("a hypergraph of " + std::to_string(nets()) + " nets got " + std::to_string(costs_.size()) +
                              " costs; give one for each net, or none");
    if (std::ssize(weights_) != vertices_ * constraints_)
        throw InvalidArgument("a hypergraph of " + std::to_string(vertices_) + " vertices and " + std::to_string(constraints_) +
                              " constraints got " + std::to_string(weights_.size()) + " weights; give all, or none");
    const auto negative = [](std::int64_t x) { return x < 0; };
    if (std::any_of(costs_.begin(), costs_.end(), negative) || std::any_of(weights_.begin(), weights_.end(), negative))
        throw InvalidArgument("a hypergraph has a negative cost or weight; they must be at least 0");
    const auto wrong = std::find_if(pins_.begin(), pins_.end(), [&](std::uint32_t pin) { return pin >= vertices_; });
    if (wrong != pins_.end())
        throw InvalidArgument("pin " + std::to_string(wrong - pins_.begin()) + " of a hypergraph is vertex " + std::to_string(*wrong) +
                              ", but there are only " + std::to_string(vertices_));
}

void Hypergraph::drop_repeated_pins() {
    std::vector<std::uint32_t> seen_in(vertices_, std::uint32_t(most_vertices));
    std::size_t to = 0, from = 0;
    for (std::size_t net = 0; net + 1 < net_begin_.size(); ++net) {
        const std::size_t end = net_begin_[net + 1];
        net_begin_[net] = to;
        for (; from < end; ++from) {
            auto& seen = seen_in[pins_[from]];
            if (seen == net) continue;
            seen = net;
            pins_[to++] = pins_[from];
        }
    }
    net_begin_.back() = to;
    pins_.resize(to);
}

void Hypergraph::find_incident_nets() {
    vertex_begin_.assign(static_cast<std::size_t>(vertices_) + 1, 0);
    for (auto pin : pins_) ++vertex_begin_[std::size_t{pin} + 1];
    for (std::size_t v = 1; v < vertex_begin_.size(); ++v) vertex_begin_[v] += vertex_begin_[v - 1];
    incident_.resize(pins_.size());
    auto next = vertex_begin_;
    for (std::int64_t net = 0; net < nets(); ++net)
        for (auto pin : pins(net)) incident_[next[pin]++] = static_cast<std::uint32_t>(net);
}

void Hypergraph::add_weights() {
    total_weights_.assign(constraints_, 0);
    for (std::int64_t v = 0; v < vertices_; ++v)
        for (std::size_t c = 0; c < total_weights_.size(); ++c) total_weights_[c] = checked_sum(total_weights_[c], weights(v)[c]);
}

Hypergraph with_unit_weights(const Hypergraph& hypergraph) {
    HypergraphData data;
    data.vertices = hypergraph.vertices();
    for (std::int64_t net = 0; net < hypergraph.nets(); ++net) {
        const auto pins = hypergraph.pins(net);
        data.pins.insert(data.pins.end(), pins.begin(), pins.end());
        data.net_begin.push_back(std::ssize(data.pins));
        data.costs.push_back(hypergraph.cost(net));
    }
    return Hypergraph(std::move(data));
}

std::vector<std::int32_t> connectivity(const Hypergraph& hypergraph, const VertexParts& parts) {
    check_count(hypergraph, parts);
    const auto highest = parts.empty() ? 0 : *std::max_element(parts.begin(), parts.end());
    std::vector<std::int64_t> seen_in(static_cast<std::size_t>(highest) + 1, -1);
    std::vector<std::int32_t> result(hypergraph.nets(), 0);
    for (std::int64_t net = 0; net < hypergraph.nets(); ++net)
        for (auto pin : hypergraph.pins(net)) {
            auto& seen = seen_in[parts[pin]];
            if (seen != net) ++result[net];
            seen = net;
        }
    return result;
}

std::int64_t cut(const Hypergraph& hypergraph, const VertexParts& parts) {
    const auto lambda = connectivity(hypergraph, parts);
    std::int64_t sum = 0;
    for (std::int64_t net = 0; net < hypergraph.nets(); ++net) sum += hypergraph.cost(net) * std::max(0, lambda[net] - 1);
    return sum;
}

std::vector<std::int64_t> part_weights(const Hypergraph& hypergraph, const VertexParts& parts, std::int64_t count) {
    check_count(hypergraph, parts);
    const auto constraints = hypergraph.constraints();
    std::vector<std::int64_t> result(count * constraints, 0);
    for (std::int64_t v = 0; v < hypergraph.vertices(); ++v) {
        const auto part = parts[v];
        if (part >= count)
            throw InvalidArgument("vertex " + std::to_string(v) + " is in part " + std::to_string(part) + " of " + std::to_string(count) +
                                  "; parts are numbered from 0");
        for (int c = 0; c < constraints; ++c) result[std::int64_t{part} * constraints + c] += hypergraph.weight(v, c);
    }
    return result;
}

double imbalance(const Hypergraph& hypergraph, const VertexParts& parts, std::int64_t count) {
    const auto weights = part_weights(hypergraph, parts, count);
    double worst = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
        const auto total = hypergraph.total_weights()[i % hypergraph.total_weights().size()];
        if (total == 0) continue;
        const double mean = static_cast<double>(total) / count;
        worst = std::max(worst, static_cast<double>(weights[i]) / mean - 1);
    }
    return worst;
}

}  // namespace arges::partition
