#include "plan/working_layouts.hpp"

#include "plan/working_operand.hpp"

#include <algorithm>
#include <map>

namespace arges {

namespace {

/// Role of a group in the folded product: C[m n b] = A[m k b] B[k n b].
enum class Role : std::uint8_t { m, n, k, batch };

Role role_of(const IndexGroup& g) {
    if (g.is_batch()) return Role::batch;
    if (g.is_contracted()) return Role::k;
    return g.in(operand_a) ? Role::m : Role::n;
}

constexpr std::array<std::array<Role, 2>, 3> roles_of_operand{{{Role::m, Role::k}, {Role::k, Role::n}, {Role::m, Role::n}}};

class LayoutChooser {
public:
    LayoutChooser(ContractionPlan& plan, const std::vector<IndexGroup>& groups) : plan_(plan), groups_(groups) {
        for (const auto& g : groups) role_.push_back(role_of(g));
        for (std::size_t o = 0; o < 3; ++o) natural_[o] = natural_order(static_cast<Operand>(o));
        batch_first_ = small_matrices();
    }

    void choose() {
        plan_.weighted_operand = -1;
        for (const auto& g : groups_)
            if (g.needs_weights()) plan_.weighted_operand = lighter_input();
        double best = -1;
        Order best_order;
        for (const auto& order : candidate_orders()) {
            const double cost = copy_cost(order);
            if (best < 0 || cost < best) {
                best = cost;
                best_order = order;
            }
        }
        for (std::size_t o = 0; o < 3; ++o)
            if (o != operand_b || !plan_.unary()) set_operand(static_cast<Operand>(o), best_order);
    }

private:
    /// Order of the groups of each role.
    using Order = std::map<Role, std::vector<int>>;

    const OperandSpec& spec_of(Operand o) const {
        return o == operand_c ? plan_.spec.output : plan_.spec.inputs[o];
    }
    bool exists(Operand o) const { return o != operand_b || !plan_.unary(); }

    /// Groups of the tensor's slots in storage order, if slots and groups agree in symmetry and mapping; else empty.
    std::vector<int> natural_order(Operand o) const {
        if (!exists(o)) return {};
        const auto& operand = spec_of(o);
        if (!(operand.layout.grid() == plan_.grid)) return {};
        std::vector<int> result;
        for (int s = 0; s < operand.layout.slots(); ++s) {
            const auto tree = with_labels(operand.layout.symmetry().slots()[static_cast<std::size_t>(s)], operand.labels);
            const int g = find_group(o, tree);
            if (g < 0 || std::count(result.begin(), result.end(), g) > 0) return {};
            if (!(operand.layout.mapping(s) == plan_.group_mapping[static_cast<std::size_t>(g)])) return {};
            result.push_back(g);
        }
        const auto present = std::count_if(groups_.begin(), groups_.end(), [&](const auto& g) { return g.in(o); });
        return static_cast<std::ptrdiff_t>(result.size()) == present ? result : std::vector<int>();
    }

    int find_group(Operand o, const SymmetryNode& tree) const {
        for (std::size_t g = 0; g < groups_.size(); ++g)
            if (groups_[g].in(o) && same_tree(*groups_[g].tree[o], tree)) return static_cast<int>(g);
        return -1;
    }

    /// An array used in place stores its antisymmetric groups in the tensor's order of dimensions, which may differ from the
    /// group's in sign.
    void note_sign(Operand o) {
        const auto& operand = spec_of(o);
        for (int s = 0; s < operand.layout.slots(); ++s) {
            const auto tree = with_labels(operand.layout.symmetry().slots()[static_cast<std::size_t>(s)], operand.labels);
            const auto g = static_cast<std::size_t>(natural_[o][static_cast<std::size_t>(s)]);
            if (odd_order(*groups_[g].tree[o], tree)) plan_.weight = -plan_.weight;
        }
    }

    bool exists_in_order(Operand o) const {
        return !natural_[o].empty() || (exists(o) && spec_of(o).labels.empty());
    }

    /// Can the tensor's own array be used at all?
    bool eligible(Operand o) const {
        if (!exists_in_order(o)) return false;
        const auto& operand = spec_of(o);
        if (o == operand_c) {
            if (plan_.spec.terms.size() > 1) return false;
            for (std::size_t g = 0; g < groups_.size(); ++g)
                if (groups_[g].is_contracted() && !plan_.group_mapping[g].all().empty()) return false;
            return true;
        }
        return !operand.conjugated && plan_.weighted_operand != static_cast<int>(o);
    }

    /// The classes of an operand's groups form at most one run each, batch groups first or last.
    bool folds(Operand o, const Order& order) const {
        std::vector<int> wanted[2];
        for (int first = 0; first < 2; ++first) wanted[first] = arranged(o, order, first == 0);
        return natural_[o] == wanted[0] || natural_[o] == wanted[1];
    }

    std::vector<int> of_role(const Order& order, Role role) const {
        const auto it = order.find(role);
        return it == order.end() ? std::vector<int>() : it->second;
    }

    std::vector<int> arranged(Operand o, const Order& order, bool first_role_first) const {
        auto front = of_role(order, roles_of_operand[o][first_role_first ? 0 : 1]);
        const auto back = of_role(order, roles_of_operand[o][first_role_first ? 1 : 0]);
        front.insert(front.end(), back.begin(), back.end());
        const auto batch = of_role(order, Role::batch);
        front.insert(batch_first_ ? front.begin() : front.end(), batch.begin(), batch.end());
        std::erase_if(front, [&](int g) { return !groups_[static_cast<std::size_t>(g)].in(o); });
        return front;
    }

    /// Groups of a role as they follow each other in an operand; where it has no natural order, as its labels do.
    std::vector<int> order_in(Operand o, Role role) const {
        std::vector<int> result;
        auto add = [&](int g) {
            const auto& group = groups_[static_cast<std::size_t>(g)];
            if (role_[static_cast<std::size_t>(g)] == role && group.in(o) && std::count(result.begin(), result.end(), g) == 0)
                result.push_back(g);
        };
        for (int g : natural_[o]) add(g);
        for (int l : spec_of(o).labels)
            for (std::size_t g = 0; g < groups_.size(); ++g)
                if (std::count(groups_[g].labels.begin(), groups_[g].labels.end(), l) > 0) add(static_cast<int>(g));
        return result;
    }

    std::vector<Order> candidate_orders() const {
        std::vector<Order> result{Order{}};
        const std::array<std::pair<Role, std::vector<Operand>>, 4> sources{{{Role::m, {operand_a, operand_c}},
                                                                             {Role::k, {operand_a, operand_b}},
                                                                             {Role::n, {operand_b, operand_c}},
                                                                             {Role::batch, {operand_a, operand_b, operand_c}}}};
        for (const auto& [role, operands] : sources) {
            std::vector<std::vector<int>> choices;
            for (auto o : operands)
                if (exists(o)) {
                    auto choice = order_in(o, role);
                    if (std::count(choices.begin(), choices.end(), choice) == 0) choices.push_back(std::move(choice));
                }
            std::vector<Order> next;
            for (const auto& order : result)
                for (const auto& choice : choices) {
                    next.push_back(order);
                    next.back()[role] = choice;
                }
            result = std::move(next);
        }
        return result;
    }

    double local_elements(Operand o) const {
        double product = 1;
        for (std::size_t g = 0; g < groups_.size(); ++g)
            if (groups_[g].in(o))
                product *= static_cast<double>(groups_[g].size) / static_cast<double>(plan_.group_places[g]);
        return product;
    }

    double copy_cost(const Order& order) const {
        double cost = 0;
        for (auto o : {operand_a, operand_b, operand_c})
            if (exists(o) && !(eligible(o) && folds(o, order))) cost += local_elements(o);
        return cost;
    }

    int lighter_input() const {
        if (plan_.unary()) return operand_a;
        return local_elements(operand_a) <= local_elements(operand_b) ? operand_a : operand_b;
    }

    /// Batches of tiny products run fastest along the batch.
    bool small_matrices() const {
        double product = 1;
        bool batch = false;
        for (std::size_t g = 0; g < groups_.size(); ++g) {
            if (role_[g] == Role::batch)
                batch = true;
            else
                product *= static_cast<double>(groups_[g].size) / static_cast<double>(plan_.group_places[g]);
        }
        return batch && product <= 64;
    }

    void set_operand(Operand o, const Order& order) {
        auto& w = plan_.operand[o];
        w.in_place = eligible(o) && folds(o, order);
        w.groups = w.in_place ? natural_[o] : arranged(o, order, starts_with_first_role(o));
        if (w.in_place) {
            w.labels = spec_of(o).labels;
            w.layout = spec_of(o).layout;
            note_sign(o);
            return;
        }
        w = working_copy(plan_, groups_, o, std::move(w.groups), o == operand_c ? partial_dimensions() : std::vector<int>());
    }

    std::vector<int> partial_dimensions() const {
        std::vector<int> result;
        for (std::size_t g = 0; g < groups_.size(); ++g)
            if (groups_[g].is_contracted()) {
                const auto torus = plan_.group_mapping[g].all();
                result.insert(result.end(), torus.begin(), torus.end());
            }
        return result;
    }

    /// The copy keeps the tensor's fastest index in front where it can, which makes copying cheaper.
    bool starts_with_first_role(Operand o) const {
        if (spec_of(o).labels.empty()) return true;
        const auto& layout = spec_of(o).layout;
        const int label = spec_of(o).labels[static_cast<std::size_t>(layout.slot_dimensions(0)[0])];
        for (std::size_t g = 0; g < groups_.size(); ++g)
            if (std::count(groups_[g].labels.begin(), groups_[g].labels.end(), label) > 0)
                return role_[g] == roles_of_operand[o][0];
        return true;
    }

    ContractionPlan& plan_;
    const std::vector<IndexGroup>& groups_;
    std::vector<Role> role_;
    std::array<std::vector<int>, 3> natural_;
    bool batch_first_ = false;
};

}  // namespace

void choose_working_layouts(ContractionPlan& plan, const std::vector<IndexGroup>& groups) {
    LayoutChooser(plan, groups).choose();
}

}  // namespace arges
