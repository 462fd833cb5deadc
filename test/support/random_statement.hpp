/// Random index-string statements with random symmetry trees.
#pragma once

#include "arges/arges.hpp"
#include "support/dense_oracle.hpp"

#include <sstream>
#include <utility>

namespace arges::test {

/// A tree without its leaves' numbers. A node over exchangeable children has one part and how often it is there.
struct TreeShape {
    NodeKind kind = NodeKind::leaf;
    int copies = 1;
    std::vector<TreeShape> parts;
    std::int64_t extent = 1;  // of a leaf
};

/// Labels that tend to stay together, with the symmetry that tensors tend to have over them, in the order of the leaves.
struct LabelGroup {
    std::vector<int> labels;
    TreeShape shape;
};

struct RandomTensor {
    std::vector<int> labels;  // where it was made for
    Symmetry symmetry;
};

struct RandomFactor {
    std::size_t tensor = 0;
    std::vector<int> labels;
    bool conjugated = false;
};

struct RandomTerm {
    std::vector<RandomFactor> factors;
    Value alpha = 1;
    Projection projection = Projection::none;
};

inline bool contains_node(const SymmetryNode& node, NodeKind kind) {
    return node.kind == kind ||
           std::any_of(node.children.begin(), node.children.end(), [&](const auto& c) { return contains_node(c, kind); });
}

/// C = beta C + sum of terms. Tensor 0 is C; it and the others may occur several times, with other labels.
class RandomStatement {
public:
    RandomStatement(std::uint64_t seed, bool complex) : random_(seed), orders_(seed), complex_(complex) {
        make_groups();
        add_tensor(8);
        output = tensors[0].labels;
        if (chance(0.03)) write_diagonal();
        const int count = pick({1, 1, 1, 2, 2, 3});
        for (int t = 0; t < count; ++t) {
            terms.push_back(term());
            if (terms.back().projection == Projection::none && chance(0.3)) complete();
        }
        beta = static_cast<double>(pick({0, 0, 1, 2}));
    }

    std::vector<std::int64_t> label_extents;
    std::vector<RandomTensor> tensors;
    std::vector<int> output;  // labels of tensor 0
    std::vector<RandomTerm> terms;
    double beta = 0;

    const Symmetry& symmetry() const { return tensors[0].symmetry; }
    std::vector<std::int64_t> extents_of(const std::vector<int>& labels) const {
        std::vector<std::int64_t> n;
        for (int l : labels) n.push_back(label_extents[static_cast<std::size_t>(l)]);
        return n;
    }
    static Labels names_of(const std::vector<int>& labels) {
        std::vector<std::string> names;
        for (int l : labels) names.push_back("x" + std::to_string(l));
        return Labels(names);
    }
    std::mt19937_64& random() { return random_; }

    std::string text() const {
        std::ostringstream s;
        auto show = [&](std::size_t tensor, const std::vector<int>& labels) {
            s << "T" << tensor << "[";
            for (int l : labels) s << "x" << l << ":" << label_extents[static_cast<std::size_t>(l)] << " ";
            s << "| " << tensors[tensor].symmetry.to_string() << "]";
        };
        show(0, output);
        s << " = " << beta << " T0";
        for (const auto& t : terms) {
            s << " + " << t.alpha << " projection " << static_cast<int>(t.projection);
            for (const auto& f : t.factors) {
                s << (f.conjugated ? " * conj " : " * ");
                show(f.tensor, f.labels);
            }
        }
        return s.str();
    }

private:
    bool chance(double p) { return std::uniform_real_distribution<double>(0, 1)(random_) < p; }
    int pick(std::vector<int> choices) { return choices[std::uniform_int_distribution<std::size_t>(0, choices.size() - 1)(random_)]; }

    NodeKind kind(int children) {
        if (complex_ && children == 2 && chance(0.25)) return NodeKind::hermitian;
        const std::vector<NodeKind> kinds{NodeKind::antisymmetric, NodeKind::symmetric, NodeKind::hollow};
        return kinds[static_cast<std::size_t>(pick({0, 0, 1, 1, 2}))];
    }

    /// A tree over n leaves whose root exchanges its children, unless it may be a product.
    TreeShape tree(int n, bool may_be_product, const std::vector<int>& extents) {
        if (n == 1) return {NodeKind::leaf, 1, {}, pick(extents)};
        if (may_be_product && (n == 5 || chance(0.4))) {
            const int first = pick({1, n - 1, n / 2});
            return {NodeKind::product, 1, {tree(first, true, extents), tree(n - first, true, extents)}};
        }
        std::vector<int> copies;
        for (int k : {2, 3})
            if (n % k == 0) copies.push_back(k);
        const int k = pick(copies);
        return {kind(k), k, {tree(n / k, true, extents)}};
    }

    static void collect_extents(const TreeShape& shape, std::vector<std::int64_t>& extents) {
        if (shape.kind == NodeKind::leaf) extents.push_back(shape.extent);
        for (int c = 0; c < shape.copies; ++c)
            for (const auto& part : shape.parts) collect_extents(part, extents);
    }

    void make_groups() {
        const int count = pick({1, 2, 2, 3, 3});
        std::int64_t size = 1;
        for (int g = 0; g < count && label_extents.size() < 6; ++g) {
            LabelGroup group;
            const bool composite = label_extents.size() <= 2 && chance(0.3);
            const int n = composite ? pick({4, 4, 4, 4, 6, 6, 8}) : pick({1, 1, 2, 2, 2, 3});
            if (n == 1)
                group.shape = {NodeKind::leaf, 1, {}, pick({0, 1, 2, 3, 3, 4, 5, 7})};
            else if (composite)
                group.shape = tree(n, false, n == 4 ? std::vector<int>{1, 2, 2, 3, 3} : std::vector<int>{1, 2, 2});
            else
                group.shape = {kind(n), n, {{NodeKind::leaf, 1, {}, n > 2 ? pick({1, 2, 2, 3, 3, 4}) : pick({0, 1, 2, 3, 3, 4, 5, 7})}}};
            std::vector<std::int64_t> extents;
            collect_extents(group.shape, extents);
            auto larger = size;
            for (auto e : extents) larger *= std::max<std::int64_t>(1, e);
            if (larger > 4096) continue;
            size = larger;
            for (auto e : extents) {
                group.labels.push_back(static_cast<int>(label_extents.size()));
                label_extents.push_back(e);
            }
            groups_.push_back(group);
        }
    }

    /// Other kinds of nodes here and there; a product takes the symmetry away.
    TreeShape varied(TreeShape shape) {
        for (auto& part : shape.parts) part = varied(part);
        if (shape.copies > 1 && chance(0.12)) shape.kind = chance(0.3) ? NodeKind::product : kind(shape.copies);
        return shape;
    }

    static SymmetryNode node_of(const TreeShape& shape, const std::vector<int>& dims, std::size_t& next) {
        if (shape.kind == NodeKind::leaf) return leaf(dims[next++]);
        SymmetryNode node{shape.kind, -1, {}};
        for (int c = 0; c < shape.copies; ++c)
            for (const auto& part : shape.parts) node.children.push_back(node_of(part, dims, next));
        return node;
    }

    SymmetryNode node_of(const LabelGroup& group, std::vector<int> dims) {
        const auto n = extents_of(group.labels);
        const bool uniform = std::count(n.begin(), n.end(), n[0]) == static_cast<std::ptrdiff_t>(n.size());
        auto shape = varied(group.shape);
        if (uniform && n.size() >= 4 && chance(0.25)) shape = tree(static_cast<int>(n.size()), false, {1});
        if (uniform && chance(0.1)) std::shuffle(dims.begin(), dims.end(), random_);
        std::size_t next = 0;
        return node_of(shape, dims, next);
    }

    /// Slots in any order, also those of single dimensions.
    void shuffle_slots(std::vector<SymmetryNode>& slots, int order) {
        for (int d = 0; d < order; ++d) {
            const auto has = [&](const SymmetryNode& slot) {
                const auto dims = slot.dimensions();
                return std::find(dims.begin(), dims.end(), d) != dims.end();
            };
            if (std::none_of(slots.begin(), slots.end(), has)) slots.push_back(leaf(d));
        }
        std::shuffle(slots.begin(), slots.end(), orders_);
    }

    void add_tensor(int most_labels) {
        RandomTensor t;
        std::vector<std::pair<const LabelGroup*, std::vector<int>>> whole;
        for (const auto& g : groups_) {
            if (!chance(0.75)) continue;
            std::vector<int> labels;
            for (int l : g.labels)
                if (chance(g.labels.size() > 3 ? 0.98 : 0.9)) labels.push_back(l);
            if (static_cast<int>(t.labels.size() + labels.size()) > most_labels) continue;
            t.labels.insert(t.labels.end(), labels.begin(), labels.end());
            if (labels.size() == g.labels.size() && labels.size() > 1 && chance(0.8)) whole.emplace_back(&g, labels);
        }
        if (!t.labels.empty() && chance(0.06) && static_cast<int>(t.labels.size()) < most_labels) t.labels.push_back(t.labels[0]);
        std::shuffle(t.labels.begin(), t.labels.end(), random_);
        std::vector<SymmetryNode> slots;
        for (const auto& [group, labels] : whole) {
            std::vector<int> dims;
            for (int l : labels) dims.push_back(static_cast<int>(std::find(t.labels.begin(), t.labels.end(), l) - t.labels.begin()));
            slots.push_back(node_of(*group, dims));
        }
        if (orders_() % 6 == 0) shuffle_slots(slots, static_cast<int>(t.labels.size()));
        t.symmetry = Symmetry(static_cast<int>(t.labels.size()), product(slots));
        tensors.push_back(t);
    }

    /// The output gets one label for all dimensions of a group.
    void write_diagonal() {
        for (const auto& slot : symmetry().slots()) {
            const auto dims = slot.dimensions();
            for (int d : dims)
                if (extents_of(output)[static_cast<std::size_t>(d)] == extents_of(output)[static_cast<std::size_t>(dims[0])])
                    output[static_cast<std::size_t>(d)] = output[static_cast<std::size_t>(dims[0])];
        }
    }

    /// Labels of equal extents exchanged at random: a tensor in another place.
    std::vector<int> renamed(std::vector<int> labels) {
        for (auto& l : labels) {
            const int other = static_cast<int>(random_() % label_extents.size());
            if (!chance(0.4) || extents_of({l}) != extents_of({other})) continue;
            const auto there = std::find(labels.begin(), labels.end(), other);
            if (there != labels.end()) *there = l;
            l = other;
        }
        return labels;
    }

    RandomTerm term() {
        RandomTerm t;
        const int count = pick({0, 1, 1, 1, 2, 2, 2, 2, 3});
        for (int f = 0; f < count; ++f) {
            RandomFactor factor;
            if (chance(0.2)) {
                factor.tensor = random_() % tensors.size();
                factor.labels = renamed(factor.tensor == 0 ? output : tensors[factor.tensor].labels);
            } else {
                factor.tensor = tensors.size();
                add_tensor(count == 1 ? 8 : 6);
                factor.labels = tensors.back().labels;
            }
            factor.conjugated = complex_ && chance(0.3);
            t.factors.push_back(factor);
        }
        t.alpha = {static_cast<double>(pick({1, 1, 2, -1, 3})), complex_ && chance(0.2) ? 1.0 : 0.0};
        t.projection = choose_projection();
        return t;
    }

    /// Adds what the output's group makes of the last term, so that together they have the symmetry; now and then not all of it.
    void complete() {
        const auto group = group_elements(symmetry());
        auto distinct = output;
        std::sort(distinct.begin(), distinct.end());
        if (group.size() > 8 || std::adjacent_find(distinct.begin(), distinct.end()) != distinct.end()) return;
        const auto base = terms.back();
        for (std::size_t i = 1; i < group.size(); ++i) {
            const auto& g = group[i];
            if (chance(0.05)) continue;
            auto related = base;
            for (auto& f : related.factors) {
                for (auto& l : f.labels) {
                    const auto d = std::find(output.begin(), output.end(), l) - output.begin();
                    if (d < static_cast<std::ptrdiff_t>(output.size()))
                        l = output[static_cast<std::size_t>(g.image[static_cast<std::size_t>(d)])];
                }
                f.conjugated ^= g.conjugate;
            }
            if (g.conjugate) related.alpha = std::conj(related.alpha);
            if (g.negative) related.alpha = -related.alpha;
            terms.push_back(related);
        }
    }

    Projection choose_projection() {
        if (symmetry().trivial() || chance(0.25)) return Projection::none;
        if (chance(0.1)) return Projection::canonical;
        for (const auto& slot : symmetry().slots())
            if (contains_node(slot, NodeKind::antisymmetric)) return Projection::antisymmetrized;
        return Projection::symmetrized;
    }

    std::mt19937_64 random_, orders_;
    bool complex_;
    std::vector<LabelGroup> groups_;
};

}  // namespace arges::test
