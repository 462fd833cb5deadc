#include "interface/statement/check_labels.hpp"

#include "arges/error.hpp"
#include "base/text.hpp"
#include "interface/dense/tensor_state.hpp"
#include "interface/sparse/sparse_state.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

namespace arges {

namespace {

/// Of a sparse tensor, lengths without places.
Layout layout_of(const Factor& factor) {
    if (!factor.sparse) return factor.tensor->layout;
    const auto& lengths = factor.sparse->lengths();
    return {RankGrid(), lengths, Symmetry::none(lengths.size()), std::vector<SlotMapping>(lengths.size())};
}

/// Numbers labels by first appearance.
class LabelChecker {
public:
    explicit LabelChecker(Product& product) : product_(product) {}

    Operand operand(const Factor& factor) {
        const auto layout = layout_of(factor);
        const auto& names = factor.labels.names();
        const auto& extents = layout.extents();
        if (names.size() != extents.size())
            throw InvalidArgument(text_of(factor) + ": " + std::to_string(names.size()) + " labels for a tensor of order " +
                                  std::to_string(extents.size()) + "; give one label per dimension");
        Operand result{layout, {}, factor.conjugated && !factor.is_mask, title_of(factor), false, is_real(factor)};
        if (factor.sparse) result.stored.emplace();
        if (factor.is_mask || factor.is_actor) result.role = factor.is_mask ? Role::mask : Role::actor;
        for (std::size_t d = 0; d < extents.size(); ++d) {
            const auto& label = names[d];
            const bool valid =
                !label.empty() && std::all_of(label.begin(), label.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
            if (!valid)
                throw InvalidArgument(text_of(factor) + ": \"" + label +
                                      "\" is not a label; use letters, digits and underscores, one character per dimension or a "
                                      "list of names");
            auto& known = product_.label_names;
            const std::size_t l = std::find(known.begin(), known.end(), label) - known.begin();
            if (l == known.size()) {
                known.push_back(label);
                product_.label_extents.push_back(extents[d]);
                first_.emplace_back(&factor, d);
            }
            if (product_.label_extents[l] != extents[d])
                throw InvalidArgument("label '" + label + "' has extent " + std::to_string(product_.label_extents[l]) + " in " +
                                      dimension(*first_[l].first, first_[l].second) + " but " + std::to_string(extents[d]) + " in " +
                                      dimension(factor, d) + "; a label needs one extent, so correct the index string or the tensor");
            result.labels.push_back(l);
        }
        return result;
    }

private:
    static std::string dimension(const Factor& factor, std::size_t d) {
        return "dimension " + std::to_string(d) + " of " + text_of(factor);
    }

    Product& product_;
    std::vector<std::pair<const Factor*, std::size_t>> first_;  // where each label is first
};

/// The first of `all` that is not in `some`; empty: there is none.
std::string first_beside(const std::vector<std::string>& all, const std::vector<std::string>& some) {
    const auto place =
        std::find_if(all.begin(), all.end(), [&](const auto& name) { return std::find(some.begin(), some.end(), name) == some.end(); });
    return place == all.end() ? std::string() : *place;
}

/// A label in the wrong place leaves two traces: the output is repeated along one label, and another is summed that occurs once.
void check_unusual(const Product& product, const Term& term) {
    if (product.is_number) return;
    const auto unusual = unusual_labels(product);
    const auto output = product.output.name + "[\"" + labels_text(product.output, product.label_names) + "\"]";
    if (const auto wrong = first_beside(term.repeated, unusual.repeated); !wrong.empty())
        throw InvalidArgument(output + ": broadcast(\"" + wrong +
                              "\"), but that is not a label of the output that no factor of the term has; leave it out");
    if (const auto wrong = first_beside(term.summed, unusual.summed); !wrong.empty())
        throw InvalidArgument(output + ": sum(\"" + wrong +
                              "\"), but that is not a label which occurs once in the term, and not in the output; leave it out");
    const auto repeated = first_beside(unusual.repeated, term.repeated), summed = first_beside(unusual.summed, term.summed);
    if (!repeated.empty() && !summed.empty())
        throw InvalidArgument(output + ": no factor has the label '" + repeated + "' of the output, and label '" + summed +
                              "' occurs only once; correct the one that is mistyped, or write broadcast(\"" + repeated +
                              "\", ...) if the result is to be repeated along '" + repeated + "', or sum(\"" + summed + "\", ...) if '" +
                              summed + "' is to be summed");
}

}  // namespace

const ElementKernels& element_kernels(const Factor& factor) { return *(factor.sparse ? factor.sparse->kernels : factor.tensor->kernels); }

const World& world_of(const Factor& factor) { return factor.sparse ? factor.sparse->world_handle : factor.tensor->world_handle; }

std::string title_of(const Factor& factor) { return factor.sparse ? factor.sparse->title() : factor.tensor->title(); }

std::string text_of(const Factor& factor) { return title_of(factor) + "[\"" + factor.labels.to_string() + "\"]"; }

bool is_real(const Factor& factor) { return factor.is_mask || !element_kernels(factor).is_complex; }

std::string described(const Factor& factor) {
    const auto& lengths = factor.sparse ? factor.sparse->lengths() : factor.tensor->shape().extents();
    return std::string(factor.conjugated ? "conj " : "") + text_of(factor) + " (" + (lengths.empty() ? "scalar" : joined(lengths, " x ")) +
           (factor.sparse ? ", sparse)" : ")");
}

UnusualLabels unusual_labels(const Product& product) {
    UnusualLabels result;
    if (product.is_number) return result;
    std::vector<int> in_factors(product.label_names.size(), 0), in_output(product.label_names.size(), 0);
    for (const auto& factor : product.factors)
        for (int label : factor.labels) ++in_factors[label];
    for (int label : product.output.labels) ++in_output[label];
    for (std::size_t l = 0; l < product.label_names.size(); ++l) {
        if (in_factors[l] == 0) result.repeated.push_back(product.label_names[l]);
        if (in_factors[l] == 1 && in_output[l] == 0) result.summed.push_back(product.label_names[l]);
    }
    return result;
}

std::string labels_text(const Operand& operand, const std::vector<std::string>& names) {
    std::vector<std::string> own;
    for (int l : operand.labels) own.push_back(names[l]);
    return Labels(std::move(own)).to_string();
}

Product labelled_product(const Factor& output, const Term& term) {
    Product product;
    LabelChecker checker(product);
    for (const auto& factor : term.factors) product.factors.push_back(checker.operand(factor));
    product.output = checker.operand(output);
    product.projection = term.projection;
    product.is_number = term.factors.empty();
    if (product.is_number)
        product.factors.push_back({Layout(product.output.layout.grid(), {}, Symmetry::none(0), {}), {}, false, "a number"});
    check_unusual(product, term);
    return product;
}

Product labelled_output(const Factor& output) {
    Product product;
    product.output = LabelChecker(product).operand(output);
    return product;
}

}  // namespace arges
