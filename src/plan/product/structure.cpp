// The projection of a product: representatives of the cosets G/H of the output's group G by its part H
// that the product has through its factors.
#include "plan/product/structure.hpp"

#include "arges/error.hpp"
#include "plan/product/structural_sum.hpp"
#include "symmetry/canonical_form.hpp"
#include "symmetry/permutation_group.hpp"

#include <algorithm>
#include <numeric>
#include <set>

namespace arges {

namespace {

/// True if nodes of any kind in `kinds` occur in the tree.
bool contains_kind(const SymmetryNode& node, const std::set<NodeKind>& kinds) {
    return kinds.count(node.kind) > 0 ||
           std::any_of(node.children.begin(), node.children.end(), [&](const auto& c) { return contains_kind(c, kinds); });
}

class Projector {
public:
    Projector(const StructuralSum& product, Projection projection) : product_(product), projection_(projection) {
        for (std::size_t f = 0; f < factors().size(); ++f) factors()[f].tensor = f;
    }

    std::vector<LabelTerm> terms() const {
        const bool has_diagonal = std::set<int>(labels().begin(), labels().end()).size() < labels().size();
        const bool permutes = projection_ == Projection::antisymmetrized || projection_ == Projection::symmetrized;
        if (has_diagonal) {
            check_diagonal();
            if (permutes) require_symmetry(product_);
        }
        if (!permutes || has_diagonal) return {label_term({})};
        return cosets();
    }

private:
    const std::vector<int>& labels() const { return product_.output.labels; }
    std::vector<StructuralFactor>& factors() { return product_.products[0].factors; }

    /// A repeated output label writes a diagonal; in a symmetric group that is only possible for the whole diagonal.
    void check_diagonal() const {
        if (product_.products[0].coefficient == 0.0) return;
        for (const auto& slot : product_.output.symmetry.slots())
            if (slot.kind != NodeKind::leaf && any_label_repeated(product_.output, slot)) check_written_diagonal(slot);
    }

    void check_written_diagonal(const SymmetryNode& slot) const {
        const auto dims = slot.dimensions();
        std::set<int> distinct;
        for (int d : dims) distinct.insert(labels()[d]);
        const Symmetry alone(labels().size(), slot);
        if (canonical_form(alone, std::vector<std::int64_t>(labels().begin(), labels().end())).zero)
            throw InvalidArgument(product_.output.name + ": the diagonal over " + label_list(product_, slot) +
                                  " is zero by symmetry and cannot be written; give the output no symmetry there");
        const bool shared_outside =
            std::count(labels().begin(), labels().end(), *distinct.begin()) > static_cast<std::ptrdiff_t>(dims.size());
        if (distinct.size() > 1 || shared_outside)
            throw Unsupported(product_.output.name + ": the labels " + label_list(product_, slot) +
                              " write part of the diagonal of a symmetric group; write to a tensor without symmetry and "
                              "assign that one with canonical(...)");
    }

    std::vector<int> identity_image() const {
        std::vector<int> image(product_.labels);
        std::iota(image.begin(), image.end(), 0);
        return image;
    }

    LabelTerm label_term(const SignedPermutation& p) const {
        LabelTerm term;
        term.image = identity_image();
        for (std::size_t d = 0; d < p.image.size(); ++d) term.image[labels()[d]] = labels()[p.image[d]];
        term.negative = p.negative;
        term.conjugate = p.conjugate;
        return term;
    }

    /// Does R(sigma v) = (+-) R(v) follow from the factors' trees?
    bool has(const ProductComparison& comparison, const SignedPermutation& p) const {
        const auto& [factors, coefficient] = product_.products[0];
        if (coefficient == 0.0) return true;
        const auto term = label_term(p);
        if (product_.complex && p.conjugate && coefficient.imag() != 0) return false;
        auto there = factors;
        for (auto& factor : there) {
            for (auto& label : factor.labels) label = term.image[label];
            factor.conjugated ^= p.conjugate;
        }
        const auto proof = comparison.equal(there, factors, p.negative);
        if (proof == Proof::too_long)
            throw Unsupported(product_.output.name + ": it would take too long to find which permutations a product of " +
                              std::to_string(factors.size()) + " tensors has; compute it in two statements");
        return proof == Proof::yes;
    }

    /// Slots that a projection permutes.
    std::vector<SymmetryNode> permuted_slots() const {
        std::vector<SymmetryNode> slots;
        bool found = false;
        const bool anti = projection_ == Projection::antisymmetrized;
        for (const auto& slot : product_.output.symmetry.slots()) {
            if (slot.kind == NodeKind::leaf) continue;
            const bool has_anti = contains_kind(slot, {NodeKind::antisymmetric});
            found = found || (anti ? has_anti : contains_kind(slot, {NodeKind::symmetric, NodeKind::hollow, NodeKind::hermitian}));
            if (anti || !has_anti || contains_kind(slot, {NodeKind::symmetric}))
                slots.push_back(slot);
            else
                require_symmetry(product_, slot);
        }
        if (!found)
            throw InvalidArgument(std::string(anti ? "antisymmetrized" : "symmetrized") + "(...): " + product_.output.name + " has no " +
                                  (anti ? "antisymmetric" : "symmetric") +
                                  " group; declare the symmetry of the output, or leave the projection out");
        return slots;
    }

    std::vector<LabelTerm> cosets() const {
        const auto group = group_of(product(permuted_slots()), static_cast<int>(labels().size()));
        std::vector<bool> is_output(product_.labels, false);
        for (int label : labels()) is_output[label] = true;
        const ProductComparison comparison(std::move(is_output), product_.complex);
        std::vector<const SignedPermutation*> kept;  // H: what R has already
        for (const auto& g : group)
            if (has(comparison, g)) kept.push_back(&g);
        std::set<std::vector<int>> covered;
        std::vector<LabelTerm> result;
        for (const auto& g : group) {
            if (covered.count(g.image) > 0) continue;
            result.push_back(label_term(g));
            for (const auto* h : kept) {
                std::vector<int> image;
                for (int d : h->image) image.push_back(g.image[d]);
                covered.insert(std::move(image));
            }
        }
        return result;
    }

    StructuralSum product_;
    Projection projection_;
};

}  // namespace

std::vector<LabelTerm> projection_terms(const StructuralSum& product, Projection projection) {
    return Projector(product, projection).terms();
}

Product projected(Product product) {
    StructuralSum sum;
    auto& factors = sum.products.emplace_back().factors;
    for (const auto& factor : product.factors)
        if (!product.is_number)
            factors.push_back({factor.layout.symmetry(), factor.labels, factors.size(), factor.conjugated, factor.name, factor.is_real});
    sum.products[0].coefficient = product.is_zero ? 0.0 : std::complex<double>(1, product.is_real ? 0 : 1);
    sum.output = {product.output.layout.symmetry(), product.output.labels};
    sum.output.name = product.output.name;
    sum.labels = product.label_extents.size();
    sum.complex = product.complex;
    sum.label_names = product.label_names;
    product.terms = projection_terms(sum, product.projection);
    // Terms that conjugate R need its complex coefficient inside; a movement would apply it outside.
    product.coefficient_inside = product.complex && !product.is_real &&
                                 std::any_of(product.terms.begin(), product.terms.end(), [](const auto& t) { return t.conjugate; });
    return product;
}

}  // namespace arges
