#include "plan/ranked_assignments.hpp"

#include <algorithm>
#include <map>
#include <numeric>

namespace arges {

namespace {

/// Up to so many assignments all are looked at; of more the best of each torus dimension go on to the next.
constexpr double max_enumeration = 20000;
constexpr std::size_t beam_width = 256;

/// An assignment of the torus dimensions so far: one of the level before, and the target of the last dimension.
struct Node {
    int before, target, kind;
};

/// Assignments with the same estimate: they have the same ranks along every target.
struct Kind {
    std::vector<std::int64_t> places;  // by target
    double estimate = 0;
};

class AssignmentSearch {
public:
    explicit AssignmentSearch(const AssignmentSpace& space) : space_(space) {
        double count = 1;
        for (std::size_t t = 0; t < space.lengths.size(); ++t) count *= static_cast<double>(space.capacity.size()) + 1;
        all_ = count <= max_enumeration;
        levels_.push_back({{-1, -1, 0}});
        kinds_.push_back({std::vector<std::int64_t>(space.capacity.size(), 1), 0});
    }

    std::vector<Assignment> ranked(std::size_t most) {
        for (std::size_t t = 0; t < space_.lengths.size(); ++t) {
            extend(t);
            const bool last = t + 1 == space_.lengths.size();
            if (!last && (all_ || levels_.back().size() <= beam_width)) continue;
            for (const auto& node : levels_.back()) estimate(node);
            keep_best(!last ? beam_width : all_ ? most : std::min(most, beam_width));
        }
        std::vector<Assignment> result;
        for (const auto& node : levels_.back()) result.push_back(assignment_of(levels_.size() - 1, node));
        return result;
    }

private:
    void extend(std::size_t t) {
        const auto targets = static_cast<int>(space_.capacity.size());
        const auto before = std::move(kinds_);
        kinds_.clear();
        estimated_.clear();
        std::vector<int> next(before.size() * (space_.capacity.size() + 1), -1);  // kind after a kind and a target
        std::map<std::vector<std::int64_t>, int> known;
        const auto kind_after = [&](int kind, int target) {
            auto places = before[static_cast<std::size_t>(kind)].places;
            if (target >= 0) places[static_cast<std::size_t>(target)] *= space_.lengths[t];
            if (space_.by_assignment) {
                kinds_.push_back({std::move(places)});
                return static_cast<int>(kinds_.size()) - 1;
            }
            const auto [found, is_new] = known.try_emplace(places, static_cast<int>(kinds_.size()));
            if (is_new) kinds_.push_back({std::move(places)});
            return found->second;
        };
        const auto& beam = levels_.back();
        std::vector<Node> nodes;
        nodes.reserve(beam.size() * (space_.capacity.size() + 1));
        for (std::size_t b = 0; b < beam.size(); ++b) {
            const auto kind = beam[b].kind;
            const auto& places = before[static_cast<std::size_t>(kind)].places;
            for (int target = -1; target < targets; ++target) {
                const auto i = static_cast<std::size_t>(std::max(target, 0));
                if (target >= 0 && static_cast<double>(places[i]) * static_cast<double>(space_.lengths[t]) > space_.capacity[i]) continue;
                auto& after = next[static_cast<std::size_t>(kind) * (space_.capacity.size() + 1) + static_cast<std::size_t>(target + 1)];
                if (after < 0 || space_.by_assignment) after = kind_after(kind, target);
                nodes.push_back({static_cast<int>(b), target, after});
            }
        }
        estimated_.assign(kinds_.size(), false);
        levels_.push_back(std::move(nodes));
    }

    void estimate(const Node& node) {
        const auto kind = static_cast<std::size_t>(node.kind);
        if (estimated_[kind]) return;
        kinds_[kind].estimate = space_.estimate(assignment_of(levels_.size() - 1, node));
        estimated_[kind] = true;
    }

    /// Sorts the last level by estimates, those that are equal as they are, and drops what comes behind the first `most`.
    void keep_best(std::size_t most) {
        std::vector<int> order(kinds_.size());
        std::iota(order.begin(), order.end(), 0);
        const auto seconds = [&](int kind) { return kinds_[static_cast<std::size_t>(kind)].estimate; };
        std::sort(order.begin(), order.end(), [&](int a, int b) { return seconds(a) < seconds(b); });
        std::vector<std::size_t> rank(kinds_.size(), 0);
        std::size_t ranks = 0;
        for (std::size_t i = 0; i < order.size(); ++i) {
            if (i > 0 && seconds(order[i]) != seconds(order[i - 1])) ++ranks;
            rank[static_cast<std::size_t>(order[i])] = ranks;
        }
        auto& nodes = levels_.back();
        std::vector<std::size_t> begin(ranks + 2, 0);
        for (const auto& node : nodes) ++begin[rank[static_cast<std::size_t>(node.kind)] + 1];
        std::partial_sum(begin.begin(), begin.end(), begin.begin());
        std::vector<Node> kept(std::min(most, nodes.size()));
        for (const auto& node : nodes)
            if (const auto at = begin[rank[static_cast<std::size_t>(node.kind)]]++; at < kept.size()) kept[at] = node;
        nodes = std::move(kept);
    }

    Assignment assignment_of(std::size_t level, Node node) const {
        Assignment result(space_.lengths.size(), -1);
        for (; level > 0; --level) {
            result[level - 1] = node.target;
            node = levels_[level - 1][static_cast<std::size_t>(node.before)];
        }
        return result;
    }

    const AssignmentSpace& space_;
    bool all_ = false;
    std::vector<std::vector<Node>> levels_;  // by number of torus dimensions that are given
    std::vector<Kind> kinds_;                // of the last level
    std::vector<bool> estimated_;
};

}  // namespace

std::vector<Assignment> ranked_assignments(const AssignmentSpace& space, std::size_t most) {
    return AssignmentSearch(space).ranked(most);
}

}  // namespace arges
