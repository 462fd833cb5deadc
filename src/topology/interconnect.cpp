// Loads of links under dimension-ordered routes (cyclops-2012, section 4.2, names the goal: mappings that fit the torus). In an exchange
// among all ranks that differ along some dimensions, the dimensions before it were unfolded are independent: in each of them a rank sends
// to every coordinate the same share of its words, whatever the others are.
#include "topology/interconnect.hpp"

#include "arges/error.hpp"
#include "topology/unfold.hpp"

#include <algorithm>
#include <string>

namespace arges {

namespace {

/// Between ranks of a node a byte takes so much of the time, if nothing else is known.
constexpr double on_node = 0.5;

/// Lines are routed message by message up to this length; beyond, the busiest link follows from the middle of each factor.
constexpr std::int64_t longest_routed = 1024;

}  // namespace

void check_link_rates(const Torus& torus, const Interconnect& interconnect) {
    const auto rates = interconnect.link_bytes_per_second.size(), dimensions = torus.lengths().size();
    if (rates > 1 && dimensions > 0 && rates != dimensions)
        throw InvalidArgument(
            "link_bytes_per_second has " + std::to_string(rates) + " numbers for the torus " + torus.to_string() +
            ", but must have one, or one for each dimension; correct the machine file, or write it anew with arges calibrate");
}

void ExchangedDimensions::add(std::span<const int> from, std::span<const int> to) {
    const auto same = std::mismatch(from.begin(), from.end(), to.begin(), to.end());
    for (int t : from) present_ |= dimension(t);
    std::for_each(same.first, from.end(), [&](int t) { left_ |= dimension(t); });
    std::for_each(same.second, to.end(), [&](int t) { entered_ |= dimension(t); });
}

void ExchangedDimensions::add_parts(std::span<const int> from) {
    for (int t : from) {
        present_ |= dimension(t);
        left_ |= dimension(t);
    }
}

std::int64_t Links::Line::length() const {
    std::int64_t product = 1;
    for (auto l : factors) product *= l;
    return product;
}

void Links::add_line(std::int64_t length, double dearness) {
    lines_.push_back({prime_factors(length), static_cast<int>(lengths_.size()), dearness});
    lengths_.insert(lengths_.end(), lines_.back().factors.begin(), lines_.back().factors.end());
}

double Links::least_cost() const { return is_torus_ ? 1 : std::min(1.0, lines_[0].dearness); }

Links Links::of_torus(const Torus& torus, const Interconnect& interconnect, double rank_bytes_per_second) {
    check_link_rates(torus, interconnect);
    Links links;
    const auto& rates = interconnect.link_bytes_per_second;
    for (std::size_t d = 0; d < torus.lengths().size(); ++d) {
        const double rate = rates.empty() ? rank_bytes_per_second : rates[rates.size() == 1 ? 0 : d];
        links.add_line(torus.lengths()[d], rank_bytes_per_second / rate);
    }
    return links;
}

Links Links::of_nodes(std::int64_t ranks_per_node, std::int64_t nodes, const Interconnect& interconnect, double rank_bytes_per_second) {
    Links links;
    links.is_torus_ = false;
    const auto shared = static_cast<double>(ranks_per_node) * rank_bytes_per_second;
    const double near = interconnect.on_node_bytes_per_second;
    links.add_line(ranks_per_node, near > 0 ? rank_bytes_per_second / near : on_node);
    links.add_line(nodes, interconnect.node_bytes_per_second > 0 ? std::max(1.0, shared / interconnect.node_bytes_per_second) : 1);
    return links;
}

/// One word of each rank, of which every coordinate that differs in `factors` gets the same share, the rank's own included.
Links::Use Links::on_line(const Line& line, Dimensions factors) const {
    const auto length = line.length();
    std::vector<std::int64_t> offsets{0};  // of the coordinates of a group
    Use use;
    std::int64_t stride = 1;
    for (std::size_t f = 0; f < line.factors.size(); ++f) {
        const auto l = line.factors[f];
        if ((factors >> f & 1) != 0) {
            const bool round = stride * l == length;  // the middle is passed on two sides
            use.busiest = std::max(use.busiest,
                                   static_cast<double>(stride * (l / 2) * (l - l / 2)) / static_cast<double>(round && l > 2 ? 2 * l : l));
            const auto before = offsets.size();
            for (std::int64_t i = 1; i < l && length <= longest_routed; ++i)
                for (std::size_t o = 0; o < before; ++o) offsets.push_back(offsets[o] + i * stride);
        }
        stride *= l;
    }
    if (length > longest_routed) {
        use.hops = use.busiest;
        use.mean = use.hops / 2;
        return use;
    }
    // Changes of the load from one link to the next, upwards and downwards; link i is between i and i + 1.
    std::vector<std::int64_t> up(static_cast<std::size_t>(2 * length + 1), 0), down(up);
    const auto add = [&](std::vector<std::int64_t>& change, std::int64_t begin, std::int64_t count) {
        ++change[static_cast<std::size_t>(begin)];
        --change[static_cast<std::size_t>(begin + count)];
    };
    for (std::int64_t x = 0; x < length; ++x) {
        std::int64_t base = 0, digit_stride = 1;
        for (std::size_t f = 0; f < line.factors.size(); ++f) {
            if ((factors >> f & 1) == 0) base += x / digit_stride % line.factors[f] * digit_stride;
            digit_stride *= line.factors[f];
        }
        for (const auto offset : offsets) {
            const auto y = base + offset;
            if (y == x) continue;
            const auto upwards = y > x ? y - x : y - x + length;
            if (2 * upwards < length || (2 * upwards == length && y > x))
                add(up, x, upwards);
            else
                add(down, y, length - upwards);
        }
    }
    std::int64_t most = 0, sum = 0;
    for (auto* const change : {&up, &down}) {
        std::vector<std::int64_t> load(static_cast<std::size_t>(length), 0);
        std::int64_t now = 0;
        for (std::int64_t i = 0; i < 2 * length; ++i) {
            now += (*change)[static_cast<std::size_t>(i)];
            load[static_cast<std::size_t>(i % length)] += now;
        }
        for (const auto l : load) {
            most = std::max(most, l);
            sum += l;
        }
    }
    const auto shares = static_cast<double>(offsets.size()), ranks = static_cast<double>(length);
    use.busiest = static_cast<double>(most) / shares;
    use.hops = static_cast<double>(sum) / shares / ranks;
    use.mean = use.hops / 2;
    return use;
}

Links::Use Links::through_switch(Dimensions among) const {
    double group = 1, nodes = 1;
    for (std::size_t t = 0; t < lengths_.size(); ++t) {
        if ((among >> t & 1) == 0) continue;
        group *= static_cast<double>(lengths_[t]);
        if (static_cast<int>(t) >= lines_[1].first) nodes *= static_cast<double>(lengths_[t]);
    }
    Use use;
    const double leaving = (1 - 1 / nodes) * group / (group - 1);
    use.busiest = use.mean = leaving * static_cast<double>(lines_[0].length());
    use.hops = 2 * leaving;
    use.cost = (1 - leaving) * lines_[0].dearness + leaving * lines_[1].dearness;
    return use;
}

Links::Use Links::use(Dimensions among) const {
    among &= all();
    if (among == 0) return {};
    const auto [known, is_new] = known_.try_emplace(among);
    auto& use = known->second;
    if (!is_new) return use;
    if (!is_torus_) return use = through_switch(among);
    double group = 1;
    for (std::size_t t = 0; t < lengths_.size(); ++t)
        if ((among >> t & 1) != 0) group *= static_cast<double>(lengths_[t]);
    const double sent = group / (group - 1);  // a word to all, the rank itself included, is this many to others
    int used = 0;
    for (const auto& line : lines_) {
        const auto factors = among >> line.first & ((Dimensions{1} << line.factors.size()) - 1);
        if (factors == 0) continue;
        const auto own = on_line(line, factors);
        use.busiest = std::max(use.busiest, own.busiest * sent);
        use.cost = std::max(use.cost, own.busiest * sent * line.dearness);
        use.mean += own.mean * sent;
        use.hops += own.hops * sent;
        ++used;
    }
    use.mean /= used;
    return use;
}

double Links::cost(Dimensions among) const { return use(among).cost; }

Topology topology_of(std::int64_t ranks, const Torus& given, std::int64_t ranks_per_node, const Interconnect& interconnect,
                     double rank_bytes_per_second) {
    const bool is_known = !interconnect.torus.lengths().empty() && interconnect.torus.ranks() == ranks;
    if (!given.lengths().empty() || is_known) {
        const auto& torus = given.lengths().empty() ? interconnect.torus : given;
        return {torus, std::make_shared<const Links>(Links::of_torus(torus, interconnect, rank_bytes_per_second))};
    }
    const auto per_node = interconnect.ranks_per_node > 0 ? interconnect.ranks_per_node : ranks_per_node;
    const auto torus = detected_torus(ranks, per_node);
    if (torus.lengths().size() < 2) return {torus, nullptr};
    return {torus, std::make_shared<const Links>(Links::of_nodes(per_node, ranks / per_node, interconnect, rank_bytes_per_second))};
}

}  // namespace arges
