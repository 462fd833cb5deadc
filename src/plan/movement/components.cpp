// Slots of source and target that share labels are joined by union-find; the terms of a movement are split into a product over the
// components where they are one.
#include "plan/movement/components.hpp"

#include <algorithm>
#include <numeric>
#include <set>

namespace arges {

namespace {

/// Union-find over labels.
class LabelClasses {
public:
    explicit LabelClasses(std::size_t labels) : parent_(labels) { std::iota(parent_.begin(), parent_.end(), 0); }
    int find(int a) const {
        while (parent_[a] != a) a = parent_[a];
        return a;
    }
    void join(int a, int b) { parent_[std::max(find(a), find(b))] = std::min(find(a), find(b)); }

private:
    std::vector<int> parent_;
};

void join_slots(LabelClasses& classes, const Layout& layout, const std::vector<int>& labels) {
    for (int s = 0; s < layout.slots(); ++s) {
        const auto& dims = layout.slot_dimensions(s);
        for (int d : dims) classes.join(labels[dims[0]], labels[d]);
    }
}

LabelTerm restricted(const LabelTerm& term, const LabelClasses& classes, int root) {
    auto result = term;
    for (std::size_t l = 0; l < term.image.size(); ++l)
        if (classes.find(l) != root) result.image[l] = l;
    return result;
}

/// Terms of one class, if the set of all terms is the product of the classes' sets; sign included.
struct Factorization {
    std::vector<int> roots;
    std::vector<std::vector<LabelTerm>> terms;
    bool valid = true;
};

Factorization factorize(const std::vector<LabelTerm>& all, const LabelClasses& classes) {
    Factorization f;
    for (std::size_t l = 0; l < all[0].image.size(); ++l)
        if (classes.find(l) == static_cast<int>(l)) f.roots.push_back(l);
    std::size_t product = 1;
    for (int root : f.roots) {
        std::vector<LabelTerm> mine;
        std::set<std::vector<int>> seen;
        for (const auto& term : all) {
            auto part = restricted(term, classes, root);
            if (part.image != term.image) continue;  // it moves labels of other classes
            if (seen.insert(part.image).second) mine.push_back(part);
        }
        product *= mine.size();
        f.terms.push_back(std::move(mine));
    }
    f.valid = product == all.size();
    for (const auto& term : all) {
        bool negative = false, conjugate = false;
        for (std::size_t r = 0; r < f.roots.size() && f.valid; ++r) {
            const auto part = restricted(term, classes, f.roots[r]);
            const auto it = std::find_if(f.terms[r].begin(), f.terms[r].end(), [&](const auto& t) { return t.image == part.image; });
            f.valid = it != f.terms[r].end();
            if (!f.valid) break;
            negative ^= it->negative;
            conjugate ^= it->conjugate;
        }
        f.valid = f.valid && negative == term.negative && conjugate == term.conjugate;
    }
    return f;
}

/// The node over labels; its children that may be exchanged are put into an order of their own where `sorted` is set.
SymmetryNode relabelled(const SymmetryNode& node, const std::vector<int>& labels, const LabelTerm* term, bool sorted) {
    SymmetryNode result{node.kind, -1, {}};
    if (node.kind == NodeKind::leaf) {
        const int label = labels[node.dimension];
        result.dimension = term != nullptr ? term->image[label] : label;
    }
    for (const auto& child : node.children) result.children.push_back(relabelled(child, labels, term, sorted));
    if (sorted && node.kind != NodeKind::product && node.kind != NodeKind::leaf)
        std::sort(result.children.begin(), result.children.end(), [](const auto& a, const auto& b) {
            const auto x = a.dimensions(), y = b.dimensions();
            return *std::min_element(x.begin(), x.end()) < *std::min_element(y.begin(), y.end());
        });
    return result;
}

bool has_offsets(const std::vector<std::int64_t>& offset) {
    return std::any_of(offset.begin(), offset.end(), [](auto o) { return o != 0; });
}

/// True if the labels of a side's slots are all different, start at zero and run over whole dimensions.
bool covers(const Movement& spec, bool target, const std::vector<int>& slots) {
    const auto& layout = target ? spec.to : spec.from;
    const auto& labels = target ? spec.to_labels : spec.from_labels;
    if (has_offsets(target ? spec.to_offset : spec.from_offset)) return false;
    std::set<int> seen;
    for (int s : slots)
        for (int d : layout.slot_dimensions(s)) {
            const int label = labels[d];
            if (!seen.insert(label).second) return false;
            if (layout.extents()[d] != spec.label_extents[label]) return false;
        }
    return true;
}

/// True if the slots of a component are the same nodes over labels.
bool have_equal_nodes(const Movement& spec, const MovementComponent& c, bool sorted) {
    const auto& from = spec.from.symmetry().slots()[c.from_slots[0]];
    const auto& to = spec.to.symmetry().slots()[c.to_slots[0]];
    return relabelled(from, spec.from_labels, &c.terms[0], sorted) == relabelled(to, spec.to_labels, nullptr, sorted);
}

bool is_one_to_one(const Movement& spec, const MovementComponent& c) {
    if (c.from_slots.size() != 1 || c.to_slots.size() != 1 || c.terms.size() != 1) return false;
    if (!covers(spec, false, c.from_slots) || !covers(spec, true, c.to_slots)) return false;
    return have_equal_nodes(spec, c, true);
}

bool distributes_packed_indices(const SlotLayout& slot) { return !slot.is_blocks() && (!slot.is_rows() || slot.grid_length() == 1); }

std::vector<std::vector<SignedPermutation>> groups_of(const Layout& layout, const std::vector<int>& slots) {
    std::vector<std::vector<SignedPermutation>> result;
    for (int s : slots) {
        const auto& dims = layout.slot_dimensions(s);
        SymmetryNode node = layout.symmetry().slots()[s];
        // Renumber the leaves by position.
        int next = 0;
        auto renumber = [&](auto&& self, SymmetryNode& n) -> void {
            if (n.kind == NodeKind::leaf) n.dimension = next++;
            for (auto& child : n.children) self(self, child);
        };
        renumber(renumber, node);
        result.push_back(group_of(node, dims.size()));
    }
    return result;
}

LabelClasses classes_of(const Movement& spec) {
    LabelClasses classes(spec.label_extents.size());
    join_slots(classes, spec.from, spec.from_labels);
    join_slots(classes, spec.to, spec.to_labels);
    for (const auto& term : spec.terms)
        for (std::size_t l = 0; l < term.image.size(); ++l) classes.join(l, term.image[l]);
    return classes;
}

}  // namespace

Movement copy_between(const Layout& from, const Layout& to) {
    Movement spec;
    spec.from = from;
    spec.to = to;
    spec.from_labels.resize(from.order());
    std::iota(spec.from_labels.begin(), spec.from_labels.end(), 0);
    spec.to_labels = spec.from_labels;
    spec.label_extents = from.extents();
    spec.terms = {spec.identity()};
    return spec;
}

Dimensions exchanged_dimensions(const Movement& spec) {
    if (!(spec.from.grid() == spec.to.grid())) return ~Dimensions{0};
    const auto labels_of = [](const Layout& layout, const std::vector<int>& labels, int s) {
        std::vector<int> result;
        for (int d : layout.slot_dimensions(s)) result.push_back(labels[d]);
        std::sort(result.begin(), result.end());
        return result;
    };
    const bool moves_indices = spec.terms.size() > 1 || !(spec.terms.front().image == spec.identity().image) || !spec.from_offset.empty() ||
                               !spec.to_offset.empty();
    ExchangedDimensions exchanged;
    std::vector<bool> met(spec.to.slots(), false);
    for (int s = 0; s < spec.from.slots(); ++s) {
        std::vector<int> to;
        for (int r = 0; r < spec.to.slots() && !moves_indices && to.empty(); ++r) {
            const auto& from = spec.from.mapping(s);
            const auto& other = spec.to.mapping(r);
            if (from.rows || other.rows || from.is_blocks() || other.is_blocks() ||
                spec.from.slot(s).node().kind() != spec.to.slot(r).node().kind() ||
                labels_of(spec.from, spec.from_labels, s) != labels_of(spec.to, spec.to_labels, r))
                continue;
            met[r] = true;
            to = other.all();
        }
        exchanged.add(spec.from.mapping(s).all(), to);
    }
    for (int r = 0; r < spec.to.slots(); ++r)
        if (!met[r]) exchanged.add({}, spec.to.mapping(r).all());
    for (int t = 0; t < spec.from.grid().dimensions(); ++t)
        if (spec.from.is_partial(t)) exchanged.add_parts({&t, 1});
    return exchanged.result();
}

LabelTerm identity_term(std::size_t labels) {
    LabelTerm term;
    term.image.resize(labels);
    std::iota(term.image.begin(), term.image.end(), 0);
    return term;
}

std::vector<MovementComponent> movement_components(const Movement& spec) {
    auto classes = classes_of(spec);
    auto factorization = spec.label_extents.empty() ? Factorization{} : factorize(spec.terms, classes);
    if (!factorization.valid) {
        // The terms couple classes: everything that any term moves becomes one component.
        int first = -1;
        for (const auto& term : spec.terms)
            for (std::size_t l = 0; l < term.image.size(); ++l)
                if (term.image[l] != static_cast<int>(l)) {
                    if (first >= 0) classes.join(first, l);
                    first = l;
                }
        factorization = factorize(spec.terms, classes);
    }
    std::vector<MovementComponent> result;
    for (std::size_t r = 0; r < factorization.roots.size(); ++r) {
        MovementComponent c;
        const int root = factorization.roots[r];
        for (std::size_t l = 0; l < spec.label_extents.size(); ++l)
            if (classes.find(l) == root) c.labels.push_back(l);
        auto in_class = [&](const Layout& layout, const std::vector<int>& labels, int s) {
            return classes.find(labels[layout.slot_dimensions(s)[0]]) == root;
        };
        for (int s = 0; s < spec.from.slots(); ++s)
            if (in_class(spec.from, spec.from_labels, s)) c.from_slots.push_back(s);
        for (int s = 0; s < spec.to.slots(); ++s)
            if (in_class(spec.to, spec.to_labels, s)) c.to_slots.push_back(s);
        if (c.from_slots.empty() && c.to_slots.empty()) continue;
        c.terms = factorization.terms[r];
        c.one_to_one = is_one_to_one(spec, c);
        c.progressions = c.one_to_one && have_equal_nodes(spec, c, false) && distributes_packed_indices(spec.from.slot(c.from_slots[0])) &&
                         distributes_packed_indices(spec.to.slot(c.to_slots[0]));
        c.pattern = !covers(spec, true, c.to_slots);
        if (!c.one_to_one) c.from_groups = groups_of(spec.from, c.from_slots);
        if (c.pattern) c.to_groups = groups_of(spec.to, c.to_slots);
        result.push_back(std::move(c));
    }
    // The component that holds the target's fastest slot goes first: it is the inner loop of every message.
    std::stable_sort(result.begin(), result.end(), [](const auto& a, const auto& b) {
        const int x = a.to_slots.empty() ? 1 << 30 : a.to_slots[0], y = b.to_slots.empty() ? 1 << 30 : b.to_slots[0];
        return x < y;
    });
    return result;
}

}  // namespace arges
