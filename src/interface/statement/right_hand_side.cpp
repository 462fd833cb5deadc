// What is asked of a right-hand side as far as symmetry is concerned, and whether that of a statement has the symmetry of the output.
#include "interface/statement/right_hand_side.hpp"

#include "base/text.hpp"
#include "interface/dense/tensor_state.hpp"
#include "interface/sparse/sparse_state.hpp"
#include "interface/statement/check_labels.hpp"
#include "interface/statement/dense_plan.hpp"
#include "plan/product/structure.hpp"

#include <map>

namespace arges {

Symmetry with_kinds(const Symmetry& symmetry, NodeKind (*kind)(NodeKind)) {
    const auto changed = [&](auto&& self, const SymmetryNode& node) -> SymmetryNode {
        auto result = node;
        result.kind = kind(node.kind);
        for (auto& child : result.children) child = self(self, child);
        return result;
    };
    std::vector<SymmetryNode> slots;
    for (const auto& slot : symmetry.slots()) slots.push_back(changed(changed, slot));
    return Symmetry(symmetry.order(), product(std::move(slots)));
}

NodeKind stored_kind(NodeKind kind) {
    return kind == NodeKind::antisymmetric ? NodeKind::hollow : kind == NodeKind::hermitian ? NodeKind::symmetric : kind;
}

Symmetry symmetry_of(const Factor& factor) {
    const auto& tree = factor.sparse ? factor.sparse->symmetry : factor.tensor->shape().symmetry();
    return factor.is_mask ? with_kinds(tree, stored_kind) : tree;
}

std::size_t first_place(const std::vector<Term>& right, const Factor& factor) {
    std::size_t place = 0;
    for (const auto& term : right)
        for (const auto& other : term.factors) {
            if (other.tensor == factor.tensor && other.sparse == factor.sparse && other.is_mask == factor.is_mask &&
                other.is_complement == factor.is_complement)
                return place;
            ++place;
        }
    return place;
}

StructuralSum structural_sum(const Factor& left, const std::vector<Term>& right, Projection projection, const ElementKernels& kernels) {
    StructuralSum sum;
    sum.complex = kernels.is_complex;
    std::map<std::string, int> numbers;
    const auto numbered = [&](const std::vector<std::string>& names) {
        std::vector<int> result;
        for (const auto& name : names) {
            const auto [place, is_new] = numbers.emplace(name, static_cast<int>(numbers.size()));
            if (is_new) sum.label_names.push_back(name);
            result.push_back(place->second);
        }
        return result;
    };
    sum.output = {symmetry_of(left), numbered(left.labels.names())};
    sum.output.name = title_of(left);
    for (const auto& term : right) {
        if (term.projection != projection) continue;
        auto& product = sum.products.emplace_back();
        const auto* const coefficient = term.coefficient.data();
        product.coefficient = coefficient == nullptr ? 1 : kernels.as_number(coefficient);
        for (const auto& f : term.factors)
            product.factors.push_back(
                {symmetry_of(f), numbered(f.labels.names()), first_place(right, f), f.conjugated && !f.is_mask, title_of(f), is_real(f)});
    }
    sum.labels = numbers.size();
    return sum;
}

/// Terms without projection must have the symmetry together; what was found is kept by all that it depends on.
void DensePlan::check_symmetry() {
    if (output.shape().symmetry().trivial()) return;
    std::string key;
    for (std::size_t i = 0; i < terms.size(); ++i) {
        const auto& term = right[i];
        if (term.projection != Projection::none) continue;
        key += terms[i].identity;
        append_bytes(key, number(term.coefficient.data()));
        for (const auto& factor : term.factors) append_bytes(key, first_place(right, factor));
    }
    if (key.empty() || world.symmetric_sums().find(key) != nullptr) return;
    const auto sum = structural_sum(left, right, Projection::none, kernels);
    require_symmetry(sum);
    world.symmetric_sums().use(key) = true;
}

}  // namespace arges
