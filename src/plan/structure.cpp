#include "plan/structure.hpp"

#include "arges/error.hpp"
#include "symmetry/canonical_form.hpp"
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
        for (const auto& f : term.factors)
            forms_.push_back(canonical_form(f.symmetry, std::vector<std::int64_t>(f.labels.begin(), f.labels.end())));
    }

    /// Does R(sigma v) = (+-) R(v) follow from the factors' trees? Summed labels may be renamed along.
    bool holds(const LabelPermutation& sigma) const {
        if (is_zero()) return true;
        std::int64_t count = 1;
        for (const auto& labels : summed_)
            for (std::size_t i = 2; i <= labels.size(); ++i) count *= static_cast<std::int64_t>(i);
        if (count > max_renamings) return holds_exactly(sigma);
        auto renamed = sigma;
        return any_renaming(0, renamed);
    }

    /// Does R vanish whatever the values are? The diagonal of an antisymmetric factor does.
    bool is_zero() const {
        return term_.zero || std::any_of(forms_.begin(), forms_.end(), [](const auto& form) { return form.zero; });
    }

private:
    static constexpr std::int64_t max_renamings = 40320;  // of eight labels

    bool any_renaming(std::size_t c, LabelPermutation& p) const {
        if (c == summed_.size()) return holds_exactly(p);
        auto order = summed_[c];
        do {
            for (std::size_t i = 0; i < order.size(); ++i) p.image[static_cast<std::size_t>(summed_[c][i])] = order[i];
            if (any_renaming(c + 1, p)) return true;
        } while (std::next_permutation(order.begin(), order.end()));
        return false;
    }

    /// A factor takes on a sign, or is conjugated, if its elements at the labels and at the renamed labels have one
    /// representative. Where it is real it may be conjugated.
    bool holds_exactly(const LabelPermutation& p) const {
        if (term_.complex && p.conjugate && !term_.real_coefficient) return false;
        bool negative = false;
        std::vector<std::int64_t> renamed;
        for (std::size_t f = 0; f < term_.factors.size(); ++f) {
            const auto& factor = term_.factors[f];
            renamed.clear();
            for (int label : factor.labels) renamed.push_back(p.image[static_cast<std::size_t>(label)]);
            const auto there = canonical_form(factor.symmetry, renamed);
            if (there.index != forms_[f].index) return false;
            negative ^= there.negative != forms_[f].negative;
            const bool conjugate = there.conjugate != forms_[f].conjugate;
            if (term_.complex && conjugate != p.conjugate && !there.real) return false;
        }
        return negative == p.negative;
    }

    const StructuralTerm& term_;
    std::vector<std::vector<int>> summed_;  // summed labels that occur in the same factors
    std::vector<CanonicalForm> forms_;      // of the factors' labels
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
            if (!any_label_repeated(slot)) {
                if (projection_ != Projection::canonical) require(slot);
                continue;
            }
            check_written_diagonal(slot);
        }
    }

    void check_written_diagonal(const SymmetryNode& slot) const {
        const auto dims = slot.dimensions();
        std::set<int> distinct;
        for (int d : dims) distinct.insert(labels()[static_cast<std::size_t>(d)]);
        const auto constraint = canonical_form(slot_alone(slot), std::vector<std::int64_t>(labels().begin(), labels().end()));
        if (constraint.zero)
            throw InvalidArgument(term_.output_name + ": the diagonal over " + label_list(slot) +
                                  " is zero by symmetry and cannot be written; give the output no symmetry there");
        const bool shared_outside =
            std::count(labels().begin(), labels().end(), *distinct.begin()) > static_cast<std::ptrdiff_t>(dims.size());
        if (distinct.size() > 1 || shared_outside)
            throw Unsupported(term_.output_name + ": the labels " + label_list(slot) +
                              " write part of the diagonal of a symmetric group; write to a tensor without symmetry and "
                              "assign that one with canonical(...)");
        LabelPermutation conjugation{identity_image(), false, true};
        if (constraint.real && term_.complex && projection_ != Projection::canonical && !check_.holds(conjugation))
            throw InvalidArgument(term_.output_name + ": the diagonal over " + label_list(slot) +
                                  " is real by symmetry, but the right-hand side is not by structure; write canonical(...) to "
                                  "take its real part");
    }

    /// The output's symmetry without its other slots.
    Symmetry slot_alone(const SymmetryNode& slot) const { return Symmetry(static_cast<int>(labels().size()), slot); }

    std::vector<int> identity_image() const {
        std::vector<int> image(static_cast<std::size_t>(term_.labels));
        std::iota(image.begin(), image.end(), 0);
        return image;
    }

    bool any_label_repeated(const SymmetryNode& slot) const {
        const auto dims = slot.dimensions();
        return std::any_of(dims.begin(), dims.end(), [&](int d) {
            return std::count(labels().begin(), labels().end(), labels()[static_cast<std::size_t>(d)]) > 1;
        });
    }

    LabelTerm label_term(const SignedPermutation& p) const {
        LabelTerm term;
        term.image = identity_image();
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
        if (node.kind == NodeKind::hollow && !check_.is_zero() && !vanishes_on_diagonal(node)) refuse_hollow(node);
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

    /// Is R zero where two children of the node have equal indices? It is where a factor is zero, which depends only on which of
    /// its labels have equal values. The first two children stand for any two, in any order of their dimensions: R has the
    /// symmetry of the node.
    bool vanishes_on_diagonal(const SymmetryNode& node) const {
        const auto a = node.children[0].dimensions(), b = node.children[1].dimensions();
        auto value = identity_image();
        for (std::size_t l = 0; l < a.size(); ++l)
            value[static_cast<std::size_t>(labels()[static_cast<std::size_t>(b[l])])] = labels()[static_cast<std::size_t>(a[l])];
        return std::any_of(term_.factors.begin(), term_.factors.end(), [&](const auto& factor) {
            std::vector<std::int64_t> index;
            for (int label : factor.labels) index.push_back(value[static_cast<std::size_t>(label)]);
            return canonical_form(factor.symmetry, index).zero;
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
