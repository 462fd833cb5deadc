#include "plan/working_layouts.hpp"

#include "base/math.hpp"
#include "plan/working_operand.hpp"

#include <algorithm>

namespace arges {

namespace {

constexpr std::array operands{operand_a, operand_b, operand_c};

bool contains(const std::vector<int>& list, int x) { return std::find(list.begin(), list.end(), x) != list.end(); }

}  // namespace

WorkingLayouts::WorkingLayouts(const Product& spec, const std::vector<IndexGroup>& groups, const RankGrid& grid)
    : spec_(spec), groups_(groups), grid_(grid), ranks_(grid) {
    for (const auto& g : groups) role_.push_back(role_of(g));
    for (auto o : operands) {
        const bool exists = o != operand_b || spec.factors.size() > 1;
        if (exists) storage_[o] = storage_of(o);
        moved_.emplace_back(spec_of(exists ? o : operand_a), grid, ranks_);
    }
    for (const auto& g : groups) {
        auto& match = match_.emplace_back();
        for (auto o : operands)
            if (g.in(o)) match[o] = moved_[o].match(g.labels, g.tree[o]->kind);
    }
}

WorkingLayouts::Role WorkingLayouts::role_of(const IndexGroup& group) {
    if (group.is_batch()) return batch;
    if (group.is_contracted()) return k;
    return group.in(operand_a) ? m : n;
}

int WorkingLayouts::find_group(Operand o, const SymmetryNode& tree) const {
    for (std::size_t g = 0; g < groups_.size(); ++g)
        if (groups_[g].in(o) && same_tree(*groups_[g].tree[o], tree)) return static_cast<int>(g);
    return -1;
}

WorkingLayouts::Storage WorkingLayouts::storage_of(Operand o) const {
    Storage storage;
    storage.exists = true;
    storage.first_role = o == operand_b ? k : m;
    const auto& operand = spec_of(o);
    const auto present = std::count_if(groups_.begin(), groups_.end(), [&](const auto& g) { return g.in(o); });
    storage.fits = operand.layout.grid() == grid_ && operand.layout.slots() == present;
    for (int s = 0; s < operand.layout.slots() && storage.fits; ++s) {
        const auto tree = with_labels(operand.layout.symmetry().slots()[static_cast<std::size_t>(s)], operand.labels);
        const int g = find_group(o, tree);
        storage.fits = g >= 0 && !contains(storage.groups, g);
        if (!storage.fits) break;
        storage.groups.push_back(g);
        // Antisymmetric groups are stored in the tensor's order of dimensions.
        storage.odd ^= odd_order(*groups_[static_cast<std::size_t>(g)].tree[o], tree);
    }
    const auto has_label = [&](std::size_t g, int label) { return contains(groups_[g].labels, label); };
    const auto add = [&](std::array<GroupList, 4>& lists, int g) {
        auto& list = lists[role_[static_cast<std::size_t>(g)]];
        if (groups_[static_cast<std::size_t>(g)].in(o) && !contains(list, g)) list.push_back(g);
    };
    if (storage.fits)
        for (int g : storage.groups) add(storage.by_storage, g);
    for (int l : operand.labels)
        for (std::size_t g = 0; g < groups_.size(); ++g)
            if (has_label(g, l)) add(storage.by_labels, static_cast<int>(g));
    if (operand.labels.empty()) return storage;
    const int fastest = operand.labels[static_cast<std::size_t>(operand.layout.slot_dimensions(0)[0])];
    for (std::size_t g = groups_.size(); g-- > 0;)
        if (has_label(g, fastest)) storage.first_role = role_[g];
    return storage;
}

const WorkingLayouts::MappedGroup& WorkingLayouts::map_group(std::size_t g, SlotMapping mapping) {
    const auto& group = groups_[g];
    auto& result = known_.emplace_back();
    result.mapping = std::move(mapping);
    const auto torus = result.mapping.all();
    result.is_spread = !torus.empty();
    result.places = ranks_.places(torus);
    std::optional<Layout> uneven;  // of the group alone
    if (result.mapping.rows || result.mapping.is_blocks()) {
        const auto& tree = group.in(operand_a) ? *group.tree[operand_a] : *group.tree[operand_b];
        std::vector<SymmetryNode> slots{with_positions(tree, group.labels)};
        std::vector<std::int64_t> extents;
        for (int l : group.labels) extents.push_back(spec_.label_extents[static_cast<std::size_t>(l)]);
        uneven = Layout(grid_, extents, Symmetry(static_cast<int>(extents.size()), product(std::move(slots))), {result.mapping});
    }
    const auto* const slot = uneven ? &uneven->slot(0) : nullptr;
    result.length = static_cast<double>(slot != nullptr ? slot->max_local_size() : ceil_div(group.size, result.places));
    for (auto o : operands) {
        if (!group.in(o)) continue;
        result.share[o] = moved_[o].share(match_[g][o], {result.mapping, group.size, slot});
        for (std::size_t s = 0; s < storage_[o].groups.size(); ++s)
            if (storage_[o].groups[s] == static_cast<int>(g)) result.as_stored[o] = spec_of(o).layout.mapping(static_cast<int>(s)) == result.mapping;
    }
    return result;
}

WorkingSizes WorkingLayouts::map_groups(ContractionPlan& plan, std::vector<const MappedGroup*> groups) {
    mapped_ = std::move(groups);
    plan.group_mapping.resize(groups_.size());
    plan.group_places.resize(groups_.size());
    plan.panels.clear();
    plan.weight = 1;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
        plan.group_mapping[g] = mapped_[g]->mapping;
        plan.group_places[g] = mapped_[g]->places;
        plan.weight *= groups_[g].constant_weight();
    }
    for (auto o : operands) elements_[o] = storage_[o].exists ? local_elements(o) : 0;
    plan.weighted_operand = -1;
    for (const auto& g : groups_)
        if (g.needs_weights()) plan.weighted_operand = plan.unary() || elements_[operand_a] <= elements_[operand_b] ? operand_a : operand_b;
    batch_first_ = has_small_matrices();
    for (auto o : operands) {
        const auto& storage = storage_[o];
        natural_[o] = storage.fits;
        for (std::size_t s = 0; s < storage.groups.size() && natural_[o]; ++s)
            natural_[o] = mapped_[static_cast<std::size_t>(storage.groups[s])]->as_stored[o];
        eligible_[o] = storage.exists && is_eligible(plan, o);
    }
    order_ = best_order();
    WorkingSizes sizes;
    for (const auto* group : mapped_) sizes.products *= group->length;
    std::vector<const SlotShare*> shares;
    for (auto o : operands) {
        in_place_[o] = eligible_[o] && folds(o, order_);
        if (in_place_[o] && storage_[o].odd) plan.weight = -plan.weight;
        sizes.moves[o] = storage_[o].exists && !in_place_[o];
        if (!sizes.moves[o]) continue;
        sizes.block[o] = 1;
        shares.clear();
        for (std::size_t g = 0; g < groups_.size(); ++g) {
            if (!groups_[g].in(o)) continue;
            sizes.block[o] *= mapped_[g]->length;
            shares.push_back(&mapped_[g]->share[o]);
        }
        sizes.words[o] = moved_[o].count(shares);
    }
    return sizes;
}

/// Can the tensor's own array be used at all?
bool WorkingLayouts::is_eligible(const ContractionPlan& plan, Operand o) const {
    if (!natural_[o] && !spec_of(o).labels.empty()) return false;
    if (o != operand_c) return !spec_of(o).conjugated && plan.weighted_operand != static_cast<int>(o);
    if (spec_.terms.size() > 1) return false;
    for (std::size_t g = 0; g < groups_.size(); ++g)
        if (groups_[g].is_contracted() && mapped_[g]->is_spread) return false;
    return true;
}

double WorkingLayouts::local_elements(Operand o) const {
    double product = 1;
    for (std::size_t g = 0; g < groups_.size(); ++g)
        if (groups_[g].in(o)) product *= static_cast<double>(groups_[g].size) / static_cast<double>(mapped_[g]->places);
    return product;
}

/// Batches of tiny products run fastest along the batch.
bool WorkingLayouts::has_small_matrices() const {
    double product = 1;
    bool has_batch = false;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
        if (role_[g] == batch)
            has_batch = true;
        else
            product *= static_cast<double>(groups_[g].size) / static_cast<double>(mapped_[g]->places);
    }
    return has_batch && product <= 64;
}

WorkingLayouts::Choices WorkingLayouts::order_choices() const {
    static constexpr std::array<std::array<bool, 3>, 4> has_role{{{true, false, true}, {false, true, true}, {true, true, false}, {true, true, true}}};
    static const GroupList none;
    Choices choices;
    for (const auto role : {m, n, k, batch})
        for (auto o : operands) {
            if (!storage_[o].exists || !has_role[role][o]) continue;
            const auto& list = (natural_[o] ? storage_[o].by_storage : storage_[o].by_labels)[role];
            if (std::none_of(choices[role].begin(), choices[role].end(), [&](const auto* known) { return *known == list; })) choices[role].push_back(&list);
        }
    for (auto& lists : choices)
        if (lists.empty()) lists.push_back(&none);
    return choices;
}

/// The order in which the fewest elements are copied.
WorkingLayouts::Order WorkingLayouts::best_order() {
    auto& known = choices_[(natural_[0] ? 1U : 0U) | (natural_[1] ? 2U : 0U) | (natural_[2] ? 4U : 0U)];
    if (!known) known = order_choices();
    const auto& choices = *known;
    Order best{choices[m][0], choices[n][0], choices[k][0], choices[batch][0]};
    if (!eligible_[operand_a] && !eligible_[operand_b] && !eligible_[operand_c]) return best;
    double least = -1;
    for (const auto* of_m : choices[m])
        for (const auto* of_k : choices[k])
            for (const auto* of_n : choices[n])
                for (const auto* of_batch : choices[batch]) {
                    const Order order{of_m, of_n, of_k, of_batch};
                    double copied = 0;
                    for (auto o : operands)
                        if (storage_[o].exists && !(eligible_[o] && folds(o, order))) copied += elements_[o];
                    if (least >= 0 && copied >= least) continue;
                    least = copied;
                    best = order;
                }
    return best;
}

/// The groups of an operand by role, batch groups first or last.
void WorkingLayouts::arrange(Operand o, const Order& order, bool first_role_first, GroupList& result) const {
    static constexpr std::array<std::array<Role, 2>, 3> roles{{{m, k}, {k, n}, {m, n}}};
    result.clear();
    const auto add = [&](Role role) {
        for (int g : *order[role])
            if (groups_[static_cast<std::size_t>(g)].in(o)) result.push_back(g);
    };
    if (batch_first_) add(batch);
    add(roles[o][first_role_first ? 0 : 1]);
    add(roles[o][first_role_first ? 1 : 0]);
    if (!batch_first_) add(batch);
}

/// The classes of an operand's groups form at most one run each in its own array.
bool WorkingLayouts::folds(Operand o, const Order& order) const {
    for (const bool first : {true, false}) {
        arrange(o, order, first, scratch_);
        if (scratch_ == storage_[o].groups) return true;
    }
    return false;
}

/// The groups of an operand's working array. A copy keeps the tensor's fastest index in front where it can, which makes copying cheaper.
WorkingLayouts::GroupList WorkingLayouts::working_order(Operand o) const {
    if (in_place_[o]) return storage_[o].groups;
    GroupList result;
    arrange(o, order_, storage_[o].first_role == (o == operand_b ? k : m), result);
    return result;
}

void WorkingLayouts::set_operands(ContractionPlan& plan) const {
    for (auto o : operands) {
        if (!storage_[o].exists) continue;
        auto& w = plan.operand[o];
        if (in_place_[o]) {
            w = {working_order(o), spec_of(o).labels, spec_of(o).layout, true};
            continue;
        }
        std::vector<int> partial;
        for (std::size_t g = 0; o == operand_c && g < groups_.size(); ++g) {
            if (!groups_[g].is_contracted()) continue;
            const auto torus = plan.group_mapping[g].all();
            partial.insert(partial.end(), torus.begin(), torus.end());
        }
        w = working_copy(plan, groups_, o, working_order(o), partial);
    }
}

}  // namespace arges
