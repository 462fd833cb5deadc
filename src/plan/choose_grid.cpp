#include "base/math.hpp"
#include "plan/contraction_plan.hpp"
#include "plan/estimate_cost.hpp"
#include "plan/pair_rows.hpp"
#include "plan/working_layouts.hpp"

#include <algorithm>
#include <cmath>

namespace arges {

namespace {

/// An assignment of every torus dimension to a target: a group (packed) or a label (blocks), or -1 for none.
using Assignment = std::vector<int>;

std::string bytes_text(double bytes) {
    static const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    int unit = 0;
    for (; bytes >= 10240 && unit < 4; ++unit) bytes /= 1024;
    return std::to_string(static_cast<std::int64_t>(bytes)) + " " + units[unit];
}

class GridSearch {
public:
    GridSearch(const ContractionSpec& spec, const PlanOptions& options)
        : spec_(spec), options_(options), groups_(index_groups(spec)), grid_(options.whole_grid(spec.output.layout)) {
        for (std::size_t g = 0; g < groups_.size(); ++g) {
            if (options.group_mapping == GroupMapping::packed || groups_[g].labels.size() == 1) {
                targets_.push_back({static_cast<int>(g), -1, static_cast<double>(groups_[g].size)});
                continue;
            }
            for (std::size_t i = 0; i < groups_[g].labels.size(); ++i)
                targets_.push_back({static_cast<int>(g), static_cast<int>(i),
                                    static_cast<double>(spec.label_extents[static_cast<std::size_t>(groups_[g].labels[i])])});
        }
    }

    /// @param best a plan that is there already, if any
    ContractionPlan best(std::optional<ContractionPlan> best) {
        auto candidates = enumerate();
        std::stable_sort(candidates.begin(), candidates.end(),
                         [](const auto& a, const auto& b) { return a.estimate < b.estimate; });
        ContractionPlan smallest;
        bool any = false;
        std::size_t looked_at = 0;
        for (const auto& c : candidates) {
            if (looked_at++ >= max_full_estimates && best) break;
            auto plan = fitted(plan_with_mapping(spec_, groups_, mapping_of(c.assignment), options_));
            if (!any || plan.cost.working_bytes < smallest.cost.working_bytes) smallest = plan;
            any = true;
            if (plan.cost.working_bytes > options_.memory_limit) continue;
            if (!best || plan.cost.seconds < best->cost.seconds * (1 - 1e-9)) best = plan;
        }
        if (!best) refuse(smallest);
        return *std::move(best);
    }

private:
    struct Target {
        int group, position;
        double length;
    };
    struct Candidate {
        Assignment assignment;
        double estimate = 0;
    };
    static constexpr std::size_t max_full_estimates = 96;
    static constexpr double max_enumeration = 20000;
    static constexpr std::size_t beam_width = 256;

    /// All assignments where they are few, else the best by a beam search over torus dimensions.
    std::vector<Candidate> enumerate() const {
        double count = 1;
        for (int t = 0; t < grid_.dimensions(); ++t) count *= static_cast<double>(targets_.size()) + 1;
        std::vector<Candidate> beam{{Assignment(grid_.lengths.size(), -1), 0}};
        for (int t = 0; t < grid_.dimensions(); ++t) {
            std::vector<Candidate> next;
            for (const auto& c : beam)
                for (int target = -1; target < static_cast<int>(targets_.size()); ++target) {
                    auto extended = c;
                    extended.assignment[static_cast<std::size_t>(t)] = target;
                    if (target >= 0 && !possible(extended.assignment, target)) continue;
                    next.push_back(std::move(extended));
                }
            for (auto& c : next) c.estimate = quick_estimate(c.assignment);
            if (count > max_enumeration && next.size() > beam_width) {
                std::stable_sort(next.begin(), next.end(), [](const auto& a, const auto& b) { return a.estimate < b.estimate; });
                next.resize(beam_width);
            }
            beam = std::move(next);
        }
        if (grid_.dimensions() == 0) beam[0].estimate = 0;
        return beam;
    }

    bool possible(const Assignment& a, int target) const {
        double places = 1;
        for (std::size_t t = 0; t < a.size(); ++t)
            if (a[t] == target) places *= static_cast<double>(grid_.lengths[t]);
        return places <= targets_[static_cast<std::size_t>(target)].length;
    }

    /// Seconds from block sizes alone.
    double quick_estimate(const Assignment& a) const {
        std::vector<double> length;
        for (const auto& g : groups_) length.push_back(static_cast<double>(g.size));
        for (std::size_t t = 0; t < a.size(); ++t)
            if (a[t] >= 0)
                length[static_cast<std::size_t>(targets_[static_cast<std::size_t>(a[t])].group)] /=
                    static_cast<double>(grid_.lengths[t]);
        const auto& machine = options_.machine;
        double products = 1, moved = 0;
        for (std::size_t g = 0; g < groups_.size(); ++g) products *= std::ceil(length[g] - 1e-9);
        for (auto o : {operand_a, operand_b, operand_c}) {
            double block = 1, whole = 1;
            bool present = false;
            for (std::size_t g = 0; g < groups_.size(); ++g)
                if (groups_[g].in(o)) {
                    block *= std::ceil(length[g] - 1e-9);
                    whole *= static_cast<double>(groups_[g].size);
                    present = true;
                }
            if (present) moved += std::max(0.0, block - whole / static_cast<double>(grid_.ranks()));
        }
        const double virtual_padding = options_.group_mapping == GroupMapping::blocks ? padding(a) : 1;
        return products * virtual_padding * spec_.flops_per_product / machine.flops_per_second +
               moved * static_cast<double>(spec_.element_bytes) / machine.bytes_per_second;
    }

    /// Growth of the iteration space by virtual blocks.
    double padding(const Assignment& a) const {
        const auto mapping = mapping_of(a);
        double factor = 1;
        for (std::size_t g = 0; g < groups_.size(); ++g) {
            if (!mapping[g].is_blocks()) continue;
            const Layout layout = group_layout(g, mapping[g]);
            factor *= static_cast<double>(layout.slot(0).max_local_size() * layout.slot(0).places()) /
                      std::max(1.0, static_cast<double>(groups_[g].size));
        }
        return factor;
    }

    Layout group_layout(std::size_t g, const SlotMapping& mapping) const {
        const auto& tree = groups_[g].in(operand_a) ? *groups_[g].tree[operand_a] : *groups_[g].tree[operand_b];
        std::vector<SymmetryNode> slots{with_positions(tree, groups_[g].labels)};
        std::vector<std::int64_t> extents;
        for (int l : groups_[g].labels) extents.push_back(spec_.label_extents[static_cast<std::size_t>(l)]);
        return Layout(grid_, extents, Symmetry(static_cast<int>(extents.size()), product(slots)), {mapping});
    }

    /// Mappings of the groups. The order of torus dimensions within a group follows a tensor that has the same ones there.
    std::vector<SlotMapping> mapping_of(const Assignment& a) const {
        std::vector<std::vector<std::vector<int>>> torus(groups_.size());
        for (std::size_t g = 0; g < groups_.size(); ++g) torus[g].resize(groups_[g].labels.size());
        std::vector<int> order;
        for (int t = 0; t < grid_.dimensions(); ++t) order.push_back(t);
        std::stable_sort(order.begin(), order.end(), [&](int x, int y) {
            return grid_.lengths[static_cast<std::size_t>(x)] > grid_.lengths[static_cast<std::size_t>(y)];
        });
        for (int t : order) {
            const int target = a[static_cast<std::size_t>(t)];
            if (target < 0) continue;
            const auto& to = targets_[static_cast<std::size_t>(target)];
            torus[static_cast<std::size_t>(to.group)][static_cast<std::size_t>(std::max(0, to.position))].push_back(t);
        }
        std::vector<SlotMapping> mapping(groups_.size());
        for (std::size_t g = 0; g < groups_.size(); ++g) {
            if (options_.group_mapping == GroupMapping::packed || groups_[g].labels.size() == 1) {
                mapping[g] = as_in_a_tensor(g, torus[g][0]);
                continue;
            }
            const auto& tree = groups_[g].in(operand_a) ? *groups_[g].tree[operand_a] : *groups_[g].tree[operand_b];
            mapping[g] = block_mapping(grid_, with_positions(tree, groups_[g].labels), torus[g]);
        }
        return mapping;
    }

    SlotMapping as_in_a_tensor(std::size_t g, const std::vector<int>& torus) const {
        auto sorted = torus;
        std::sort(sorted.begin(), sorted.end());
        auto look = [&](const OperandSpec& operand) -> std::optional<SlotMapping> {
            if (!(operand.layout.grid() == grid_)) return std::nullopt;
            for (int s = 0; s < operand.layout.slots(); ++s) {
                const auto& there = operand.layout.mapping(s).torus;
                const int first = operand.labels[static_cast<std::size_t>(operand.layout.slot_dimensions(s)[0])];
                if (std::count(groups_[g].labels.begin(), groups_[g].labels.end(), first) == 0) continue;
                auto other = there;
                std::sort(other.begin(), other.end());
                const bool whole = operand.layout.slot_dimensions(s).size() == groups_[g].labels.size();
                if (other != sorted) continue;
                SlotMapping found;
                found.torus = there;
                found.rows = whole && operand.layout.mapping(s).rows;
                return found;
            }
            return std::nullopt;
        };
        for (const auto& input : spec_.inputs)
            if (const auto found = look(input)) return *found;
        if (const auto found = look(spec_.output)) return *found;
        SlotMapping fresh;
        fresh.torus = torus;
        return fresh;
    }

    /// Cuts contracted groups into panels until the plan fits; the longest group first, then the next (recursion).
    ContractionPlan fitted(ContractionPlan plan) const {
        while (plan.cost.working_bytes > options_.memory_limit && deepen(plan)) estimate_cost(plan, groups_, options_);
        return plan;
    }

    bool deepen(ContractionPlan& plan) const {
        for (auto& level : plan.panels) {
            const auto& group = groups_[static_cast<std::size_t>(level.group)];
            const auto most = ceil_div(group.size, plan.group_places[static_cast<std::size_t>(level.group)]);
            if (level.count < most) {
                level.count = std::min(most, level.count * 2);
                return true;
            }
        }
        int next = -1;
        for (std::size_t g = 0; g < groups_.size(); ++g) {
            const bool known = std::any_of(plan.panels.begin(), plan.panels.end(),
                                           [&](const auto& l) { return l.group == static_cast<int>(g); });
            if (!groups_[g].is_contracted() || known || plan.group_mapping[g].is_blocks() || plan.group_mapping[g].rows) continue;
            if (groups_[g].size <= plan.group_places[g]) continue;
            if (next < 0 || groups_[g].size > groups_[static_cast<std::size_t>(next)].size) next = static_cast<int>(g);
        }
        if (next < 0) return false;
        plan.panels.push_back({next, 2});
        return true;
    }

    [[noreturn]] void refuse(const ContractionPlan& smallest) const {
        throw OutOfMemory("contraction to " + spec_.output.name + ": needs at least " +
                          bytes_text(static_cast<double>(smallest.cost.working_bytes)) +
                          " of working memory per rank, but the limit leaves " +
                          bytes_text(static_cast<double>(std::max<std::int64_t>(0, options_.memory_limit))) +
                          "; use more ranks or raise the limit (World::set_memory_limit, ARGES_MEMORY_LIMIT)");
    }

    const ContractionSpec& spec_;
    const PlanOptions& options_;
    std::vector<IndexGroup> groups_;
    RankGrid grid_;
    std::vector<Target> targets_;
};

}  // namespace

ContractionPlan plan_contraction(const ContractionSpec& spec, const PlanOptions& options) {
    return GridSearch(spec, options).best(plan_by_rows(spec, options));
}

}  // namespace arges
