#include "plan/structure.hpp"

#include "arges/error.hpp"
#include "symmetry/permutation_group.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace arges {

namespace {

/// A permutation of labels with the factor that R should take on, or takes on.
struct LabelPermutation {
    std::vector<int> image;
    bool negative = false, conjugate = false;
};

/// True if nodes of any kind in `kinds` occur in the tree.
bool contains_kind(const SymmetryNode& node, const std::set<NodeKind>& kinds) {
    return kinds.count(node.kind) > 0 || std::any_of(node.children.begin(), node.children.end(),
                                                     [&](const auto& c) { return contains_kind(c, kinds); });
}

class StructureCheck {
public:
    explicit StructureCheck(const StructuralTerm& term) : term_(term) {
        std::set<int> out(term.output.labels.begin(), term.output.labels.end());
        std::map<std::vector<bool>, std::vector<int>> classes;
        for (int l = 0; l < term.labels; ++l) {
            if (out.count(l) > 0) continue;
            std::vector<bool> membership;
            for (const auto& f : term.factors)
                membership.push_back(std::count(f.labels.begin(), f.labels.end(), l) > 0);
            classes[membership].push_back(l);
        }
        for (auto& [membership, labels] : classes) summed_.push_back(labels);
    }

    /// Does R(sigma v) = (+-) R(v) follow from the factors' trees? Summed labels may be renamed along.
    bool holds(const LabelPermutation& sigma) const {
        if (term_.zero) return true;
        std::int64_t count = 1;
        for (const auto& labels : summed_)
            for (std::size_t i = 2; i <= labels.size(); ++i) count *= static_cast<std::int64_t>(i);
        if (count > max_renamings) return holds_exactly(sigma);
        auto renamed = sigma;
        return any_renaming(0, renamed);
    }

private:
    static constexpr std::int64_t max_renamings = 5040;

    bool any_renaming(std::size_t c, LabelPermutation& p) const {
        if (c == summed_.size()) return holds_exactly(p);
        auto order = summed_[c];
        do {
            for (std::size_t i = 0; i < order.size(); ++i) p.image[static_cast<std::size_t>(summed_[c][i])] = order[i];
            if (any_renaming(c + 1, p)) return true;
        } while (std::next_permutation(order.begin(), order.end()));
        return false;
    }

    bool holds_exactly(const LabelPermutation& p) const {
        bool negative = false;
        if (term_.complex && p.conjugate && !term_.real_coefficient) return false;
        for (const auto& factor : term_.factors) {
            SignedPermutation dims;
            if (!on_dimensions(factor, p.image, dims) || !contains(factor.symmetry, dims)) return false;
            negative ^= dims.negative;
            if (term_.complex && dims.conjugate != p.conjugate) return false;
        }
        return negative == p.negative;
    }

    /// The permutation of a factor's dimensions that renames its labels; false if a label would leave the factor.
    static bool on_dimensions(const StructuralFactor& factor, const std::vector<int>& image, SignedPermutation& dims) {
        std::vector<bool> taken(factor.labels.size(), false);
        for (int label : factor.labels) {
            const int wanted = image[static_cast<std::size_t>(label)];
            std::size_t d = 0;
            while (d < factor.labels.size() && (taken[d] || factor.labels[d] != wanted)) ++d;
            if (d == factor.labels.size()) return false;
            taken[d] = true;
            dims.image.push_back(static_cast<int>(d));
        }
        return true;
    }

    const StructuralTerm& term_;
    std::vector<std::vector<int>> summed_;  // summed labels that occur in the same factors
};

class Projector {
public:
    Projector(const StructuralTerm& term, Projection projection) : term_(term), projection_(projection), check_(term) {}

    std::vector<LabelTerm> terms() {
        check_diagonal();
        const LabelTerm identity = label_term({});
        if (projection_ == Projection::canonical || has_diagonal()) return {identity};
        if (projection_ == Projection::none) {
            for (const auto& slot : term_.output.symmetry.slots()) require(slot);
            return {identity};
        }
        return cosets();
    }

private:
    const std::vector<int>& labels() const { return term_.output.labels; }

    bool has_diagonal() const {
        return std::set<int>(labels().begin(), labels().end()).size() < labels().size();
    }

    std::string label_list(const SymmetryNode& node) const {
        std::string text;
        for (int d : node.dimensions())
            text += (text.empty() ? "" : ",") +
                    term_.label_names[static_cast<std::size_t>(labels()[static_cast<std::size_t>(d)])];
        return text;
    }

    /// A repeated output label writes a diagonal; in a symmetric group that is only possible for the whole diagonal.
    void check_diagonal() const {
        if (!has_diagonal() || term_.zero) return;
        for (const auto& slot : term_.output.symmetry.slots()) {
            if (slot.kind == NodeKind::leaf) continue;
            std::set<int> distinct;
            bool shared_outside = false;
            for (int d : slot.dimensions()) {
                distinct.insert(labels()[static_cast<std::size_t>(d)]);
                shared_outside = shared_outside || std::count(labels().begin(), labels().end(),
                                                              labels()[static_cast<std::size_t>(d)]) >
                                                       static_cast<std::ptrdiff_t>(slot.dimensions().size());
            }
            if (distinct.size() == slot.dimensions().size() && !any_label_repeated(slot)) {
                require(slot);
                continue;
            }
            if (distinct.size() == 1 && !shared_outside && slot.kind == NodeKind::symmetric) continue;
            if (distinct.size() == 1 && slot.kind != NodeKind::symmetric)
                throw InvalidArgument(term_.output_name + ": the diagonal over " + label_list(slot) +
                                      " is zero by symmetry and cannot be written; give the output no symmetry there");
            throw Unsupported(term_.output_name + ": the labels " + label_list(slot) +
                              " write part of the diagonal of a symmetric group; write to a tensor without symmetry and "
                              "assign that one with canonical(...)");
        }
    }

    bool any_label_repeated(const SymmetryNode& slot) const {
        const auto dims = slot.dimensions();
        return std::any_of(dims.begin(), dims.end(), [&](int d) {
            return std::count(labels().begin(), labels().end(), labels()[static_cast<std::size_t>(d)]) > 1;
        });
    }

    LabelTerm label_term(const SignedPermutation& p) const {
        LabelTerm term;
        term.image.resize(static_cast<std::size_t>(term_.labels));
        std::iota(term.image.begin(), term.image.end(), 0);
        for (std::size_t d = 0; d < p.image.size(); ++d)
            term.image[static_cast<std::size_t>(labels()[d])] = labels()[static_cast<std::size_t>(p.image[d])];
        term.negative = p.negative;
        term.conjugate = p.conjugate;
        return term;
    }

    bool has(const SignedPermutation& p) const {
        const auto t = label_term(p);
        return check_.holds({t.image, t.negative, t.conjugate});
    }

    /// Checks the exchange of neighbouring children of every node; these generate the group.
    void require(const SymmetryNode& node) const {
        for (const auto& child : node.children) require(child);
        if (node.kind == NodeKind::leaf || node.kind == NodeKind::product) return;
        for (std::size_t c = 0; c + 1 < node.children.size(); ++c)
            if (!has(exchange(node, c))) refuse(node, node.children[c], node.children[c + 1]);
        if (node.kind == NodeKind::hollow && !term_.zero && !vanishes_on_diagonal(node)) refuse_hollow(node);
    }

    SignedPermutation exchange(const SymmetryNode& node, std::size_t c) const {
        SignedPermutation p;
        p.image.resize(labels().size());
        std::iota(p.image.begin(), p.image.end(), 0);
        const auto a = node.children[c].dimensions(), b = node.children[c + 1].dimensions();
        for (std::size_t l = 0; l < a.size(); ++l) std::swap(p.image[static_cast<std::size_t>(a[l])], p.image[static_cast<std::size_t>(b[l])]);
        p.negative = node.kind == NodeKind::antisymmetric;
        p.conjugate = node.kind == NodeKind::hermitian;
        return p;
    }

    /// A factor with an antisymmetric or hollow node over the same labels makes the product vanish there.
    bool vanishes_on_diagonal(const SymmetryNode& node) const {
        std::set<int> wanted;
        for (int d : node.dimensions()) wanted.insert(labels()[static_cast<std::size_t>(d)]);
        return std::any_of(term_.factors.begin(), term_.factors.end(), [&](const auto& factor) {
            return std::any_of(factor.symmetry.slots().begin(), factor.symmetry.slots().end(), [&](const auto& slot) {
                std::set<int> there;
                for (int d : slot.dimensions()) there.insert(factor.labels[static_cast<std::size_t>(d)]);
                return (slot.kind == NodeKind::antisymmetric || slot.kind == NodeKind::hollow) &&
                       slot.children.size() == node.children.size() && there == wanted;
            });
        });
    }

    [[noreturn]] void refuse(const SymmetryNode& node, const SymmetryNode& a, const SymmetryNode& b) const {
        const char* kind = node.kind == NodeKind::antisymmetric ? "antisymmetric"
                           : node.kind == NodeKind::hermitian   ? "hermitian"
                                                                : "symmetric";
        throw InvalidArgument(term_.output_name + " is " + kind + " in (" + label_list(a) + ") and (" + label_list(b) +
                              "), but the right-hand side is not by structure; write " +
                              (node.kind == NodeKind::antisymmetric ? "antisymmetrized" : "symmetrized") +
                              "(...) for the sum over permutations, or canonical(...) if you know that it has the symmetry");
    }
    [[noreturn]] void refuse_hollow(const SymmetryNode& node) const {
        throw InvalidArgument(term_.output_name + " is hollow (zero where indices are equal) in " + label_list(node) +
                              ", but the right-hand side does not vanish there by structure; write canonical(...) to drop "
                              "its diagonal, or symmetrized(...) for the sum over permutations");
    }

    /// Slots that a projection permutes.
    std::vector<SymmetryNode> permuted_slots() const {
        std::vector<SymmetryNode> slots;
        bool found = false;
        const bool anti = projection_ == Projection::antisymmetrized;
        for (const auto& slot : term_.output.symmetry.slots()) {
            if (slot.kind == NodeKind::leaf) continue;
            const bool has_anti = contains_kind(slot, {NodeKind::antisymmetric});
            found = found || (anti ? has_anti
                                   : contains_kind(slot, {NodeKind::symmetric, NodeKind::hollow, NodeKind::hermitian}));
            if (anti || !has_anti || contains_kind(slot, {NodeKind::symmetric}))
                slots.push_back(slot);
            else
                require(slot);
        }
        if (!found)
            throw InvalidArgument(std::string(anti ? "antisymmetrized" : "symmetrized") + "(...): " + term_.output_name + " has no " +
                                  (anti ? "antisymmetric" : "symmetric") +
                                  " group; declare the symmetry of the output, or leave the projection out");
        return slots;
    }

    std::vector<LabelTerm> cosets() const {
        const auto group = group_of(product(permuted_slots()), static_cast<int>(labels().size()));
        std::vector<const SignedPermutation*> kept;  // H: what R has already
        for (const auto& g : group)
            if (has(g)) kept.push_back(&g);
        std::set<std::vector<int>> covered;
        std::vector<LabelTerm> result;
        for (const auto& g : group) {
            if (covered.count(g.image) > 0) continue;
            result.push_back(label_term(g));
            for (const auto* h : kept) {
                std::vector<int> image;
                for (int d : h->image) image.push_back(g.image[static_cast<std::size_t>(d)]);
                covered.insert(std::move(image));
            }
        }
        return result;
    }

    const StructuralTerm& term_;
    Projection projection_;
    StructureCheck check_;
};

}  // namespace

std::vector<LabelTerm> projection_terms(const StructuralTerm& term, Projection projection) {
    return Projector(term, projection).terms();
}

}  // namespace arges
