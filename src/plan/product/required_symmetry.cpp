// Checks a sum against each exchange that generates the output's group: the sum at exchanged labels
// less the sum has to cancel term by term.
#include "plan/product/structure.hpp"

#include "arges/error.hpp"
#include "plan/product/structural_sum.hpp"
#include "symmetry/canonical_form.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

namespace arges {

namespace {

/// Where each label goes.
using Renaming = std::vector<int>;

/// R at renamed labels is to be R, its negative or its complex conjugate.
struct Generator {
    Renaming image;
    bool negative = false, conjugate = false;
};

class SymmetryCheck {
public:
    explicit SymmetryCheck(const StructuralSum& sum) : sum_(sum), comparison_(output_labels(sum), sum.complex) {}

    void check() {
        for (const auto& slot : sum_.output.symmetry.slots()) {
            if (!any_label_repeated(sum_.output, slot))
                require(slot);
            else if (sum_.complex && is_real_by_symmetry(slot) && !conjugates_agree())
                throw InvalidArgument(
                    sum_.output.name + ": the diagonal over " + label_list(sum_, slot) +
                    " is real by symmetry, but the right-hand side is not by structure; write canonical(...) to take its real part");
        }
    }

    /// The exchanges of neighbouring children of every node generate the group.
    void require(const SymmetryNode& node) const {
        for (const auto& child : node.children) require(child);
        if (node.kind == NodeKind::leaf || node.kind == NodeKind::product) return;
        for (std::size_t c = 0; c + 1 < node.children.size(); ++c) {
            const auto generator = exchange(node, c);
            if (const auto rest = what_remains(generator, sum_.products)) refuse(node, c, generator, *rest);
        }
        if (node.kind == NodeKind::hollow && what_is_left(renamed(sum_.products, equal_children(node)))) refuse_hollow(node);
    }

private:
    static std::vector<bool> output_labels(const StructuralSum& sum) {
        std::vector<bool> result(sum.labels, false);
        for (int label : sum.output.labels) result[label] = true;
        return result;
    }

    const std::vector<int>& labels() const { return sum_.output.labels; }
    Renaming identity() const {
        Renaming image(sum_.labels);
        std::iota(image.begin(), image.end(), 0);
        return image;
    }

    bool is_real_by_symmetry(const SymmetryNode& slot) const {
        const Symmetry alone(labels().size(), slot);
        return canonical_form(alone, std::vector<std::int64_t>(labels().begin(), labels().end())).real;
    }
    bool conjugates_agree() const { return !what_remains({identity(), false, true}, sum_.products); }

    Generator exchange(const SymmetryNode& node, std::size_t c) const {
        Generator result{identity(), node.kind == NodeKind::antisymmetric, node.kind == NodeKind::hermitian};
        const auto a = node.children[c].dimensions(), b = node.children[c + 1].dimensions();
        for (std::size_t d = 0; d < a.size(); ++d) {
            const auto first = labels()[a[d]], second = labels()[b[d]];
            std::swap(result.image[first], result.image[second]);
        }
        return result;
    }

    /// The second child of a node at the indices of the first. They stand for any two, in any order of their dimensions: R has the
    /// symmetry.
    Renaming equal_children(const SymmetryNode& node) const {
        auto image = identity();
        const auto a = node.children[0].dimensions(), b = node.children[1].dimensions();
        for (std::size_t d = 0; d < a.size(); ++d) image[labels()[b[d]]] = labels()[a[d]];
        return image;
    }

    static std::vector<StructuralProduct> renamed(std::vector<StructuralProduct> products, const Renaming& image) {
        for (auto& product : products)
            for (auto& factor : product.factors)
                for (auto& label : factor.labels) label = image[label];
        return products;
    }

    /// A product of (R at renamed labels) - (+-) (R or its conjugate) that nothing cancels; none if the sum has the symmetry.
    std::optional<StructuralProduct> what_remains(const Generator& generator, const std::vector<StructuralProduct>& products) const {
        auto all = renamed(products, generator.image);
        for (auto product : products) {
            if (generator.conjugate && sum_.complex) {
                product.coefficient = std::conj(product.coefficient);
                for (auto& factor : product.factors) factor.conjugated = !factor.conjugated;
            }
            if (!generator.negative) product.coefficient = -product.coefficient;
            all.push_back(std::move(product));
        }
        return what_is_left(std::move(all));
    }

    /// Adds equal products; the first that is left, none if the sum vanishes.
    std::optional<StructuralProduct> what_is_left(std::vector<StructuralProduct> products) const {
        constexpr double rounding = 8 * std::numeric_limits<double>::epsilon();
        std::vector<StructuralProduct> different;
        std::vector<double> magnitude;
        for (auto& product : products) {
            if (product.coefficient == 0.0 || is_zero(product)) continue;
            std::size_t i = 0;
            for (; i < different.size(); ++i) {
                const bool same = comparison_.equal(product.factors, different[i].factors, false) == Proof::yes;
                if (!same && comparison_.equal(product.factors, different[i].factors, true) != Proof::yes) continue;
                different[i].coefficient += same ? product.coefficient : -product.coefficient;
                magnitude[i] += std::abs(product.coefficient);
                break;
            }
            if (i < different.size()) continue;
            magnitude.push_back(std::abs(product.coefficient));
            different.push_back(std::move(product));
        }
        for (std::size_t i = 0; i < different.size(); ++i)
            if (std::abs(different[i].coefficient) > rounding * magnitude[i] &&
                comparison_.equal(different[i].factors, different[i].factors, true) != Proof::yes)
                return different[i];
        return std::nullopt;
    }

    /// The diagonal of an antisymmetric or hollow factor is zero.
    static bool is_zero(const StructuralProduct& product) {
        return std::any_of(product.factors.begin(), product.factors.end(), [](const auto& factor) {
            return canonical_form(factor.symmetry, std::vector<std::int64_t>(factor.labels.begin(), factor.labels.end())).zero;
        });
    }

    /// Would the sum have the symmetry if tensors of the same form were the same tensor, or is it a tensor that is copied?
    bool may_hold_for_values(const Generator& generator) const {
        auto products = sum_.products;
        if (std::all_of(products.begin(), products.end(), [](const auto& product) { return product.factors.size() < 2; })) return true;
        std::vector<Symmetry> forms;
        for (auto& product : products)
            for (auto& factor : product.factors) {
                const auto known = std::find(forms.begin(), forms.end(), factor.symmetry);
                factor.tensor = known - forms.begin();
                if (known == forms.end()) forms.push_back(factor.symmetry);
            }
        return !what_remains(generator, products);
    }

    std::string text(const StructuralProduct& product) const {
        std::string result;
        for (const auto& factor : product.factors) {
            std::string names;
            bool long_names = false;
            for (int label : factor.labels) long_names = long_names || sum_.label_names[label].size() > 1;
            for (int label : factor.labels) names += (long_names && !names.empty() ? "," : "") + sum_.label_names[label];
            result += std::string(result.empty() ? "" : "*") + (factor.conjugated ? "conj " : "") + factor.name + "[\"" + names + "\"]";
        }
        return result.empty() ? "a number" : result;
    }

    [[noreturn]] void refuse(const SymmetryNode& node, std::size_t c, const Generator& generator, const StructuralProduct& rest) const {
        const bool anti = node.kind == NodeKind::antisymmetric;
        const auto first = label_list(sum_, node.children[c]), second = label_list(sum_, node.children[c + 1]);
        const std::string kind = anti ? "antisymmetric" : node.kind == NodeKind::hermitian ? "hermitian" : "symmetric";
        const std::string lacks = anti ? "with the opposite sign" : node.kind == NodeKind::hermitian ? "as a complex conjugate" : "as well";
        const std::string adds = std::string(anti ? "antisymmetrized" : "symmetrized") +
                                 "(...) adds what the exchanges lead to (and doubles values that have the symmetry already)";
        const std::string takes = "canonical(...) takes one element of each orbit as it is, if you know that the values have the symmetry";
        const bool values = may_hold_for_values(generator);
        throw InvalidArgument(sum_.output.name + " is " + kind + " in (" + first + ") and (" + second +
                              "), but the right-hand side is not by structure: their exchange leads to " + text(rest) +
                              ", which is not there " + lacks + "; " + (values ? takes : adds) + ", or " + (values ? adds : takes));
    }

    [[noreturn]] void refuse_hollow(const SymmetryNode& node) const {
        throw InvalidArgument(sum_.output.name + " is hollow (zero where indices are equal) in " + label_list(sum_, node) +
                              ", but the right-hand side does not vanish there by structure; write canonical(...) to drop "
                              "its diagonal, or symmetrized(...) for the sum over permutations");
    }

    const StructuralSum& sum_;
    ProductComparison comparison_;
};

}  // namespace

void require_symmetry(const StructuralSum& sum) { SymmetryCheck(sum).check(); }

void require_symmetry(const StructuralSum& sum, const SymmetryNode& slot) { SymmetryCheck(sum).require(slot); }

bool any_label_repeated(const StructuralFactor& output, const SymmetryNode& node) {
    const auto dims = node.dimensions();
    return std::any_of(dims.begin(), dims.end(),
                       [&](int d) { return std::count(output.labels.begin(), output.labels.end(), output.labels[d]) > 1; });
}

std::string label_list(const StructuralSum& sum, const SymmetryNode& node) {
    std::string text;
    for (int d : node.dimensions()) text += (text.empty() ? "" : ",") + sum.label_names[sum.output.labels[d]];
    return text;
}

}  // namespace arges
