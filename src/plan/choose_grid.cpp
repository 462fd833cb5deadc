#include "base/math.hpp"
#include "plan/contraction_plan.hpp"
#include "plan/estimate_cost.hpp"
#include "plan/pair_rows.hpp"
#include "plan/ranked_assignments.hpp"
#include "plan/working_layouts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace arges {

namespace {

std::string bytes_text(double bytes) {
    static const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    int unit = 0;
    for (; bytes >= 10240 && unit < 4; ++unit) bytes /= 1024;
    return std::to_string(static_cast<std::int64_t>(bytes)) + " " + units[unit];
}

/// What is known of a group, by the torus dimensions that its targets get: a tree with a level for each torus dimension.
class KnownParts {
public:
    /// @param first  target of the group, @param count  of them
    KnownParts(int first, int count) : first_(first), count_(count) { add_node(); }

    /// Null where nothing is known yet. Holds until the next call.
    const WorkingLayouts::MappedGroup*& of(const Assignment& a) {
        std::size_t node = 0;
        for (const int target : a) {
            const bool own = target >= first_ && target < first_ + count_;
            const auto branch = node * width() + static_cast<std::size_t>(own ? target - first_ + 1 : 0);
            if (next_[branch] == 0) next_[branch] = add_node();
            node = next_[branch];
        }
        return groups_[node];
    }

private:
    std::size_t width() const { return static_cast<std::size_t>(count_) + 1; }
    std::size_t add_node() {
        next_.resize(next_.size() + width(), 0);
        groups_.push_back(nullptr);
        return groups_.size() - 1;
    }

    int first_, count_;
    std::vector<std::size_t> next_;  // by node and target of the group, none of them first; 0: nothing there
    std::vector<const WorkingLayouts::MappedGroup*> groups_;  // by node
};

/// Gives every torus dimension to a target: a group (packed) or a label (blocks), or to none.
class GridSearch {
public:
    GridSearch(const Product& spec, const PlanOptions& options)
        : spec_(spec), options_(options), groups_(index_groups(spec)), grid_(options.whole_grid(spec.output.layout)), layouts_(spec, groups_, grid_) {
        for (std::size_t g = 0; g < groups_.size(); ++g) {
            const auto& labels = groups_[g].labels;
            known_.emplace_back(static_cast<int>(targets_.size()), is_one_axis(g) ? 1 : static_cast<int>(labels.size()));
            if (is_one_axis(g)) {
                targets_.push_back({static_cast<int>(g), -1, static_cast<double>(groups_[g].size)});
                continue;
            }
            for (std::size_t i = 0; i < labels.size(); ++i)
                targets_.push_back({static_cast<int>(g), static_cast<int>(i), static_cast<double>(spec.label_extents[static_cast<std::size_t>(labels[i])])});
        }
        for (int t = 0; t < grid_.dimensions(); ++t) longest_first_.push_back(t);
        std::stable_sort(longest_first_.begin(), longest_first_.end(), [&](int x, int y) {
            return grid_.lengths[static_cast<std::size_t>(x)] > grid_.lengths[static_cast<std::size_t>(y)];
        });
        present_.resize(groups_.size());
        for (auto o : {operand_a, operand_b, operand_c})
            if (o != operand_b || spec.factors.size() > 1) look_at_tensor(o);
        for (const double weight : options.link_weight) least_weight_ = std::min(least_weight_, weight);
    }

    /// @param best a plan that is there already, if any
    ContractionPlan best(std::optional<ContractionPlan> best) {
        const AssignmentSpace space{grid_.lengths, capacities(), [this](const Assignment& a) { return quick_estimate(a); },
                                    options_.group_mapping == GroupMapping::blocks};
        ContractionPlan plan;
        plan.spec = spec_;
        plan.grid = grid_;
        std::optional<Assignment> found;
        double least = best ? best->cost.seconds : 0;
        std::int64_t smallest = std::numeric_limits<std::int64_t>::max();
        const auto look_at = [&](const Assignment& a) {
            const bool any = best || found;
            if (any && least_seconds(a) >= least * (1 - 1e-9)) return;
            fit(plan, layouts_.map_groups(plan, mapped(a)));
            smallest = std::min(smallest, plan.cost.working_bytes);
            if (plan.cost.working_bytes > options_.memory_limit || (any && plan.cost.seconds >= least * (1 - 1e-9))) return;
            found = a;
            least = plan.cost.seconds;
        };
        for (const auto& a : ranked_assignments(space, max_full_estimates)) look_at(a);
        if (!best && !found) {
            const auto all = ranked_assignments(space, std::numeric_limits<std::size_t>::max());
            for (std::size_t i = max_full_estimates; i < all.size() && !found; ++i) look_at(all[i]);
        }
        if (!found) return best ? *std::move(best) : refuse(smallest);
        fit(plan, layouts_.map_groups(plan, mapped(*found)));
        layouts_.set_operands(plan);
        return plan;
    }

private:
    struct Target {
        int group, position;
        double length;
    };
    /// How a slot of a tensor that begins with a label of a group lies on the grid.
    struct Present {
        std::vector<int> torus, sorted;
        bool rows;  // of the whole group
    };
    static constexpr std::size_t max_full_estimates = 96;

    bool is_one_axis(std::size_t g) const { return options_.group_mapping == GroupMapping::packed || groups_[g].labels.size() == 1; }

    std::vector<double> capacities() const {
        std::vector<double> result;
        for (const auto& target : targets_) result.push_back(target.length);
        return result;
    }

    /// Indices of the groups on a rank.
    void set_lengths(const Assignment& a) const {
        length_.clear();
        for (const auto& g : groups_) length_.push_back(static_cast<double>(g.size));
        for (std::size_t t = 0; t < a.size(); ++t)
            if (a[t] >= 0)
                length_[static_cast<std::size_t>(targets_[static_cast<std::size_t>(a[t])].group)] /=
                    static_cast<double>(grid_.lengths[t]);
        for (auto& length : length_) length = std::ceil(length - 1e-9);
    }

    double multiply_seconds() const {
        double products = 1;
        for (const double length : length_) products *= length;
        return products * spec_.flops_per_product() / options_.machine.flops_per_second;
    }

    double block(Operand o) const {
        double product = 1;
        for (std::size_t g = 0; g < groups_.size(); ++g)
            if (groups_[g].in(o)) product *= length_[g];
        return product;
    }

    /// Seconds from block sizes alone.
    double quick_estimate(const Assignment& a) {
        set_lengths(a);
        double moved = 0;
        for (auto o : {operand_a, operand_b, operand_c}) {
            double whole = 1;
            bool present = false;
            for (const auto& g : groups_)
                if (g.in(o)) {
                    whole *= static_cast<double>(g.size);
                    present = true;
                }
            if (present) moved += std::max(0.0, block(o) - whole / static_cast<double>(grid_.ranks()));
        }
        const double virtual_padding = options_.group_mapping == GroupMapping::blocks ? padding(a) : 1;
        return virtual_padding * multiply_seconds() + moved * static_cast<double>(spec_.element_bytes) / options_.machine.bytes_per_second;
    }

    /// A bound from below of the estimate in full: what is larger than a rank's part of the tensor is not in place.
    double least_seconds(const Assignment& a) const {
        set_lengths(a);
        double moved = 0, copied = 0;
        for (auto o : {operand_a, operand_b, operand_c}) {
            if (!may_bound_words_ || grid_.ranks() == 1 || (o == operand_b && spec_.factors.size() == 1)) continue;
            const double size = block(o), words = size - owned_[o];
            if (words <= 0) continue;
            moved += words;
            copied += 2 * size + 2 * words;
        }
        const auto bytes = static_cast<double>(spec_.element_bytes);
        return multiply_seconds() * (spec_.factors.size() == 1 ? 0.5 : 1) + moved * bytes * least_weight_ / options_.machine.bytes_per_second +
               copied * bytes / options_.machine.copied_bytes_per_second;
    }

    /// Growth of the iteration space by virtual blocks.
    double padding(const Assignment& a) {
        double factor = 1;
        const auto groups = mapped(a);
        for (std::size_t g = 0; g < groups.size(); ++g)
            if (groups[g]->mapping.is_blocks())
                factor *= groups[g]->length * static_cast<double>(groups[g]->places) / std::max(1.0, static_cast<double>(groups_[g].size));
        return factor;
    }

    /// The groups as an assignment maps them. A group is mapped alike wherever it gets the same torus dimensions.
    std::vector<const WorkingLayouts::MappedGroup*> mapped(const Assignment& a) {
        std::vector<const WorkingLayouts::MappedGroup*> result;
        for (std::size_t g = 0; g < groups_.size(); ++g) {
            auto& known = known_[g].of(a);
            if (known == nullptr) known = &layouts_.map_group(g, mapping_of(g, a));
            result.push_back(known);
        }
        return result;
    }

    bool is_of(int target, std::size_t g) const { return target >= 0 && targets_[static_cast<std::size_t>(target)].group == static_cast<int>(g); }

    /// The order of torus dimensions within a group follows a tensor that has the same ones there.
    SlotMapping mapping_of(std::size_t g, const Assignment& a) const {
        std::vector<std::vector<int>> torus(groups_[g].labels.size());
        for (int t : longest_first_)
            if (const int target = a[static_cast<std::size_t>(t)]; is_of(target, g))
                torus[static_cast<std::size_t>(std::max(0, targets_[static_cast<std::size_t>(target)].position))].push_back(t);
        if (!is_one_axis(g)) return block_mapping(grid_, tree_of(g), std::move(torus));
        SlotMapping mapping;
        mapping.torus = torus[0];
        follow_a_tensor(g, mapping);
        return mapping;
    }

    /// The node of a group by positions.
    SymmetryNode tree_of(std::size_t g) const {
        return with_positions(groups_[g].in(operand_a) ? *groups_[g].tree[operand_a] : *groups_[g].tree[operand_b], groups_[g].labels);
    }

    void look_at_tensor(Operand o) {
        const auto& operand = o == operand_c ? spec_.output : spec_.factors[o];
        const auto& layout = operand.layout;
        for (int s = 0; s < layout.slots(); ++s) {
            const auto& mapping = layout.mapping(s);
            const auto& dimensions = layout.slot_dimensions(s);
            double unpacked = 1;
            for (int d : dimensions) unpacked *= static_cast<double>(layout.extents()[static_cast<std::size_t>(d)]);
            owned_[o] *= std::max(unpacked / static_cast<double>(layout.slot(s).places()), static_cast<double>(layout.slot(s).max_local_size()));
            may_bound_words_ = may_bound_words_ && !mapping.rows && !mapping.is_blocks();
            if (!(layout.grid() == grid_)) continue;
            const int first = operand.labels[static_cast<std::size_t>(dimensions[0])];
            auto sorted = mapping.torus;
            std::sort(sorted.begin(), sorted.end());
            for (std::size_t g = 0; g < groups_.size(); ++g)
                if (const auto& labels = groups_[g].labels; std::count(labels.begin(), labels.end(), first) > 0)
                    present_[g].push_back({mapping.torus, sorted, dimensions.size() == labels.size() && mapping.rows});
        }
    }

    void follow_a_tensor(std::size_t g, SlotMapping& mapping) const {
        auto sorted = mapping.torus;
        std::sort(sorted.begin(), sorted.end());
        const auto found = std::find_if(present_[g].begin(), present_[g].end(), [&](const auto& there) { return there.sorted == sorted; });
        if (found == present_[g].end()) return;
        mapping.torus = found->torus;
        mapping.rows = found->rows;
    }

    /// Cuts contracted groups into panels until the plan fits; the longest group first, then the next (recursion).
    void fit(ContractionPlan& plan, const WorkingSizes& sizes) const {
        estimate_cost(plan, groups_, options_, sizes);
        while (plan.cost.working_bytes > options_.memory_limit && deepen(plan)) estimate_cost(plan, groups_, options_, sizes);
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

    [[noreturn]] ContractionPlan refuse(std::int64_t smallest) const {
        throw OutOfMemory("contraction to " + spec_.output.name + ": needs at least " +
                          bytes_text(static_cast<double>(smallest)) +
                          " of working memory per rank, but the limit leaves " +
                          bytes_text(static_cast<double>(std::max<std::int64_t>(0, options_.memory_limit))) +
                          "; use more ranks or raise the limit (World::set_memory_limit, ARGES_MEMORY_LIMIT)");
    }

    const Product& spec_;
    const PlanOptions& options_;
    std::vector<IndexGroup> groups_;
    RankGrid grid_;
    WorkingLayouts layouts_;
    std::vector<Target> targets_;
    std::vector<int> longest_first_;              // torus dimensions
    std::vector<std::vector<Present>> present_;   // by group: of the inputs, then of the output
    std::array<double, 3> owned_{1, 1, 1};        // by operand: elements that a rank has of it, unpacked, at most
    bool may_bound_words_ = true;                 // no slot is dealt out by rows, of which the ranks that are counted may have few, or in blocks
    double least_weight_ = 1;                     // of a link
    std::vector<KnownParts> known_;               // by group
    mutable std::vector<double> length_;          // by group, of the assignment that is looked at
};

}  // namespace

ContractionPlan plan_contraction(const Product& spec, const PlanOptions& options) {
    return GridSearch(spec, options).best(plan_by_rows(spec, options));
}

}  // namespace arges
