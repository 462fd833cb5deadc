// Greedy refinement of many parts, vertex by vertex in random order (hMETIS-Kway: Karypis and Kumar
// 1999), with overloaded parts emptied first.
#include "partition/hypergraph/kway_refine.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace arges::partition {

namespace {

constexpr std::int64_t worthwhile_pass = 400;  ///< a pass that lowers the cut by a smaller part is the last one

/// How many pins of each net are in each part: a table of all parts for nets with at least as many pins, a list of parts for
/// others.
class PinCounts {
public:
    PinCounts(const Hypergraph& hypergraph, std::int64_t parts, const OtherVertices* others) : parts_(parts) {
        begin_.push_back(0);
        for (std::int64_t net = 0; net < hypergraph.nets(); ++net)
            begin_.push_back(begin_.back() + std::min(hypergraph.pins(net).size() + (others ? others->parts_of(net).size() : 0), parts_));
        entries_.resize(begin_.back());
        lambda_.assign(hypergraph.nets(), 0);
        for (std::int64_t net = 0; others && net < hypergraph.nets(); ++net)
            for (auto part : others->parts_of(net)) add(static_cast<std::uint32_t>(net), part);
    }

    std::uint32_t lambda(std::uint32_t net) const { return lambda_[net]; }
    /// True if a pin in `part` is the only one of the net.
    bool is_alone(std::uint32_t net, std::int32_t part) const { return lambda_[net] == 1 && pins(net, part) == 1; }

    std::uint32_t pins(std::uint32_t net, std::int32_t part) const {
        if (is_table(net)) return entries_[begin_[net] + static_cast<std::size_t>(part)].pins;
        for (auto i = begin_[net]; i < begin_[net] + lambda_[net]; ++i)
            if (entries_[i].part == part) return entries_[i].pins;
        return 0;
    }
    void add(std::uint32_t net, std::int32_t part) {
        if (is_table(net)) {
            lambda_[net] += entries_[begin_[net] + static_cast<std::size_t>(part)].pins++ == 0;
            return;
        }
        auto i = begin_[net];
        const auto end = begin_[net] + lambda_[net];
        while (i < end && entries_[i].part != part) ++i;
        if (i == end) {
            entries_[i] = {part, 0};
            ++lambda_[net];
        }
        ++entries_[i].pins;
    }
    void remove(std::uint32_t net, std::int32_t part) {
        if (is_table(net)) {
            lambda_[net] -= --entries_[begin_[net] + static_cast<std::size_t>(part)].pins == 0;
            return;
        }
        auto i = begin_[net];
        while (entries_[i].part != part) ++i;
        if (--entries_[i].pins > 0) return;
        --lambda_[net];
        entries_[i] = entries_[begin_[net] + lambda_[net]];
    }
    /// Calls f(part) for every part that the net has pins in.
    template <class F>
    void for_each_part(std::uint32_t net, F f) const {
        const auto begin = begin_[net];
        if (is_table(net)) {
            for (std::size_t p = 0; p < parts_; ++p)
                if (entries_[begin + p].pins > 0) f(static_cast<std::int32_t>(p));
        } else {
            for (auto i = begin; i < begin + lambda_[net]; ++i) f(entries_[i].part);
        }
    }

private:
    struct Entry {
        std::int32_t part = 0;
        std::uint32_t pins = 0;
    };
    bool is_table(std::uint32_t net) const { return begin_[std::size_t{net} + 1] - begin_[net] == parts_; }

    std::size_t parts_;
    std::vector<std::size_t> begin_;
    std::vector<Entry> entries_;
    std::vector<std::uint32_t> lambda_;
};

class Refiner {
public:
    Refiner(const Hypergraph& hypergraph, std::int64_t count, const std::vector<std::int64_t>& limits, WorkBudget& work, VertexParts& parts,
            const OtherVertices* others)
        : hypergraph_(hypergraph), count_(count), limits_(limits), work_(work), parts_(parts), counts_(hypergraph, count, others),
          weight_(others ? others->weights : part_weights(hypergraph, parts, count)), present_(count, 0) {
        for (std::int64_t v = 0; v < hypergraph.vertices(); ++v)
            for (auto net : hypergraph.nets_of(v)) counts_.add(net, parts[v]);
        cut_ = cut(hypergraph, parts);
        work.spend(hypergraph.pin_count());
    }

    /// Moves every vertex that gains, or that leaves an overloaded part. True if that was worth it.
    bool pass(RandomNumbers& random) {
        std::int64_t fallen = 0;
        balanced_ = 0;
        for (auto v : random.permutation(hypergraph_.vertices())) {
            if (work_.used_up()) break;
            fallen += visit(v);
        }
        cut_ -= fallen;
        return fallen * worthwhile_pass > cut_ || balanced_ > 0;
    }

private:
    std::int64_t visit(std::uint32_t v) {
        const auto from = parts_[v];
        const bool overloaded = is_overloaded(v, from);
        std::int64_t leave = 0, all = 0;  // cost of nets that leave `from` with v, and of all nets
        for (auto net : hypergraph_.nets_of(v)) {
            const bool leaves = counts_.pins(net, from) == 1;
            if (leaves && counts_.lambda(net) == 1) continue;
            const auto cost = hypergraph_.cost(net);
            all += cost;
            if (leaves) leave += cost;
        }
        if (leave == 0 && !overloaded) return 0;
        for (auto net : hypergraph_.nets_of(v)) {
            if (counts_.is_alone(net, from)) continue;
            work_.spend(counts_.lambda(net));
            counts_.for_each_part(net, [&](std::int32_t part) {
                if (present_[part] == 0) candidates_.push_back(part);
                present_[part] += hypergraph_.cost(net);
            });
        }
        const auto base = leave - all;
        if (!overloaded) return take_best(v, base, 0);
        const auto light = lightest(v);
        candidates_.push_back(light);
        const auto light_gain = base + present_[light];
        if (const auto gain = take_best(v, base, std::numeric_limits<std::int64_t>::min()); parts_[v] != from) {
            ++balanced_;
            return gain;
        }
        // Whole vertices fit nowhere: at least the heavier of two parts becomes lighter.
        if (load(v, light) >= load(v, from)) return 0;
        move(v, light);
        ++balanced_;
        return light_gain;
    }

    /// Moves v to the best of the candidates with room, if that gains at least `best_gain`. The gain of part p is base + cost of
    /// the nets that are in p.
    std::int64_t take_best(std::uint32_t v, std::int64_t base, std::int64_t best_gain) {
        const auto from = parts_[v];
        auto best = from;
        for (auto part : candidates_) {
            const auto gain = base + present_[part];
            if (part == from || gain < best_gain || !fits(v, part)) continue;
            if (gain == best_gain && !is_lighter(v, part, best)) continue;
            best = part;
            best_gain = gain;
        }
        for (auto part : candidates_) present_[part] = 0;
        candidates_.clear();
        if (best == from) return 0;
        move(v, best);
        return best_gain;
    }

    void move(std::uint32_t v, std::int32_t to) {
        const auto from = std::exchange(parts_[v], to);
        for (auto net : hypergraph_.nets_of(v)) {
            counts_.remove(net, from);
            counts_.add(net, to);
        }
        for (std::size_t c = 0; c < limits_.size(); ++c) {
            weight(from, c) -= hypergraph_.weights(v)[c];
            weight(to, c) += hypergraph_.weights(v)[c];
        }
    }

    std::int64_t& weight(std::int32_t part, std::size_t c) { return weight_[static_cast<std::size_t>(part) * limits_.size() + c]; }

    /// In a constraint that v weighs something in.
    bool is_overloaded(std::uint32_t v, std::int32_t part) {
        for (std::size_t c = 0; c < limits_.size(); ++c)
            if (hypergraph_.weights(v)[c] > 0 && weight(part, c) > limits_[c]) return true;
        return false;
    }
    bool fits(std::uint32_t v, std::int32_t part) {
        for (std::size_t c = 0; c < limits_.size(); ++c)
            if (const auto w = hypergraph_.weights(v)[c]; w > 0 && weight(part, c) + w > limits_[c]) return false;
        return true;
    }
    /// Largest share of the limits that a part would have with v.
    double load(std::uint32_t v, std::int32_t part) {
        double most = 0;
        for (std::size_t c = 0; c < limits_.size(); ++c)
            if (const auto w = hypergraph_.weights(v)[c]; w > 0)
                most = std::max(most, static_cast<double>(weight(part, c) + (part == parts_[v] ? 0 : w)) /
                                          (std::max<std::int64_t>(limits_[c], 1)));
        return most;
    }
    bool is_lighter(std::uint32_t v, std::int32_t part, std::int32_t than) { return load(v, part) < load(v, than); }
    std::int32_t lightest(std::uint32_t v) {
        std::int32_t best = 0;
        for (std::int32_t part = 1; part < count_; ++part)
            if (is_lighter(v, part, best)) best = part;
        work_.spend(count_);
        return best;
    }

    const Hypergraph& hypergraph_;
    const std::int64_t count_;
    const std::vector<std::int64_t>& limits_;
    WorkBudget& work_;
    VertexParts& parts_;
    PinCounts counts_;
    std::vector<std::int64_t> weight_;
    std::vector<std::int64_t> present_;  ///< by part: cost of the nets of a vertex that are in it
    std::vector<std::int32_t> candidates_;
    std::int64_t cut_ = 0;
    std::int64_t balanced_ = 0;  ///< moves of a pass out of overloaded parts
};

}  // namespace

void refine_parts(const Hypergraph& hypergraph, std::int64_t count, const std::vector<std::int64_t>& limits, int passes,
                  RandomNumbers& random, WorkBudget& work, VertexParts& parts, const OtherVertices* others) {
    Refiner refiner(hypergraph, count, limits, work, parts, others);
    for (int i = 0; i < passes && !work.used_up(); ++i)
        if (!refiner.pass(random)) break;
}

}  // namespace arges::partition
