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

/// Larger groups do not relay: each rank has a list of the others.
constexpr double most_relayed = 1 << 14;

/// So many lines are looked at in every order.
constexpr std::size_t most_ordered = 3;

/// Messages that do not follow the dimensions put so much more on the busiest link than evenly spread ones do (simulated, SimGrid: a grid
/// of 60 ranks on a torus of 2^6).
constexpr double crowded = 1.6;

/// What messages put on the links of a ring of ranks. Link i is between i and i + 1; a message takes the shorter way round.
class LineLoad {
public:
    explicit LineLoad(std::int64_t length) : length_(length), up_(2 * length + 1, 0), down_(up_) {}

    void send(std::int64_t x, std::int64_t y, std::int64_t pieces = 1) {
        const auto upwards = y > x ? y - x : y - x + length_;
        if (2 * upwards < length_ || (2 * upwards == length_ && y > x))
            add(up_, x, upwards, pieces);
        else
            add(down_, y, length_ - upwards, pieces);
    }
    struct Totals {
        std::int64_t most = 0, sum = 0;
    };
    Totals totals() const {
        Totals result;
        for (const auto* const change : {&up_, &down_}) {
            std::vector<std::int64_t> load(length_, 0);
            std::int64_t now = 0;
            for (std::int64_t i = 0; i < 2 * length_; ++i) {
                now += (*change)[i];
                load[i % length_] += now;
            }
            for (const auto l : load) {
                result.most = std::max(result.most, l);
                result.sum += l;
            }
        }
        return result;
    }

private:
    static void add(std::vector<std::int64_t>& change, std::int64_t begin, std::int64_t count, std::int64_t pieces) {
        change[begin] += pieces;
        change[begin + count] -= pieces;
    }

    std::int64_t length_;
    std::vector<std::int64_t> up_, down_;  // changes of the load from one link to the next
};

/// By latency, without those that another one beats in both.
template <class Priced>
std::vector<Priced> without_worse(std::vector<Priced> all) {
    std::stable_sort(all.begin(), all.end(),
                     [](const auto& a, const auto& b) { return a.latency != b.latency ? a.latency < b.latency : a.cost < b.cost; });
    std::vector<Priced> kept;
    for (auto& one : all)
        if (kept.empty() || one.cost < kept.back().cost) kept.push_back(std::move(one));
    return kept;
}

constexpr const char* correct_it = "; correct the machine file, or write it anew with arges calibrate";

/// What the machine file says of a level, or else what is known otherwise.
double rate_of(const std::vector<double>& rates, std::size_t level, double otherwise) {
    return level < rates.size() && rates[level] > 0 ? rates[level] : otherwise;
}

}  // namespace

void check_link_rates(const Torus& torus, const Interconnect& interconnect) {
    const auto rates = interconnect.link_bytes_per_second.size(), dimensions = torus.lengths().size();
    if (rates > 1 && dimensions > 0 && rates != dimensions)
        throw InvalidArgument("link_bytes_per_second has " + std::to_string(rates) + " numbers for the torus " + torus.to_string() +
                              ", but must have one, or one for each dimension" + correct_it);
}

void check_levels(const Interconnect& interconnect) {
    const auto& levels = interconnect.levels;
    const auto check = [&](const char* name, const std::vector<double>& rates) {
        if (!rates.empty() && rates.size() != levels.lengths().size())
            throw InvalidArgument(std::string(name) + " has " + std::to_string(rates.size()) + " numbers for " +
                                  (levels.lengths().empty() ? "no levels" : "the levels " + levels.to_string()) +
                                  ", but must have one for each" + correct_it);
    };
    check("level_bytes_per_second", interconnect.level_bytes_per_second);
    check("level_pair_bytes_per_second", interconnect.level_pair_bytes_per_second);
    if (!levels.lengths().empty() && !interconnect.torus.lengths().empty())
        throw InvalidArgument(std::string("there are both a torus and levels, but the links of a machine are those of one of them") +
                              correct_it);
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

double Links::dearness(const Line& line) const {
    return std::max(line.dearness, line.between / std::max(1.0, static_cast<double>(line.length() - 1)));
}

double Links::least_cost() const { return is_torus_ ? 1 : std::min(1.0, lines_[0].dearness); }

Links Links::of_torus(const Torus& torus, const Interconnect& interconnect, const RankRates& rates) {
    check_link_rates(torus, interconnect);
    Links links;
    const auto& link_rates = interconnect.link_bytes_per_second;
    for (std::size_t d = 0; d < torus.lengths().size(); ++d) {
        const double rate = link_rates.empty() ? rates.bytes_per_second : link_rates[link_rates.size() == 1 ? 0 : d];
        links.add_line(torus.lengths()[d], rates.bytes_per_second / rate);
    }
    links.link_seconds_ = interconnect.link_seconds;
    links.message_seconds_ = rates.message_seconds;
    return links;
}

Links Links::of_levels(const Interconnect& interconnect, const RankRates& rates) {
    check_levels(interconnect);
    Links links;
    links.is_torus_ = false;
    links.link_seconds_ = interconnect.link_seconds;
    links.message_seconds_ = rates.message_seconds;
    if (interconnect.on_node_message_seconds > 0) links.on_node_message_seconds_ = interconnect.on_node_message_seconds;
    const auto& known = interconnect.level_bytes_per_second;
    double sent = rates.bytes_per_second;  // by all ranks of one of those that a level joins
    for (std::size_t l = 0; l < interconnect.levels.lengths().size(); ++l) {
        const auto length = interconnect.levels.lengths()[l];
        const double near = interconnect.on_node_bytes_per_second;
        const double leaving = rate_of(known, l, l == 1 ? interconnect.node_bytes_per_second : 0);
        if (l == 0)
            links.add_line(length, sent / rate_of(known, 0, near > 0 ? near : sent / on_node));
        else
            links.add_line(length, leaving > 0 ? std::max(1.0, sent / leaving) : 1);
        if (const double between = rate_of(interconnect.level_pair_bytes_per_second, l, 0); between > 0)
            links.lines_.back().between = sent / between;
        sent *= static_cast<double>(length);
    }
    return links;
}

Links Links::of_nodes(std::int64_t ranks_per_node, std::int64_t nodes, Interconnect interconnect, const RankRates& rates) {
    interconnect.torus = {};
    interconnect.levels = Torus({ranks_per_node, nodes});
    interconnect.level_bytes_per_second = interconnect.level_pair_bytes_per_second = {};
    return of_levels(interconnect, rates);
}

/// Calls f(x, base) for each coordinate and the lowest one that differs from it in `factors` only.
template <class F>
void Links::for_each_base(const Line& line, Dimensions factors, F&& f) {
    const auto length = line.length();
    for (std::int64_t x = 0; x < length; ++x) {
        std::int64_t base = 0, stride = 1;
        for (std::size_t i = 0; i < line.factors.size(); ++i) {
            if ((factors >> i & 1) == 0) base += x / stride % line.factors[i] * stride;
            stride *= line.factors[i];
        }
        f(x, base);
    }
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
            use.busiest = std::max(use.busiest, static_cast<double>(stride * (l / 2) * (l - l / 2)) / (round && l > 2 ? 2 * l : l));
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
    LineLoad load(length);
    for_each_base(line, factors, [&](std::int64_t x, std::int64_t base) {
        for (const auto offset : offsets)
            if (base + offset != x) load.send(x, base + offset);
    });
    const auto [most, sum] = load.totals();
    const double shares = offsets.size(), ranks = length;
    use.busiest = static_cast<double>(most) / shares;
    use.hops = static_cast<double>(sum) / shares / ranks;
    use.mean = use.hops / 2;
    return use;
}

/// Pieces on links of a line, if ranks pass on a piece of each of those that differ in `factors`, from neighbour to neighbour.
Links::Use Links::passed_on_line(const Line& line, Dimensions factors) const {
    const auto length = line.length();
    std::vector<std::int64_t> offsets{0};
    std::int64_t stride = 1, widest = 1;
    for (std::size_t f = 0; f < line.factors.size(); ++f) {
        const auto before = offsets.size();
        if ((factors >> f & 1) != 0) {
            widest = stride;
            for (std::int64_t i = 1; i < line.factors[f]; ++i)
                for (std::size_t o = 0; o < before; ++o) offsets.push_back(offsets[o] + i * stride);
        }
        stride *= line.factors[f];
    }
    const auto ranks = std::ssize(offsets);
    Use use;
    if (length > longest_routed) {
        use.busiest = use.hops = (ranks - 1) * widest;
        return use;
    }
    LineLoad load(length);
    for_each_base(line, factors, [&](std::int64_t x, std::int64_t base) {
        if (x != base) return;
        for (std::int64_t i = 0; i + 1 < ranks; ++i) {
            const auto here = base + offsets[i], next = base + offsets[i + 1];
            load.send(here, next, i + 1);
            load.send(next, here, ranks - 1 - i);
        }
    });
    const auto [most, sum] = load.totals();
    use.busiest = most;
    use.hops = static_cast<double>(sum) / length;
    return use;
}

/// Of the messages of a rank those go as far as a level whose ranks do not differ in levels above. What leaves one of those that a level
/// joins shares its links to all others; what goes to another one shares those between the two.
Links::Use Links::through_levels(Dimensions among) const {
    const double others = group(among) - 1;
    double ranks = 1, below = 1;  // of one that the level joins: all, and those that exchange
    double worst = 0;
    Use use;
    for (std::size_t l = 0; l < lines_.size(); ++l) {
        const auto& line = lines_[l];
        const double joined = group(among & line.all());
        const double to_each = below / others, as_far = (joined - 1) * to_each, leaving = 1 - (below - 1) / others;
        const auto consider = [&](double share, double dearness) {
            if (share == 0 || share * dearness < worst) return;
            worst = share * dearness;
            use.busiest = use.mean = share * ranks;
        };
        if (l == 0)
            use.cost = as_far * line.dearness + (1 - as_far);  // the messages of a rank, one after the other
        else
            consider(leaving, line.dearness);
        if (joined > 1) consider(to_each, line.between);
        use.hops += as_far * up_and_down(l);
        ranks *= static_cast<double>(line.length());
        below *= joined;
    }
    use.cost = std::max(use.cost, worst);
    return use;
}

Links::Use Links::use(Dimensions among) const {
    among &= all();
    if (among == 0) return {};
    const auto [known, is_new] = known_.try_emplace(among);
    auto& use = known->second;
    if (!is_new) return use;
    if (!is_torus_) return use = through_levels(among);
    double group = 1;
    for (std::size_t t = 0; t < lengths_.size(); ++t)
        if ((among >> t & 1) != 0) group *= lengths_[t];
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

double Links::group(Dimensions among) const {
    double group = 1;
    for (std::size_t t = 0; t < lengths_.size(); ++t)
        if ((among >> t & 1) != 0) group *= lengths_[t];
    return group;
}

/// Links between the ranks that lie farthest from each other.
double Links::farthest(const Line& line, Dimensions factors) const {
    std::int64_t distance = 0, stride = 1;
    for (std::size_t f = 0; f < line.factors.size(); ++f) {
        if ((factors >> f & 1) != 0) distance += (line.factors[f] - 1) * stride;
        stride *= line.factors[f];
    }
    return std::min(distance, line.length() / 2);
}

Links::Way Links::direct(Dimensions among) const {
    Way way;
    if (among == 0) return way;
    const auto all_at_once = use(among);
    way.cost = all_at_once.cost;
    way.busiest = all_at_once.busiest;
    way.hops = all_at_once.hops;
    const double near = is_torus_ ? 1 : group(among & lines_[0].all());  // ranks of a node
    way.messages = group(among) - 1;
    way.of_messages = (group(among) - near) * message_seconds_ + (near - 1) * on_node_message_seconds_.value_or(message_seconds_);
    way.latency = way.least = way.of_messages;
    way.latency += all_at_once.hops * link_seconds_;
    double distance = 0;
    for (std::size_t l = 0; l < lines_.size(); ++l) {
        const auto& line = lines_[l];
        if (is_torus_)
            distance += farthest(line, (among & line.all()) >> line.first);
        else if ((among & line.all()) != 0)
            distance = up_and_down(l);
    }
    way.least += distance * link_seconds_;
    return way;
}

Links::Passing Links::pass_directly(Dimensions along) const {
    const auto way = direct(along);
    const double ranks = group(along);
    // The next stage waits for the farthest rank.
    return {{{along, RelayWay::direct}}, ranks, way.least, way.least, way.cost * (ranks - 1), way.busiest * (ranks - 1),
            way.hops * (ranks - 1)};
}

/// The ways for one line.
std::vector<Links::Passing> Links::passings(const Line& line, Dimensions along) const {
    std::vector<Passing> result{pass_directly(along)};
    const auto ranks = static_cast<std::int64_t>(group(along));
    if (!is_torus_ || ranks < 3) return result;
    const auto factors = along >> line.first;
    const auto length = line.length();
    std::int64_t stride = 1, lowest = 0;  // distance of neighbours
    bool is_top = true;
    Passing halving{{}, 1};  // one factor after the other, far ranks first
    for (std::size_t f = 0; f < line.factors.size(); ++f) {
        const bool used = (factors >> f & 1) != 0;
        if (used && lowest == 0) lowest = stride;
        if (!used && lowest != 0) is_top = false;
        stride *= line.factors[f];
    }
    for (std::size_t f = line.factors.size(); f-- > 0;) {
        if ((factors >> f & 1) == 0) continue;
        const auto own = pass_directly(dimension(line.first + static_cast<int>(f)));
        append(halving, own, true);
    }
    if (halving.stages.size() > 1) result.push_back(halving);
    // Neighbours are `lowest` links apart, with as many groups between them; a gap is longer where a dimension between is not used.
    // In a step a rank waits for what its neighbours have just received, so that latency counts twice.
    const auto step = 2 * (message_seconds_ + static_cast<double>(lowest) * link_seconds_);
    const double others = ranks - 1, distance = lowest;
    const bool is_ring = is_top && lowest * ranks == length;
    Passing passing{{{along, is_ring ? RelayWay::ring : RelayWay::line}}, static_cast<double>(ranks)};
    passing.latency = passing.least = (is_ring ? static_cast<double>(ranks / 2) : others) * step;
    const auto passed = is_ring ? Use{distance * others / 2, 0, distance * others, 1} : passed_on_line(line, factors);
    passing.busiest = passed.busiest;
    passing.cost = std::max(others, passing.busiest * line.dearness);
    passing.hops = passed.hops;
    result.push_back(std::move(passing));
    return result;
}

/// @param on_one_line  both load the same links
void Links::append(Passing& before, const Passing& then, bool on_one_line) {
    before.stages.insert(before.stages.end(), then.stages.begin(), then.stages.end());
    before.latency += then.latency;
    before.least += then.least;
    before.cost += then.cost * before.ranks;
    const double busiest = then.busiest * before.ranks;
    before.busiest = on_one_line ? before.busiest + busiest : std::max(before.busiest, busiest);
    before.hops += then.hops * before.ranks;
    before.ranks *= then.ranks;
}

/// Adds what stages along some lines make, one after the other, each in all of its ways.
void Links::add_staged(const std::vector<const Line*>& order, Dimensions among, std::vector<Way>& ways) const {
    std::vector<Passing> partial{{{}, 1}};
    for (const auto* const line : order) {
        std::vector<Passing> next;
        const auto own = passings(*line, among & line->all());
        for (const auto& before : partial)
            for (const auto& then : own) append(next.emplace_back(before), then, false);
        partial = without_worse(std::move(next));
    }
    for (auto& whole : partial)
        if (whole.stages.size() > 1 || whole.stages.front().way != RelayWay::direct)
            ways.push_back({whole.latency, whole.least, whole.cost / (whole.ranks - 1), whole.busiest / (whole.ranks - 1),
                            whole.hops / (whole.ranks - 1), std::move(whole.stages)});
}

const std::vector<Links::Way>& Links::gathers(Dimensions among) const {
    among &= all();
    const auto [known, is_new] = gathers_.try_emplace(among);
    auto& ways = known->second;
    if (!is_new) return ways;
    ways.push_back(direct(among));
    if (among == 0 || group(among) > most_relayed) return ways;
    std::vector<const Line*> order;
    for (const auto& line : lines_)
        if ((among & line.all()) != 0) order.push_back(&line);
    std::sort(order.begin(), order.end());
    std::vector<Way> staged;
    // What is slow should move little: it comes first where there are too many orders to look at.
    if (order.size() > most_ordered)
        std::stable_sort(order.begin(), order.end(), [&](const auto* a, const auto* b) { return dearness(*a) > dearness(*b); });
    do add_staged(order, among, staged);
    while (order.size() <= most_ordered && std::next_permutation(order.begin(), order.end()));
    for (auto& way : without_worse(std::move(staged)))
        if (way.cost < ways[0].cost || way.latency < ways[0].latency) ways.push_back(std::move(way));
    return ways;
}

const std::vector<Links::Way>& Links::exchange(Dimensions among) const {
    among &= all();
    const auto [known, is_new] = exchanges_.try_emplace(among);
    if (is_new) known->second.push_back(direct(among));
    return known->second;
}

const std::vector<Links::Way>& Links::irregular() const {
    if (irregular_.empty()) {
        irregular_.push_back(direct(all()));
        irregular_.front().cost *= crowded;
        irregular_.front().busiest *= crowded;
    }
    return irregular_;
}

int Links::lines_of(Dimensions among) const {
    return std::count_if(lines_.begin(), lines_.end(), [&](const auto& line) { return (among & line.all()) != 0; });
}

double Links::reduction_seconds() const {
    double seconds = 0;
    for (std::size_t l = 0; l < lines_.size(); ++l) {
        const auto& line = lines_[l];
        const bool on_node = !is_torus_ && l == 0;
        std::int64_t stride = 1;
        for (const auto factor : line.factors) {
            for (std::int64_t partner = 1; partner < factor; partner *= 2) {
                const double distance = is_torus_ ? std::min(partner * stride, line.length() - partner * stride) : up_and_down(l);
                seconds += (on_node ? on_node_message_seconds_.value_or(message_seconds_) : message_seconds_) + distance * link_seconds_;
            }
            stride *= factor;
        }
    }
    return seconds;
}

Topology topology_of(std::int64_t ranks, const Torus& given, std::int64_t ranks_per_node, const Interconnect& interconnect,
                     const RankRates& rates) {
    const auto is_of_all = [&](const Torus& shape) { return !shape.lengths().empty() && shape.ranks() == ranks; };
    const auto& levels = interconnect.levels;
    if (is_of_all(levels) && (given.lengths().empty() || given == levels))
        return {levels, std::make_shared<const Links>(Links::of_levels(interconnect, rates))};
    const bool is_known = is_of_all(interconnect.torus);
    if (!given.lengths().empty() || is_known) {
        const auto& torus = given.lengths().empty() ? interconnect.torus : given;
        return {torus, std::make_shared<const Links>(Links::of_torus(torus, interconnect, rates))};
    }
    const auto per_node = interconnect.ranks_per_node > 0 ? interconnect.ranks_per_node : ranks_per_node;
    const auto torus = detected_torus(ranks, per_node);
    if (torus.lengths().size() < 2) return {torus, nullptr};
    return {torus, std::make_shared<const Links>(Links::of_nodes(per_node, ranks / per_node, interconnect, rates))};
}

}  // namespace arges
