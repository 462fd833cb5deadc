// Nets of a hypergraph on many ranks, each with one that looks after it, as owners of rows are in sparse decompositions.
#include "partition/hypergraph/spread_hypergraph.hpp"

#include "base/math.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace arges::partition {

namespace {

using Numbers = Team::Numbers;

/// Lists for each of `owned` things, one behind the other.
template <class V>
struct Lists {
    std::vector<std::int64_t> begin;
    std::vector<V> values;

    std::span<V> of(std::size_t i) { return {values.data() + begin[i], static_cast<std::size_t>(begin[i + 1] - begin[i])}; }
};

/// Appends a list behind its length, whose place is known before the list is.
class ListWriter {
public:
    explicit ListWriter(Numbers& to) : to_(to), length_(to.size()) { to.push_back(0); }
    void add(std::int64_t value) {
        to_.push_back(value);
        ++to_[length_];
    }
    std::span<std::int64_t> list() { return std::span(to_).subspan(length_ + 1); }

private:
    Numbers& to_;
    std::size_t length_;
};

/// What the owner of a net knows of it: a part, and how many ranks have pins there.
struct PartRanks {
    std::int32_t part = 0;
    std::int32_t ranks = 0;
};

/// Puts the different parts of a net first, with the number of ranks. @return how many there are
std::int64_t join_parts(std::span<PartRanks> all) {
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.part < b.part; });
    std::int64_t different = 0;
    for (const auto& place : all)
        if (different > 0 && all[different - 1].part == place.part)
            ++all[different - 1].ranks;
        else
            all[different++] = place;
    return different;
}

}  // namespace

SpreadNets::SpreadNets(const Team& team, const HypergraphShare& share) : team_(team), share_(share) {
    const std::size_t ranks = team.size();
    std::vector<Numbers> lists(ranks);
    team.agree([&] {
        for (std::size_t i = 0; i < share.nets.size(); ++i) {
            auto& list = lists[owner(share.nets[i])];
            list.push_back(share.nets[i]);
            list.push_back(share.hypergraph.cost(static_cast<std::int64_t>(i)));
        }
    });
    lists = team.all_to_all(std::move(lists));
    team.agree([&] {
        known_.resize(ranks);
        costs_.assign(count_residues(share.all_nets, team.rank(), team.size()), 0);
        for (std::size_t r = 0; r < ranks; ++r)
            for (std::size_t i = 0; i < lists[r].size(); i += 2) {
                known_[r].push_back(lists[r][i] / team.size());
                costs_[known_[r].back()] = lists[r][i + 1];
            }
    });
}

template <class F>
void SpreadNets::for_each_list(std::size_t rank, const Numbers& lists, F f) const {
    std::size_t at = 0;
    for (auto net : known_[rank]) {
        const std::size_t length = lists[at];
        f(std::size_t{net}, std::span(lists).subspan(at + 1, length));
        at += length + 1;
    }
}

template <class AllLists, class F>
AllLists SpreadNets::joined(const std::vector<Numbers>& lists, F entry) const {
    AllLists result{std::vector<std::int64_t>(owned() + 1, 0), {}};
    for (std::size_t r = 0; r < lists.size(); ++r)
        for_each_list(r, lists[r], [&](std::size_t net, auto list) { result.begin[net + 1] += std::ssize(list); });
    for (std::size_t net = 0; net < owned(); ++net) result.begin[net + 1] += result.begin[net];
    result.values.resize(result.begin.back());
    auto next = result.begin;
    for (std::size_t r = 0; r < lists.size(); ++r)
        for_each_list(r, lists[r], [&](std::size_t net, auto list) {
            for (auto number : list) result.values[next[net]++] = entry(number);
        });
    return result;
}

std::int64_t SpreadNets::size_limit(std::int64_t pins) const {
    const auto all = sizes();
    const auto pins_up_to = [&](std::int64_t most) {
        Numbers sum{0};
        for (std::size_t net = 0; net < all.size(); ++net)
            if (all[net] > 1 && all[net] <= most) sum[0] += std::ssize(share_.hypergraph.pins(net));
        team_.sum(sum);
        return sum[0];
    };
    std::int64_t limit = 1;
    for (auto step = std::int64_t{1} << 32; step > 0; step /= 2)
        if (pins_up_to(limit + step) <= pins) limit += step;
    return limit;
}

Numbers SpreadNets::gather_vertices(HypergraphData& data, std::vector<Numbers>& vertices) const {
    const auto& mine = share_.hypergraph;
    const std::size_t ranks = team_.size(), constraints = mine.constraints();
    std::vector<Numbers> messages(ranks);
    team_.agree([&] { messages[0] = share_.vertices; });
    messages = team_.all_to_all(std::move(messages));
    team_.agree([&] {
        if (team_.rank() != 0) return;
        Numbers all;
        for (const auto& list : messages) all.insert(all.end(), list.begin(), list.end());
        std::sort(all.begin(), all.end());
        for (auto& list : messages)
            for (auto& number : list) number = std::lower_bound(all.begin(), all.end(), number) - all.begin();
        data.vertices = std::ssize(all);
        vertices = messages;
    });
    auto positions = std::move(team_.all_to_all(std::move(messages))[0]);

    messages.assign(ranks, {});
    team_.agree([&] {
        for (std::int64_t v = 0; v < mine.vertices(); ++v)
            messages[0].insert(messages[0].end(), mine.weights(v).begin(), mine.weights(v).end());
    });
    messages = team_.all_to_all(std::move(messages));
    team_.agree([&] {
        if (team_.rank() != 0) return;
        data.weights.resize(static_cast<std::size_t>(data.vertices) * constraints);
        for (std::size_t r = 0; r < ranks; ++r)
            for (std::size_t i = 0; i < messages[r].size(); ++i)
                data.weights[static_cast<std::size_t>(vertices[r][i / constraints]) * constraints + i % constraints] = messages[r][i];
    });

    return positions;
}

std::vector<Numbers> SpreadNets::gather_nets(const Numbers& positions, std::int64_t fewest, std::int64_t most) const {
    const auto& mine = share_.hypergraph;
    std::vector<Numbers> messages(team_.size()), nets(team_.size());
    team_.agree([&] {
        for (std::int64_t net = 0; net < mine.nets(); ++net) {
            ListWriter list(messages[owner(share_.nets[net])]);
            for (auto pin : mine.pins(net)) list.add(positions[pin]);
        }
    });
    messages = team_.all_to_all(std::move(messages));
    team_.agree([&] {
        auto pins = joined<Lists<std::uint32_t>>(messages, [](std::int64_t pin) { return static_cast<std::uint32_t>(pin); });
        for (std::size_t net = 0; net < owned(); ++net) {
            const auto all = pins.of(net);
            const auto size = std::ssize(all);
            if (size < fewest || size > most) continue;
            std::sort(all.begin(), all.end());
            nets[0].push_back(static_cast<std::int64_t>(net) * team_.size() + team_.rank());
            nets[0].push_back(costs_[net]);
            ListWriter list(nets[0]);
            for (auto pin : all) list.add(pin);
        }
    });
    messages.clear();
    return team_.all_to_all(std::move(nets));
}

GatheredHypergraph SpreadNets::gathered(std::int64_t fewest, std::int64_t most) const {
    GatheredHypergraph result;
    HypergraphData data;
    data.constraints = share_.hypergraph.constraints();
    auto nets = gather_nets(gather_vertices(data, result.vertices), fewest, most);
    team_.agree([&] {
        if (team_.rank() != 0) return;
        std::vector<std::size_t> next(team_.size(), 0);
        for (std::int64_t net = 0; net < share_.all_nets; ++net) {
            const auto& list = nets[owner(net)];
            auto& at = next[owner(net)];
            const bool is_there = at < list.size() && list[at] == net;
            if (!is_there && fewest > 0) continue;
            data.costs.push_back(is_there ? list[at + 1] : 0);
            if (is_there) {
                const auto pins = std::span(list).subspan(at + 3, list[at + 2]);
                for (auto pin : pins) data.pins.push_back(pin);
                at += 3 + pins.size();
            }
            data.net_begin.push_back(std::ssize(data.pins));
        }
        nets.clear();
        result.hypergraph = Hypergraph(std::move(data));
    });
    return result;
}

std::vector<std::int64_t> SpreadNets::sizes() const {
    const std::size_t ranks = team_.size();
    std::vector<Numbers> messages(ranks);
    team_.agree([&] {
        for (std::size_t net = 0; net < share_.nets.size(); ++net)
            messages[owner(share_.nets[net])].push_back(std::ssize(share_.hypergraph.pins(net)));
    });
    messages = team_.all_to_all(std::move(messages));
    team_.agree([&] {
        std::vector<std::int64_t> sums(owned(), 0);
        for (std::size_t r = 0; r < ranks; ++r)
            for (std::size_t i = 0; i < known_[r].size(); ++i) sums[known_[r][i]] += messages[r][i];
        for (std::size_t r = 0; r < ranks; ++r)
            for (std::size_t i = 0; i < known_[r].size(); ++i) messages[r][i] = sums[known_[r][i]];
    });
    messages = team_.all_to_all(std::move(messages));
    std::vector<std::int64_t> result;
    team_.agree([&] {
        std::vector<std::size_t> next(ranks, 0);
        for (auto net : share_.nets) result.push_back(messages[owner(net)][next[owner(net)]++]);
    });
    return result;
}

PinPlaces SpreadNets::places(const VertexParts& parts) const {
    const auto& mine = share_.hypergraph;
    const std::size_t ranks = team_.size();
    std::vector<Numbers> messages(ranks);
    team_.agree([&] {
        const auto highest = parts.empty() ? 0 : *std::max_element(parts.begin(), parts.end());
        std::vector<std::int64_t> seen_in(static_cast<std::size_t>(highest) + 1, -1);
        for (std::int64_t net = 0; net < mine.nets(); ++net) {
            ListWriter list(messages[owner(share_.nets[net])]);
            for (auto pin : mine.pins(net))
                if (std::exchange(seen_in[parts[pin]], net) != net) list.add(parts[pin]);
            std::sort(list.list().begin(), list.list().end());
        }
    });
    messages = team_.all_to_all(std::move(messages));

    Numbers cut{0};
    team_.agree([&] {
        auto places = joined<Lists<PartRanks>>(messages, [](std::int64_t part) { return PartRanks{static_cast<std::int32_t>(part), 1}; });
        std::vector<std::int64_t> different(owned());
        for (std::size_t net = 0; net < owned(); ++net) {
            different[net] = join_parts(places.of(net));
            if (different[net] > 1) cut[0] += costs_[net] * (different[net] - 1);
        }
        for (std::size_t r = 0; r < ranks; ++r) {
            Numbers answer;
            for_each_list(r, messages[r], [&](std::size_t net, auto own) {
                ListWriter list(answer);
                auto at = own.begin();
                for (const auto& place : places.of(net).first(different[net])) {
                    const bool is_own = at != own.end() && *at == place.part;
                    if (is_own) ++at;
                    if (place.ranks > (is_own ? 1 : 0)) list.add(place.part);
                }
            });
            messages[r] = std::move(answer);
        }
    });
    messages = team_.all_to_all(std::move(messages));
    team_.sum(cut);

    PinPlaces result;
    result.cut = cut[0];
    team_.agree([&] {
        std::vector<std::size_t> next(ranks, 0);
        for (auto net : share_.nets) {
            const auto& list = messages[owner(net)];
            auto& at = next[owner(net)];
            const auto others = std::span(list).subspan(at + 1, list[at]);
            for (auto part : others) result.others.parts.push_back(part);
            result.others.net_begin.push_back(std::ssize(result.others.parts));
            at += 1 + others.size();
        }
    });
    return result;
}

std::int64_t cut(const Team& team, const HypergraphShare& share, const VertexParts& parts) {
    return SpreadNets(team, share).places(parts).cut;
}

}  // namespace arges::partition
