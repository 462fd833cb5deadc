/// Random index-string statements with random symmetry trees.
#pragma once

#include "arges/arges.hpp"
#include "support/dense_oracle.hpp"

#include <sstream>
#include <utility>

namespace arges::test {

/// Labels that tend to stay together, with the symmetry that tensors tend to have over them.
struct LabelGroup {
    std::vector<int> labels;
    NodeKind kind = NodeKind::leaf;
    bool composite = false;  // sym(product(l0,l1),product(l2,l3)) or its nested form
};

struct RandomTensor {
    std::vector<int> labels;
    Symmetry symmetry;
};

class RandomStatement {
public:
    RandomStatement(std::uint64_t seed, bool complex) : random_(seed), complex_(complex) {
        make_groups();
        const int count = pick({0, 1, 1, 1, 2, 2, 2, 2, 3});
        for (int f = 0; f < count; ++f) factors.push_back(tensor(f < 3 ? 5 : 3));
        output = tensor(6);
        conjugated.resize(factors.size());
        for (std::size_t f = 0; f < conjugated.size(); ++f) conjugated[f] = complex && chance(0.3);
        alpha = {static_cast<double>(pick({1, 1, 2, -1, 3})), complex && chance(0.3) ? 1.0 : 0.0};
        beta = static_cast<double>(pick({0, 0, 1, 2}));
        projection = choose_projection();
    }

    std::vector<std::int64_t> label_extents;
    std::vector<RandomTensor> factors;
    RandomTensor output;
    std::vector<bool> conjugated;
    Value alpha = 1;
    double beta = 0;
    Projection projection = Projection::none;

    std::vector<std::int64_t> extents_of(const RandomTensor& t) const {
        std::vector<std::int64_t> n;
        for (int l : t.labels) n.push_back(label_extents[static_cast<std::size_t>(l)]);
        return n;
    }
    Labels labels_of(const RandomTensor& t) const {
        std::vector<std::string> names;
        for (int l : t.labels) names.push_back("x" + std::to_string(l));
        return Labels(names);
    }
    std::mt19937_64& random() { return random_; }

    std::string text() const {
        std::ostringstream s;
        auto show = [&](const RandomTensor& t) {
            s << "[";
            for (int l : t.labels) s << "x" << l << ":" << label_extents[static_cast<std::size_t>(l)] << " ";
            s << "| " << t.symmetry.to_string() << "]";
        };
        s << "C";
        show(output);
        s << " = " << beta << " C + " << alpha << " projection " << static_cast<int>(projection);
        for (std::size_t f = 0; f < factors.size(); ++f) {
            s << (conjugated[f] ? " * conj " : " * ");
            show(factors[f]);
        }
        return s.str();
    }

private:
    bool chance(double p) { return std::uniform_real_distribution<double>(0, 1)(random_) < p; }
    int pick(std::vector<int> choices) {
        return choices[std::uniform_int_distribution<std::size_t>(0, choices.size() - 1)(random_)];
    }

    void make_groups() {
        const int count = pick({1, 2, 2, 3, 3});
        for (int g = 0; g < count && label_extents.size() < 6; ++g) {
            LabelGroup group;
            group.composite = chance(0.12) && label_extents.size() <= 2;
            const int size = group.composite ? 4 : pick({1, 1, 2, 2, 2, 3});
            const int extent = pick(size > 2 ? std::vector<int>{1, 2, 2, 3, 3, 4} : std::vector<int>{0, 1, 2, 3, 3, 4, 5, 7});
            for (int i = 0; i < size; ++i) {
                group.labels.push_back(static_cast<int>(label_extents.size()));
                label_extents.push_back(extent);
            }
            const std::vector<NodeKind> kinds{NodeKind::antisymmetric, NodeKind::antisymmetric, NodeKind::symmetric,
                                              NodeKind::symmetric, NodeKind::hollow};
            group.kind = kinds[static_cast<std::size_t>(pick({0, 1, 2, 3, 4}))];
            if (complex_ && size == 2 && chance(0.2)) group.kind = NodeKind::hermitian;
            groups_.push_back(group);
        }
    }

    SymmetryNode node_of(const LabelGroup& group, const std::vector<int>& dims) {
        std::vector<SymmetryNode> leaves;
        for (int d : dims) leaves.push_back(leaf(d));
        if (group.composite) {
            const auto inner = pick({0, 0, 1, 2});
            auto pair = [&](std::size_t i) {
                std::vector<SymmetryNode> two{leaves[i], leaves[i + 1]};
                return inner == 0 ? product(two) : inner == 1 ? symmetric(two) : antisymmetric(two);
            };
            std::vector<SymmetryNode> both{pair(0), pair(2)};
            return chance(0.8) ? symmetric(both) : antisymmetric(both);
        }
        SymmetryNode node = product(leaves);
        node.kind = chance(0.85) || group.kind == NodeKind::hermitian ? group.kind : NodeKind::symmetric;
        return node;
    }

    RandomTensor tensor(int most_labels) {
        RandomTensor t;
        std::vector<std::pair<const LabelGroup*, std::vector<int>>> whole;
        for (const auto& g : groups_) {
            if (!chance(0.75)) continue;
            std::vector<int> labels;
            for (int l : g.labels)
                if (chance(0.9)) labels.push_back(l);
            if (static_cast<int>(t.labels.size() + labels.size()) > most_labels) continue;
            t.labels.insert(t.labels.end(), labels.begin(), labels.end());
            const bool fits = g.composite ? labels.size() == 4 : labels.size() > 1;
            if (fits && (labels.size() == 2 || g.kind != NodeKind::hermitian) && chance(0.75)) whole.emplace_back(&g, labels);
        }
        if (!t.labels.empty() && chance(0.08) && static_cast<int>(t.labels.size()) < most_labels)
            t.labels.push_back(t.labels[0]);
        std::shuffle(t.labels.begin(), t.labels.end(), random_);
        std::vector<SymmetryNode> slots;
        for (const auto& [group, labels] : whole) {
            std::vector<int> dims;
            for (int l : labels)
                dims.push_back(static_cast<int>(std::find(t.labels.begin(), t.labels.end(), l) - t.labels.begin()));
            slots.push_back(node_of(*group, dims));
        }
        t.symmetry = Symmetry(static_cast<int>(t.labels.size()), product(slots));
        return t;
    }

    static bool contains_kind(const SymmetryNode& node, NodeKind kind) {
        return node.kind == kind || std::any_of(node.children.begin(), node.children.end(),
                                                [&](const auto& c) { return contains_kind(c, kind); });
    }

    Projection choose_projection() {
        if (output.symmetry.trivial() || chance(0.3)) return Projection::none;
        for (const auto& slot : output.symmetry.slots())
            if (contains_kind(slot, NodeKind::antisymmetric)) return Projection::antisymmetrized;
        return Projection::symmetrized;
    }

    std::mt19937_64 random_;
    bool complex_;
    std::vector<LabelGroup> groups_;
};

}  // namespace arges::test
