#include "plan/index_groups.hpp"

#include "symmetry/packed_node.hpp"

#include <algorithm>
#include <map>

namespace arges {

namespace {

/// A symmetric node of an operand whose children are single labels, or a composite one.
struct Node {
    SymmetryNode tree;  // leaves are labels
    std::vector<int> labels;
};

/// Sorts children by their smallest label, so that equal groups have equal trees.
SymmetryNode normalized(const SymmetryNode& node) {
    SymmetryNode result{node.kind, node.dimension, {}};
    for (const auto& child : node.children) result.children.push_back(normalized(child));
    if (node.kind != NodeKind::leaf && node.kind != NodeKind::product)
        std::sort(result.children.begin(), result.children.end(), [](const auto& a, const auto& b) {
            const auto x = a.dimensions(), y = b.dimensions();
            return *std::min_element(x.begin(), x.end()) < *std::min_element(y.begin(), y.end());
        });
    return result;
}

bool has_leaf_children(const SymmetryNode& node) {
    return std::all_of(node.children.begin(), node.children.end(),
                       [](const auto& c) { return c.kind == NodeKind::leaf; });
}

/// Kind of the elementwise product of two nodes, if packed storage allows it.
std::optional<NodeKind> product_kind(NodeKind a, NodeKind b) {
    const bool sign_a = a == NodeKind::antisymmetric, sign_b = b == NodeKind::antisymmetric;
    if (a == NodeKind::symmetric && b == NodeKind::symmetric) return NodeKind::symmetric;
    if (a == NodeKind::symmetric || b == NodeKind::symmetric) return std::nullopt;
    if (a == NodeKind::hermitian || b == NodeKind::hermitian) return std::nullopt;
    return sign_a != sign_b ? NodeKind::antisymmetric : NodeKind::hollow;
}

class GroupFinder {
public:
    explicit GroupFinder(const Product& spec) : spec_(spec) {
        for (std::size_t o = 0; o < spec.factors.size(); ++o)
            for (int l : spec.factors[o].labels) ++count_[o][l];
        for (int l : spec.output.labels) ++count_[operand_c][l];
    }

    std::vector<IndexGroup> find() {
        for (std::size_t o = 0; o < spec_.factors.size(); ++o) collect_nodes(o);
        for (std::size_t o = 0; o < spec_.factors.size(); ++o)
            for (const auto& slot : spec_.factors[o].layout.symmetry().slots())
                split(o, normalized(with_labels(slot, spec_.factors[o].labels)));
        for (auto& g : groups_) {
            const auto& tree = g.in(operand_a) ? *g.tree[operand_a] : *g.tree[operand_b];
            g.size = PackedNode(tree, spec_.label_extents, false).size();
        }
        return std::move(groups_);
    }

private:
    bool in(std::size_t o, int label) const {
        const auto it = count_[o].find(label);
        return it != count_[o].end() && it->second > 0;
    }
    /// A label that occurs twice in this operand is a diagonal; symmetry nodes cannot keep it.
    bool repeated(std::size_t o, int label) const {
        const auto it = count_[o].find(label);
        return it != count_[o].end() && it->second > 1;
    }

    void collect_nodes(std::size_t o) {
        for (const auto& slot : spec_.factors[o].layout.symmetry().slots())
            collect_nodes(o, normalized(with_labels(slot, spec_.factors[o].labels)));
    }
    void collect_nodes(std::size_t o, const SymmetryNode& node) {
        if (node.kind == NodeKind::leaf) return;
        if (node.kind != NodeKind::product) nodes_[o].push_back({node, node.dimensions()});
        if (!has_leaf_children(node))
            for (const auto& child : node.children) collect_nodes(o, child);
    }

    /// Index of the node of operand `o` that has `label` as a direct child, or -1.
    int leaf_node(std::size_t o, int label) const {
        for (std::size_t n = 0; n < nodes_[o].size(); ++n)
            if (has_leaf_children(nodes_[o][n].tree) &&
                std::count(nodes_[o][n].labels.begin(), nodes_[o][n].labels.end(), label) > 0)
                return static_cast<int>(n);
        return -1;
    }

    void split(std::size_t o, const SymmetryNode& node) {
        if (node.kind == NodeKind::leaf) {
            add_leaf(o, node.dimension);
            return;
        }
        const auto labels = node.dimensions();
        const bool diagonal = std::any_of(labels.begin(), labels.end(), [&](int l) { return repeated(o, l); });
        if (node.kind != NodeKind::product && node.kind != NodeKind::hermitian && !diagonal) {
            if (has_leaf_children(node)) {
                split_leaves(o, node);
                return;
            }
            if (survives_whole(o, node)) {
                add(o, node);
                return;
            }
        }
        for (const auto& child : node.children) split(o, child);
    }

    /// Labels of one node, sorted into subgroups that go to the same place.
    void split_leaves(std::size_t o, const SymmetryNode& node) {
        const std::size_t other = 1 - o;
        std::map<std::vector<int>, SymmetryNode> parts;
        for (const auto& child : node.children) {
            const int l = child.dimension;
            const bool shared = in(other, l);
            std::vector<int> key{shared ? 1 : 0, in(operand_c, l) ? 1 : 0, -1};
            if (shared) {
                const int partner = leaf_node(other, l);
                const bool fits = partner >= 0 && compatible(node.kind, nodes_[other][static_cast<std::size_t>(partner)].tree.kind,
                                                            in(operand_c, l));
                const bool free_of_diagonal = partner >= 0 && !any_repeated(other, nodes_[other][static_cast<std::size_t>(partner)]);
                key[2] = fits && free_of_diagonal ? partner : -2 - l;
            } else if (!in(operand_c, l)) {
                key[2] = node.kind == NodeKind::symmetric || node.kind == NodeKind::hollow ? 0 : -2 - l;
            }
            auto [it, is_new] = parts.try_emplace(key, SymmetryNode{node.kind, -1, {}});
            it->second.children.push_back(child);
        }
        for (const auto& [key, part] : parts) {
            if (part.children.size() == 1)
                add_leaf(o, part.children[0].dimension);
            else
                add(o, part);
        }
    }

    bool any_repeated(std::size_t o, const Node& node) const {
        return std::any_of(node.labels.begin(), node.labels.end(), [&](int l) { return repeated(o, l); });
    }

    static bool compatible(NodeKind a, NodeKind b, bool batch) {
        return batch ? product_kind(a, b).has_value() : a == b && a != NodeKind::hermitian;
    }

    /// A composite node is kept if all of it goes to the result only, or to an equal node of the other operand.
    bool survives_whole(std::size_t o, const SymmetryNode& node) const {
        const std::size_t other = 1 - o;
        const auto labels = node.dimensions();
        if (contains_hermitian(node)) return false;
        auto all = [&](auto&& f) { return std::all_of(labels.begin(), labels.end(), f); };
        if (all([&](int l) { return in(operand_c, l) && !in(other, l); })) return true;
        if (!all([&](int l) { return !in(operand_c, l) && in(other, l) && !repeated(other, l); })) return false;
        return std::any_of(nodes_[other].begin(), nodes_[other].end(), [&](const Node& n) { return n.tree == node; });
    }

    static bool contains_hermitian(const SymmetryNode& node) {
        return node.kind == NodeKind::hermitian ||
               std::any_of(node.children.begin(), node.children.end(), contains_hermitian);
    }

    void add_leaf(std::size_t o, int label) { add(o, leaf(label)); }

    void add(std::size_t o, const SymmetryNode& tree) {
        auto labels = tree.dimensions();
        for (auto& g : groups_)
            if (g.labels == labels) {
                g.tree[o] = tree;
                if (g.in(operand_c) && g.in(operand_a) && g.in(operand_b) && tree.kind != NodeKind::leaf) {
                    g.tree[operand_c] = tree;
                    g.tree[operand_c]->kind = *product_kind(g.tree[operand_a]->kind, g.tree[operand_b]->kind);
                }
                return;
            }
        IndexGroup g;
        g.tree[o] = tree;
        if (in(operand_c, labels[0])) g.tree[operand_c] = tree;
        g.labels = std::move(labels);
        groups_.push_back(std::move(g));
    }

    const Product& spec_;
    std::array<std::map<int, int>, 3> count_;
    std::array<std::vector<Node>, 2> nodes_;
    std::vector<IndexGroup> groups_;
};

}  // namespace

SymmetryNode with_labels(const SymmetryNode& node, const std::vector<int>& labels) {
    SymmetryNode result{node.kind, -1, {}};
    if (node.kind == NodeKind::leaf) result.dimension = labels[static_cast<std::size_t>(node.dimension)];
    for (const auto& child : node.children) result.children.push_back(with_labels(child, labels));
    return result;
}

SymmetryNode with_positions(const SymmetryNode& node, const std::vector<int>& labels, int first) {
    SymmetryNode result{node.kind, -1, {}};
    if (node.kind == NodeKind::leaf)
        result.dimension = first + static_cast<int>(std::find(labels.begin(), labels.end(), node.dimension) - labels.begin());
    for (const auto& child : node.children) result.children.push_back(with_positions(child, labels, first));
    return result;
}

bool IndexGroup::needs_weights() const {
    if (!is_contracted() || labels.size() < 2) return false;
    const auto& t = in(operand_a) ? *tree[operand_a] : *tree[operand_b];
    return !has_leaf_children(t) || t.kind == NodeKind::symmetric;
}

double IndexGroup::constant_weight() const {
    if (!is_contracted() || needs_weights()) return 1;
    double weight = 1;
    for (std::size_t i = 2; i <= labels.size(); ++i) weight *= static_cast<double>(i);
    return weight;
}

std::vector<IndexGroup> index_groups(const Product& spec) { return GroupFinder(spec).find(); }

}  // namespace arges
