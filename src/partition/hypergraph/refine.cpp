// Refinement of bisections by moves of best gain, undone back to the best state seen (Fiduccia and
// Mattheyses 1982), and greedy growing from a seed.
#include "partition/hypergraph/refine.hpp"

#include <algorithm>
#include <tuple>

namespace arges::partition {

namespace {

constexpr int longest_look = 16;  ///< vertices of equal gain that are tried where the first may not move

std::int64_t largest_gain(const Hypergraph& hypergraph) {
    std::int64_t largest = 0;
    for (std::int64_t v = 0; v < hypergraph.vertices(); ++v) {
        std::int64_t sum = 0;
        for (auto net : hypergraph.nets_of(v)) sum += hypergraph.cost(net);
        largest = std::max(largest, sum);
    }
    return largest;
}

}  // namespace

GainQueues::GainQueues(std::size_t vertices, std::size_t queues, std::int64_t largest, std::int64_t buckets)
    : next_(vertices, none), previous_(vertices, none), bucket_(vertices, none), highest_(queues, 0) {
    while ((largest >> shift_) * 2 >= buckets) ++shift_;
    offset_ = (largest >> shift_) + 1;
    buckets_ = 2 * offset_ + 1;
    head_.assign(queues * buckets_, none);
}

void GainQueues::insert(std::uint32_t v, std::size_t queue, std::int64_t gain) {
    const auto in_queue = (gain >> shift_) + offset_;
    const auto bucket = queue * buckets_ + static_cast<std::size_t>(in_queue);
    highest_[queue] = std::max(highest_[queue], in_queue);
    next_[v] = head_[bucket];
    previous_[v] = none;
    if (next_[v] != none) previous_[next_[v]] = v;
    head_[bucket] = v;
    bucket_[v] = bucket;
}

void GainQueues::remove(std::uint32_t v) {
    if (next_[v] != none) previous_[next_[v]] = previous_[v];
    (previous_[v] != none ? next_[previous_[v]] : head_[bucket_[v]]) = next_[v];
    bucket_[v] = none;
}

std::uint32_t GainQueues::top(std::size_t queue) {
    auto& highest = highest_[queue];
    const auto* heads = head_.data() + queue * buckets_;
    while (highest > 0 && heads[highest] == none) --highest;
    return heads[highest];
}

void GainQueues::clear() {
    std::fill(head_.begin(), head_.end(), none);
    std::fill(bucket_.begin(), bucket_.end(), none);
    std::fill(highest_.begin(), highest_.end(), 0);
}

Bisection::Bisection(const Hypergraph& hypergraph, SideLimits limits, WorkBudget& work)
    : hypergraph_(hypergraph), limits_(std::move(limits)), work_(work), constraints_(hypergraph.constraints()),
      queues_(hypergraph.vertices(), 2 * constraints_, largest_gain(hypergraph),
              std::clamp<std::int64_t>(4 * hypergraph.vertices(), 1 << 12, 1 << 18)),
      locked_(hypergraph.vertices()), heaviest_(locked_.size(), 0), gains_(locked_.size()), pins_(hypergraph.nets()), xor_(pins_.size()) {
    const auto& total = hypergraph.total_weights();
    for (std::size_t v = 0; constraints_ > 1 && v < locked_.size(); ++v) {
        double most = 0;
        for (std::size_t c = 0; c < constraints_; ++c) {
            const auto weight = hypergraph.weights(v)[c];
            const double share = static_cast<double>(weight) / std::max<std::int64_t>(total[c], 1);
            if (share <= most) continue;
            most = share;
            heaviest_[v] = static_cast<std::uint8_t>(std::min<std::size_t>(c, 255));
        }
    }
}

void Bisection::assign(std::vector<std::uint8_t> sides) {
    side_ = std::move(sides);
    for (auto& weight : weight_) weight.assign(constraints_, 0);
    for (std::size_t v = 0; v < side_.size(); ++v)
        for (std::size_t c = 0; c < constraints_; ++c) weight_[side_[v]][c] += hypergraph_.weights(v)[c];
    cut_ = 0;
    for (std::size_t net = 0; net < pins_.size(); ++net) {
        pins_[net] = xor_[net] = {0, 0};
        for (auto pin : hypergraph_.pins(net)) {
            ++pins_[net][side_[pin]];
            xor_[net][side_[pin]] ^= pin;
        }
        if (pins_[net][0] > 0 && pins_[net][1] > 0) cut_ += hypergraph_.cost(static_cast<std::int64_t>(net));
    }
    work_.spend(hypergraph_.pin_count());
}

std::int64_t Bisection::gain(std::uint32_t v) const {
    std::int64_t sum = 0;
    const auto from = side_[v];
    for (auto net : hypergraph_.nets_of(v)) {
        const auto& pins = pins_[net];
        if (pins[1 - from] == 0) {
            if (pins[from] > 1) sum -= hypergraph_.cost(net);
        } else if (pins[from] == 1) {
            sum += hypergraph_.cost(net);
        }
    }
    return sum;
}

void Bisection::queue(std::uint32_t v) { queues_.insert(v, 2 * std::size_t{heaviest_[v]} + side_[v], gains_[v]); }

void Bisection::change_gain(std::uint32_t v, std::int64_t by) {
    gains_[v] += by;
    if (locked_[v]) return;
    if (queues_.contains(v)) queues_.remove(v);
    queue(v);
}

void Bisection::change_gains(std::uint32_t net, std::int64_t by) {
    const auto pins = hypergraph_.pins(net);
    work_.spend(std::ssize(pins));
    for (auto pin : pins) change_gain(pin, by);
}

void Bisection::move(std::uint32_t v, bool update) {
    const auto from = side_[v], to = static_cast<std::uint8_t>(1 - from);
    locked_[v] = 1;
    side_[v] = to;
    for (std::size_t c = 0; c < constraints_; ++c) {
        const auto weight = hypergraph_.weights(v)[c];
        weight_[from][c] -= weight;
        weight_[to][c] += weight;
    }
    work_.spend(std::ssize(hypergraph_.nets_of(v)));
    for (auto net : hypergraph_.nets_of(v)) {
        auto& pins = pins_[net];
        auto& sole = xor_[net];
        const auto before_to = pins[to], after_from = --pins[from];
        ++pins[to];
        sole[from] ^= v;
        sole[to] ^= v;
        const auto cost = hypergraph_.cost(net);
        if (before_to == 0 && after_from > 0) cut_ += cost;
        if (before_to > 0 && after_from == 0) cut_ -= cost;
        if (!update || (before_to == 0 && after_from == 0)) continue;
        if (before_to == 0)
            change_gains(net, cost);
        else if (before_to == 1)
            change_gain(sole[to] ^ v, -cost);
        if (after_from == 0)
            change_gains(net, -cost);
        else if (after_from == 1)
            change_gain(sole[from], cost);
    }
}

double Bisection::overload() const {
    double sum = 0;
    for (std::size_t s = 0; s < 2; ++s)
        for (std::size_t c = 0; c < constraints_; ++c)
            if (const auto above = weight_[s][c] - limits_[s][c]; above > 0)
                sum += static_cast<double>(above) / hypergraph_.total_weights()[c];
    return sum;
}

double Bisection::overload_after(std::uint32_t v) const {
    double sum = 0;
    const auto from = side_[v];
    for (std::size_t s = 0; s < 2; ++s)
        for (std::size_t c = 0; c < constraints_; ++c) {
            const auto weight = hypergraph_.weights(v)[c];
            if (const auto above = weight_[s][c] + (s == from ? -weight : weight) - limits_[s][c]; above > 0)
                sum += static_cast<double>(above) / hypergraph_.total_weights()[c];
        }
    return sum;
}

/// From within the limits a single vertex may step over them, the next move must lead back: so vertices of equal weight change
/// places.
bool Bisection::may_move(std::uint32_t v, double now) const { return now == 0 || overload_after(v) < now; }

Bisection::Choice Bisection::choose() {
    const double now = overload();
    while (true) {
        Choice best;
        bool any = false;
        double best_load = 0;
        for (std::size_t q = 0; q < 2 * constraints_; ++q) {
            auto v = queues_.top(q);
            any = any || v != GainQueues::none;
            for (int i = 0; v != GainQueues::none && !may_move(v, now); ++i) v = i < longest_look ? queues_.behind(v) : GainQueues::none;
            if (v == GainQueues::none) continue;
            const auto weight = weight_[q % 2][q / 2], limit = std::max<std::int64_t>(limits_[q % 2][q / 2], 1);
            const double load = static_cast<double>(weight) / limit;
            if (best.vertex != GainQueues::none && std::tie(gains_[v], load) <= std::tie(best.gain, best_load)) continue;
            best = {v, gains_[v]};
            best_load = load;
        }
        if (best.vertex != GainQueues::none || !any) return best;
        for (std::size_t q = 0; q < 2 * constraints_; ++q)
            if (const auto v = queues_.top(q); v != GainQueues::none) queues_.remove(v);
    }
}

void Bisection::begin_pass(bool queue_all) {
    queues_.clear();
    std::fill(locked_.begin(), locked_.end(), 0);
    moved_.clear();
    for (std::size_t i = side_.size(); i-- > 0;) {
        const std::uint32_t v = i;
        const auto nets = hypergraph_.nets_of(v);
        gains_[v] = gain(v);
        if (queue_all || std::any_of(nets.begin(), nets.end(), [&](auto net) { return pins_[net][0] > 0 && pins_[net][1] > 0; })) queue(v);
    }
    work_.spend(hypergraph_.pin_count());
}

bool Bisection::pass() {
    const auto start = quality();
    begin_pass(start.overload > 0);
    auto best = start;
    std::size_t best_moves = 0;
    const auto patience = std::max<std::size_t>(150, side_.size() / 50);
    while (moved_.size() < best_moves + patience && !work_.used_up()) {
        const auto choice = choose();
        if (choice.vertex == GainQueues::none) break;
        queues_.remove(choice.vertex);
        move(choice.vertex, true);
        moved_.push_back(choice.vertex);
        if (const auto now = quality(); now < best) {
            best = now;
            best_moves = moved_.size();
        }
    }
    while (moved_.size() > best_moves) {
        move(moved_.back(), false);
        moved_.pop_back();
    }
    return best < start;
}

void Bisection::refine(int passes) {
    for (int i = 0; i < passes && !work_.used_up(); ++i)
        if (!pass()) break;
}

void Bisection::grow(std::uint32_t seed, double share, RandomNumbers& random) {
    assign(std::vector<std::uint8_t>(locked_.size(), 1));
    begin_pass(false);
    const auto& total = hypergraph_.total_weights();
    const auto missing = [&] {
        double sum = 0;
        for (std::size_t c = 0; c < constraints_; ++c)
            if (total[c] > 0) sum += share - static_cast<double>(weight_[0][c]) / total[c];
        return sum;
    };
    const auto order = random.permutation(std::ssize(side_));
    std::size_t next = 0;
    auto v = seed;
    while (missing() > 0 && !work_.used_up()) {
        move(v, true);
        v = GainQueues::none;
        for (std::size_t q = 1; q < 2 * constraints_; q += 2)
            if (const auto top = queues_.top(q); top != GainQueues::none && (v == GainQueues::none || gains_[top] > gains_[v]))
                if (weight_[0][q / 2] <= limits_[0][q / 2]) v = top;
        if (v != GainQueues::none) {
            queues_.remove(v);
            continue;
        }
        while (next < order.size() && side_[order[next]] == 0) ++next;
        if (next == order.size()) break;
        v = order[next];
        if (queues_.contains(v)) queues_.remove(v);
    }
}

}  // namespace arges::partition
