// Which symmetric groups stay packed in a product and so are one axis of the iteration space (packed axes:
// cyclops-2012); all others are broken up.
#include "plan/product/axes.hpp"

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
    return std::all_of(node.children.begin(), node.children.end(), [](const auto& c) { return c.kind == NodeKind::leaf; });
}

/// Kind of the elementwise product of two nodes, if packed storage allows it.
std::optional<NodeKind> product_kind(NodeKind a, NodeKind b) {
    const bool sign_a = a == NodeKind::antisymmetric, sign_b = b == NodeKind::antisymmetric;
    if (a == NodeKind::symmetric && b == NodeKind::symmetric) return NodeKind::symmetric;
    if (a == NodeKind::symmetric || b == NodeKind::symmetric) return std::nullopt;
    if (a == NodeKind::hermitian || b == NodeKind::hermitian) return std::nullopt;
    return sign_a != sign_b ? NodeKind::antisymmetric : NodeKind::hollow;
}

class AxisFinder {
public:
    explicit AxisFinder(const Product& spec) : spec_(spec), result_(spec.factors.size()), count_(result_ + 1), nodes_(result_) {
        for (std::size_t o = 0; o < result_; ++o)
            for (int l : spec.factors[o].labels) ++count_[o][l];
        for (int l : spec.output.labels) ++count_[result_][l];
    }

    std::vector<Axis> find() {
        for (std::size_t o = 0; o < result_; ++o)
            for (const auto& slot : slots(o)) collect_nodes(o, slot);
        for (std::size_t o = 0; o < result_; ++o)
            for (const auto& slot : slots(o)) split(o, slot);
        for (auto& axis : axes_) axis.size = PackedNode(axis.node(), spec_.label_extents, false).size();
        return std::move(axes_);
    }

private:
    /// No other factor has a label, or several have it.
    static constexpr int none = -1, several = -2;

    std::vector<SymmetryNode> slots(std::size_t o) const {
        std::vector<SymmetryNode> result;
        for (const auto& slot : spec_.factors[o].layout.symmetry().slots())
            result.push_back(normalized(with_labels(slot, spec_.factors[o].labels)));
        return result;
    }

    bool in(std::size_t o, int label) const {
        const auto it = count_[o].find(label);
        return it != count_[o].end() && it->second > 0;
    }
    /// A label that occurs twice in this operand is a diagonal; symmetry nodes cannot keep it.
    bool repeated(std::size_t o, int label) const {
        const auto it = count_[o].find(label);
        return it != count_[o].end() && it->second > 1;
    }
    bool in_result(int label) const { return in(result_, label); }
    /// The only other factor with a label of factor `o`.
    int partner(std::size_t o, int label) const {
        int result = none;
        for (std::size_t other = 0; other < result_; ++other) {
            if (other == o || !in(other, label)) continue;
            if (result != none) return several;
            result = other;
        }
        return result;
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
            if (has_leaf_children(nodes_[o][n].tree) && std::count(nodes_[o][n].labels.begin(), nodes_[o][n].labels.end(), label) > 0)
                return n;
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

    /// Labels of one node, sorted into parts that go to the same place.
    void split_leaves(std::size_t o, const SymmetryNode& node) {
        std::map<std::vector<int>, SymmetryNode> parts;
        for (const auto& child : node.children) {
            const int l = child.dimension, other = partner(o, l);
            const bool kept = in_result(l);
            std::vector<int> key{other == none ? 0 : 1, kept ? 1 : 0, -1, other};
            if (other == several)
                key[2] = -2 - l;
            else if (other != none)
                key[2] = node_to_meet(node.kind, other, l, kept);
            else if (!kept)
                key[2] = node.kind == NodeKind::symmetric || node.kind == NodeKind::hollow ? 0 : -2 - l;
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

    /// The node of another factor that a label of a node of this kind meets, or a number of its own if the two cannot stay packed.
    int node_to_meet(NodeKind kind, std::size_t other, int label, bool kept) const {
        const int met = leaf_node(other, label);
        const auto* const node = met >= 0 ? &nodes_[other][met] : nullptr;
        const bool fits = node != nullptr && compatible(kind, node->tree.kind, kept) &&
                          std::none_of(node->labels.begin(), node->labels.end(), [&](int l) { return repeated(other, l); });
        return fits ? met : -2 - label;
    }

    static bool compatible(NodeKind a, NodeKind b, bool batch) {
        return batch ? product_kind(a, b).has_value() : a == b && a != NodeKind::hermitian;
    }

    /// A composite node is kept if all of it goes to the result only, or to an equal node of one other factor.
    bool survives_whole(std::size_t o, const SymmetryNode& node) const {
        const auto labels = node.dimensions();
        if (contains_hermitian(node)) return false;
        const int other = partner(o, labels[0]);
        const bool kept = in_result(labels[0]);
        const bool together =
            std::all_of(labels.begin(), labels.end(), [&](int l) { return partner(o, l) == other && in_result(l) == kept; });
        if (!together || other == several) return false;
        if (other == none) return kept;
        const auto& nodes = nodes_[other];
        if (kept || std::any_of(labels.begin(), labels.end(), [&](int l) { return repeated(other, l); })) return false;
        return std::any_of(nodes.begin(), nodes.end(), [&](const Node& n) { return n.tree == node; });
    }

    static bool contains_hermitian(const SymmetryNode& node) {
        return node.kind == NodeKind::hermitian || std::any_of(node.children.begin(), node.children.end(), contains_hermitian);
    }

    void add_leaf(std::size_t o, int label) { add(o, leaf(label)); }

    void add(std::size_t o, const SymmetryNode& tree) {
        auto labels = tree.dimensions();
        for (auto& axis : axes_)
            if (axis.labels == labels) {
                const auto first = axis.node().kind;
                axis.tree[o] = tree;
                if (axis.in(result_) && tree.kind != NodeKind::leaf) {
                    axis.tree[result_] = tree;
                    axis.tree[result_]->kind = *product_kind(first, tree.kind);
                }
                return;
            }
        Axis axis;
        axis.has_product = spec_.has_product;
        axis.tree.resize(result_ + 1);
        axis.tree[o] = tree;
        if (in_result(labels[0])) axis.tree[result_] = tree;
        axis.labels = std::move(labels);
        axes_.push_back(std::move(axis));
    }

    const Product& spec_;
    const std::size_t result_;
    std::vector<std::map<int, int>> count_;
    std::vector<std::vector<Node>> nodes_;
    std::vector<Axis> axes_;
};

}  // namespace

SymmetryNode with_labels(const SymmetryNode& node, const std::vector<int>& labels) {
    SymmetryNode result{node.kind, -1, {}};
    if (node.kind == NodeKind::leaf) result.dimension = labels[node.dimension];
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

bool same_tree(const SymmetryNode& a, const SymmetryNode& b) {
    if (a.kind != b.kind || a.children.size() != b.children.size()) return false;
    if (a.kind == NodeKind::leaf) return a.dimension == b.dimension;
    const bool leaves = a.children[0].kind == NodeKind::leaf && a.kind != NodeKind::product;
    if (!leaves) return std::equal(a.children.begin(), a.children.end(), b.children.begin(), same_tree);
    auto x = a.dimensions(), y = b.dimensions();
    std::sort(x.begin(), x.end());
    std::sort(y.begin(), y.end());
    return x == y;
}

bool odd_order(const SymmetryNode& a, const SymmetryNode& b) {
    bool odd = false;
    if (a.kind == NodeKind::antisymmetric && a.children[0].kind == NodeKind::leaf) {
        const auto x = a.dimensions();
        auto y = b.dimensions();
        for (std::size_t i = 0; i < x.size(); ++i)
            for (std::size_t j = i + 1; j < x.size() && y[i] != x[i]; ++j)
                if (y[j] == x[i]) {
                    std::swap(y[i], y[j]);
                    odd = !odd;
                }
        return odd;
    }
    for (std::size_t c = 0; c < a.children.size(); ++c) odd ^= odd_order(a.children[c], b.children[c]);
    return odd;
}

const SymmetryNode& Axis::node() const {
    return **std::find_if(tree.begin(), tree.end(), [](const auto& node) { return node.has_value(); });
}

bool Axis::needs_weights() const {
    if (!is_contracted() || labels.size() < 2) return false;
    return !has_product || !has_leaf_children(node()) || node().kind == NodeKind::symmetric;
}

double Axis::constant_weight() const {
    if (!is_contracted() || needs_weights()) return 1;
    double weight = 1;
    for (std::size_t i = 2; i <= labels.size(); ++i) weight *= i;
    return weight;
}

std::vector<Axis> axes_of(const Product& spec) { return AxisFinder(spec).find(); }

Symmetry raw_symmetry(const std::vector<Axis>& axes, const std::vector<int>& labels) {
    std::vector<SymmetryNode> slots;
    for (const auto& axis : axes)
        if (!axis.is_contracted()) slots.push_back(with_positions(*axis.tree.back(), labels));
    return Symmetry(labels.size(), product(slots));
}

}  // namespace arges
