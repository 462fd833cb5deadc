// Vertices go where their smallest nets are, by sampled bounds as in sample sort.
#include "partition/hypergraph/vertex_moves.hpp"

#include <algorithm>
#include <numeric>
#include <span>

namespace arges::partition {

namespace {

using Numbers = Team::Numbers;

constexpr std::int64_t samples_of_rank = 256;

/// The smallest net of each vertex that has two pins or more, by its number in the whole; -1 without one.
Numbers smallest_nets(const HypergraphShare& share, const std::vector<std::int64_t>& sizes) {
    Numbers result;
    for (std::int64_t v = 0; v < share.hypergraph.vertices(); ++v) {
        std::int64_t best = -1, best_size = 0;
        for (auto net : share.hypergraph.nets_of(v)) {
            if (sizes[net] < 2 || (best >= 0 && sizes[net] >= best_size)) continue;
            best = share.nets[net];
            best_size = sizes[net];
        }
        result.push_back(best);
    }
    return result;
}

/// Rank r gets the vertices whose net is below bounds[r], and not below bounds[r - 1]; they have about equal numbers of pins.
Numbers sampled_bounds(const Team& team, const HypergraphShare& share, const Numbers& nets) {
    Numbers pins{share.hypergraph.pin_count()}, samples;
    team.sum(pins);
    team.agree([&] {
        std::vector<std::uint32_t> order(nets.size());
        std::iota(order.begin(), order.end(), 0u);
        std::sort(order.begin(), order.end(), [&](auto a, auto b) { return nets[a] < nets[b]; });
        const auto step = std::max<std::int64_t>(1, pins[0] / (samples_of_rank * team.size()));
        std::int64_t seen = 0;
        for (auto v : order) {
            if (nets[v] < 0) continue;
            const auto before = seen;
            seen += std::ssize(share.hypergraph.nets_of(v));
            samples.insert(samples.end(), static_cast<std::size_t>(seen / step - before / step), nets[v]);
        }
    });
    samples = team.all_gather(samples);
    Numbers bounds;
    team.agree([&] {
        std::sort(samples.begin(), samples.end());
        for (std::int64_t r = 1; r < team.size(); ++r)
            bounds.push_back(samples.empty() ? 0 : samples[r * samples.size() / static_cast<std::size_t>(team.size())]);
    });
    return bounds;
}

/// A vertex that another rank has sent: its number, weights, and nets with their costs.
struct Arrival {
    std::int64_t number = 0;
    std::span<const std::int64_t> weights, nets;
    std::size_t rank = 0, place = 0;
};

std::vector<Arrival> arrivals_in(const std::vector<Numbers>& messages, std::size_t constraints) {
    std::vector<Arrival> result;
    for (std::size_t r = 0; r < messages.size(); ++r) {
        const std::span<const std::int64_t> message(messages[r]);
        for (std::size_t at = 0, place = 0; at < message.size(); ++place) {
            const auto nets = message.subspan(at + constraints + 2, 2 * static_cast<std::size_t>(message[at + constraints + 1]));
            result.push_back({message[at], message.subspan(at + 1, constraints), nets, r, place});
            at += constraints + 2 + nets.size();
        }
    }
    std::sort(result.begin(), result.end(), [](const auto& a, const auto& b) { return a.number < b.number; });
    return result;
}

/// The share of these vertices.
HypergraphShare share_of(const std::vector<Arrival>& arrivals, int constraints, std::int64_t all_nets) {
    HypergraphShare result;
    result.all_nets = all_nets;
    HypergraphData data;
    data.constraints = constraints;
    data.vertices = std::ssize(arrivals);
    for (const auto& arrival : arrivals) {
        result.vertices.push_back(arrival.number);
        data.weights.insert(data.weights.end(), arrival.weights.begin(), arrival.weights.end());
        for (std::size_t i = 0; i < arrival.nets.size(); i += 2) result.nets.push_back(arrival.nets[i]);
    }
    std::sort(result.nets.begin(), result.nets.end());
    result.nets.erase(std::unique(result.nets.begin(), result.nets.end()), result.nets.end());

    const auto place_of = [&](std::int64_t net) {
        return static_cast<std::size_t>(std::lower_bound(result.nets.begin(), result.nets.end(), net) - result.nets.begin());
    };
    data.costs.assign(result.nets.size(), 0);
    data.net_begin.assign(result.nets.size() + 1, 0);
    std::vector<std::uint32_t> places;  // of the nets of all vertices
    for (const auto& arrival : arrivals)
        for (std::size_t i = 0; i < arrival.nets.size(); i += 2) {
            const auto net = place_of(arrival.nets[i]);
            places.push_back(net);
            data.costs[net] = arrival.nets[i + 1];
            ++data.net_begin[net + 1];
        }
    std::partial_sum(data.net_begin.begin(), data.net_begin.end(), data.net_begin.begin());
    data.pins.resize(places.size());
    auto next = data.net_begin;
    std::size_t at = 0;
    for (std::size_t v = 0; v < arrivals.size(); ++v)
        for (std::size_t i = 0; i < arrivals[v].nets.size(); i += 2) data.pins[next[places[at++]]++] = v;
    result.hypergraph = Hypergraph(std::move(data));
    return result;
}

}  // namespace

std::vector<std::int32_t> ranks_by_small_nets(const Team& team, const HypergraphShare& share, const std::vector<std::int64_t>& sizes) {
    Numbers nets;
    team.agree([&] { nets = smallest_nets(share, sizes); });
    const auto bounds = sampled_bounds(team, share, nets);
    std::vector<std::int32_t> result;
    team.agree([&] {
        for (auto net : nets)
            result.push_back(
                static_cast<std::int32_t>(net < 0 ? team.rank() : std::upper_bound(bounds.begin(), bounds.end(), net) - bounds.begin()));
    });
    return result;
}

MovedShare moved(const Team& team, const HypergraphShare& share, const std::vector<std::int64_t>& sizes, std::vector<std::int32_t> to) {
    const auto& h = share.hypergraph;
    const std::size_t ranks = team.size();
    MovedShare result;
    result.moves.to = std::move(to);
    std::vector<Numbers> messages(ranks);
    team.agree([&] {
        for (std::int64_t v = 0; v < h.vertices(); ++v) {
            auto& message = messages[result.moves.to[v]];
            message.push_back(share.vertices[v]);
            message.insert(message.end(), h.weights(v).begin(), h.weights(v).end());
            const auto length = message.size();
            message.push_back(0);
            for (auto i : h.nets_of(v)) {
                if (sizes[i] < 2) continue;
                message.push_back(share.nets[i]);
                message.push_back(h.cost(i));
                ++message[length];
            }
        }
    });
    messages = team.all_to_all(std::move(messages));
    team.agree([&] {
        const auto arrivals = arrivals_in(messages, h.constraints());
        result.share = share_of(arrivals, h.constraints(), share.all_nets);
        result.moves.from.resize(ranks);
        for (std::size_t v = 0; v < arrivals.size(); ++v) {
            auto& places = result.moves.from[arrivals[v].rank];
            places.resize(std::max(places.size(), arrivals[v].place + 1));
            places[arrivals[v].place] = v;
        }
    });
    return result;
}

VertexParts returned(const Team& team, const VertexMoves& moves, const VertexParts& parts) {
    if (moves.from.empty()) return parts;
    std::vector<Numbers> messages(moves.from.size());
    team.agree([&] {
        for (std::size_t r = 0; r < messages.size(); ++r)
            for (auto v : moves.from[r]) messages[r].push_back(parts[v]);
    });
    messages = team.all_to_all(std::move(messages));
    VertexParts result;
    team.agree([&] {
        std::vector<std::size_t> next(messages.size(), 0);
        for (auto rank : moves.to) {
            const std::size_t r = rank;
            result.push_back(messages[r][next[r]++]);
        }
    });
    return result;
}

}  // namespace arges::partition
