// Statements. What Cyclops implies is said to Arges: how each term is made to fit the output's symmetry, and which labels are summed.
#include "arges/element_functions.hpp"
#include "arges/error.hpp"
#include "cyclops/body.hpp"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <map>
#include <mutex>
#include <set>

namespace CTF_int {

using arges::AnyExpression;
using arges::AnyTensor;
using arges::ElementKernels;
using arges::InvalidArgument;
using arges::Labels;
using arges::NodeKind;
using arges::Number;
using arges::Projection;

namespace {

/// The labels of one group of a tensor.
std::string labels_of(const arges::SymmetryNode& slot, const std::string& labels) {
    std::string result;
    for (int d : slot.dimensions()) result.push_back(labels[d]);
    return result;
}

bool is_symmetric(NodeKind kind) { return kind == NodeKind::symmetric || kind == NodeKind::hollow; }

/// Is a group of the output one of this operand? Symmetric and hollow groups count for each other.
bool has_group(const Operand& operand, const std::string& group, NodeKind kind) {
    for (const auto& slot : tensor_of(operand).symmetry().slots()) {
        if (slot.kind != kind && !(is_symmetric(slot.kind) && is_symmetric(kind))) continue;
        const auto own = labels_of(slot, operand.labels);
        if (std::all_of(group.begin(), group.end(), [&](char label) { return own.find(label) != std::string::npos; })) return true;
    }
    return false;
}

bool meets(const std::string& a, const std::string& b) { return a.find_first_of(b) != std::string::npos; }

/// Is a product of tensors of which some are the same object symmetric under all exchanges of a group's labels?
bool is_exchanged(const std::vector<Operand>& operands, const std::string& group) {
    const auto named = [&](char a, char b) {
        std::vector<std::pair<const Body*, std::string>> result;
        for (const auto& operand : operands) {
            auto labels = operand.labels;
            for (auto& label : labels) label = label == a ? b : label == b ? a : label;
            result.emplace_back(operand.body.get(), labels);
        }
        std::sort(result.begin(), result.end());
        return result;
    };
    for (std::size_t i = 0; i + 1 < group.size(); ++i)
        if (named(group[i], group[i + 1]) != named(group[i], group[i])) return false;
    return true;
}

/// Is one element of each orbit over a group taken as it is? If each operand that has labels of it has the whole group, or exchanging equal
/// tensors changes nothing. @param is_product  whose symmetry Arges finds by itself, but for an even number of antisymmetric operands,
/// whose product is stored as antisymmetric nevertheless
bool is_taken(const std::vector<Operand>& operands, const std::string& group, NodeKind kind, bool is_product) {
    if (is_repeated(group) || (kind == NodeKind::symmetric && is_exchanged(operands, group))) return true;
    int count = 0;
    for (const auto& operand : operands) {
        if (!meets(operand.labels, group)) continue;
        if (!has_group(operand, group, kind)) return false;
        ++count;
    }
    return !is_product || (kind == NodeKind::antisymmetric && count % 2 == 0);
}

/// How a term is made to fit.
struct Fit {
    Projection projection = Projection::canonical;
    std::vector<arges::SymmetryNode> projected{};  ///< groups of the output
    bool in_two_steps = false;                     ///< other groups are taken as they are
};

Fit fit(const Operand& left, const std::vector<Operand>& operands, bool is_product) {
    Fit result;
    const auto& slots = tensor_of(left).symmetry().slots();
    const bool depends =
        std::any_of(operands.begin(), operands.end(), [&](const auto& operand) { return meets(operand.labels, left.labels); });
    const auto is_group = [](const auto& slot) { return slot.kind != NodeKind::leaf; };
    const auto is_anti = [](const auto& slot) { return slot.kind == NodeKind::antisymmetric; };
    for (const auto& slot : slots)
        if (depends && is_group(slot) && !is_taken(operands, labels_of(slot, left.labels), slot.kind, is_product))
            result.projected.push_back(slot);
    if (result.projected.empty()) return result;
    result.in_two_steps = std::ssize(result.projected) < std::count_if(slots.begin(), slots.end(), is_group);
    const auto& permuted = result.in_two_steps ? result.projected : slots;
    result.projection = std::any_of(permuted.begin(), permuted.end(), is_anti) ? Projection::antisymmetrized : Projection::symmetrized;
    return result;
}

/// Is what the labels name zero by symmetry?
bool names_zeros(const Operand& left) {
    for (const auto& slot : tensor_of(left).symmetry().slots())
        if ((slot.kind == NodeKind::antisymmetric || slot.kind == NodeKind::hollow) && is_repeated(labels_of(slot, left.labels)))
            return true;
    return false;
}

/// Labels of a product that occur once and not on the left: Cyclops sums over them without a word.
std::vector<std::string> summed(const Operand& left, const std::vector<Operand>& operands) {
    std::map<char, int> count;
    for (const auto& operand : operands)
        for (char label : operand.labels) ++count[label];
    std::string once;
    for (const auto& [label, times] : count)
        if (times == 1 && left.labels.find(label) == std::string::npos) once.push_back(label);
    return names_of(once).names();
}

arges::Factor factor_of(const Operand& operand) { return tensor_of(operand).labelled(names_of(operand.labels)); }

/// A term, with what Cyclops implies.
struct ImpliedTerm {
    Product product;
    Projection projection = Projection::none;
    std::vector<std::string> summed{};
};

/// The factor in front of a product as an element; nothing for one.
arges::ElementValue coefficient_of(const Product& product, const ElementKernels& kernels, bool negative) {
    arges::ElementValue result;
    if (!product.element.empty()) {
        if (std::ssize(product.element) != program_bytes(kernels))
            throw InvalidArgument("a factor of another type than the elements of the output; put it into a Scalar");
        result = arges::ElementValue(Values(kernels, product.element.data(), 1).data(), kernels.size);
    }
    if (product.factor != Number(std::int64_t{1}) || (product.operands.empty() && product.element.empty())) {
        const auto number = element_of(product.factor, kernels);
        if (result.size() == 0)
            result = number;
        else
            kernels.product(number.data(), result.data(), result.data());
    }
    if (!negative) return result;
    if (!kernels.has_negative || !kernels.has_product)
        throw InvalidArgument("a difference of elements that are no ring; give the tensor one, or use addinv() and +=");
    if (result.size() == 0) result = arges::ElementValue(kernels.one, kernels.size);
    kernels.multiple(-1, result.data(), result.data());
    return result;
}

/// A factor of a product of elements that the program adds and multiplies: without packed storage, whose padding is zero for numbers only.
Operand without_packing(const Operand& operand) {
    if (tensor_of(operand).symmetry().trivial()) return operand;
    return {held(unpacked(tensor_of(operand))), operand.labels};
}

void count_flops(const Operand& left, const Product& product) {
    auto all = product.operands;
    all.push_back(left);
    double flops = std::ssize(product.operands) - 1.0;
    for (auto n : extents_of(all_labels("", all), all)) flops *= static_cast<double>(n);
    if (flops > 0) estimated_flops() += static_cast<std::int64_t>(std::min(2 * flops, 1e18));
}

void assign_terms(const Operand& left, const std::vector<ImpliedTerm>& terms, const Number& beta, int sign) {
    const auto& target = tensor_of(left);
    const auto& kernels = target.kernels();
    use(kernels);
    std::vector<arges::Term> right;
    for (const auto& [product, projection, sums] : terms) {
        count_flops(left, product);
        auto& term = right.emplace_back(arges::Term{.coefficient = coefficient_of(product, kernels, sign < 0)});
        if (!target.symmetry().trivial()) term.projection = projection;
        term.summed = sums;
        for (const auto& operand : product.operands) {
            const bool is_packed =
                &tensor_of(operand).kernels().on_host() == &kernels.on_host() && (!is_own(kernels) || product.operands.size() == 1);
            term.factors.push_back(factor_of(is_packed ? operand : without_packing(operand)));
        }
    }
    use(kernels);
    arges::ElementValue scale(kernels.zero, kernels.size);
    const bool adds = beta == Number(std::int64_t{1});
    if (!adds && beta != Number(std::int64_t{0})) scale = element_of(beta, kernels);
    arges::statements::assign(factor_of(left), right, adds ? nullptr : scale.data(), kernels);
}

/// A tensor like the left one with these of its groups only, with the labels.
Operand temporary(const Operand& left, const std::vector<arges::SymmetryNode>& groups) {
    const auto& like = tensor_of(left);
    std::vector<arges::SymmetryNode> slots;
    for (const auto& slot : like.symmetry().slots())
        if (std::find(groups.begin(), groups.end(), slot) != groups.end())
            slots.push_back(slot);
        else
            for (int d : slot.dimensions()) slots.push_back(arges::leaf(d));
    const arges::Symmetry symmetry(like.order(), arges::product(std::move(slots)));
    const auto storage = like.is_sparse() ? arges::Storage::sparse : arges::Storage::dense;
    return {held(AnyTensor(like.kernels(), storage, like.world(), like.extents(), symmetry, "")), left.labels};
}

/// A term whose projection is set; where some groups are projected and others are not, its values in a tensor. @param operands  of the
/// term as the program has it  @param is_product  of these
ImpliedTerm fitted(const Operand& left, const Product& product, const std::vector<Operand>& operands, bool is_product) {
    ImpliedTerm term{product, Projection::none, summed(left, product.operands)};
    if (tensor_of(left).symmetry().trivial()) return term;
    const auto how = fit(left, operands, is_product && !is_own(tensor_of(left).kernels()));
    term.projection = how.projection;
    if (!how.in_two_steps) return term;
    const auto first = temporary(left, how.projected);
    assign_terms(first, {term}, std::int64_t{0}, 1);
    return {{.operands = {first}}, Projection::canonical, {}};
}

bool has_sparse(const std::vector<Operand>& operands) {
    return std::any_of(operands.begin(), operands.end(), [](const auto& operand) { return tensor_of(operand).is_sparse(); });
}

/// Do sparse tensors say which elements of an output a product gives, rather than that it gives all along some label?
bool says_places(const std::vector<Operand>& operands, const std::string& labels) {
    const auto all = all_labels("", operands);
    return labels.find_first_not_of(all) == std::string::npos && std::any_of(operands.begin(), operands.end(), [&](const auto& operand) {
               return tensor_of(operand).is_sparse() && meets(operand.labels, labels);
           });
}

std::string distinct(const std::string& labels) {
    std::string result;
    for (char label : labels)
        if (result.find(label) == std::string::npos) result.push_back(label);
    return result;
}

/// A term without sparse tensors as a sparse tensor that stores all elements.
Product stored(const Operand& left, const Product& product) {
    const auto& target = tensor_of(left);
    const auto labels = distinct(left.labels);
    const Operand all{held(made(target.kernels(), arges::Storage::dense, target.world(), extents_of(labels, {left}))), labels};
    assign_terms(all, {{product, Projection::none, summed(all, product.operands)}}, std::int64_t{0}, 1);
    return {.operands = {{held(to_sparse(tensor_of(all))), labels}}};
}

void assign_sum(const Operand& left, const std::vector<Product>& sum, const Number& beta, int sign) {
    if (names_zeros(left)) return;
    std::vector<ImpliedTerm> terms;
    for (const auto& product : sum) {
        const bool is_stored = tensor_of(left).is_sparse() && !says_places(product.operands, left.labels);
        terms.push_back(fitted(left, is_stored ? stored(left, product) : product, product.operands, !is_stored));
    }
    assign_terms(left, terms, beta, sign);
}

/// An operand with its factor multiplied in.
Operand multiplied(const Product& product) {
    const auto& operand = product.operands[0];
    const auto& tensor = tensor_of(operand);
    const auto factor = coefficient_of(product, tensor.kernels(), false);
    if (factor.size() == 0) return operand;
    use(tensor.kernels());
    const Operand result{held(tensor), operand.labels};
    arges::statements::assign(result.body->tensor.labelled(arges::all_labels(tensor.order())), {}, factor.data(), tensor.kernels());
    return result;
}

/// Does a function give something where one of its operands stores nothing?
bool fills(const Call& call, const std::vector<Operand>& operands, std::size_t sparse) {
    for (const bool ones : {true, false}) {
        std::vector<arges::ElementValue> elements;
        std::vector<const void*> inputs;
        for (std::size_t o = 0; o < operands.size(); ++o) {
            const auto& kernels = tensor_of(operands[o]).kernels();
            const bool is_one = ones && o != sparse && arges::element_type_of(kernels);
            elements.push_back(is_one ? element_of(std::int64_t{1}, kernels) : arges::ElementValue(kernels.zero, kernels.size));
        }
        for (const auto& element : elements) inputs.push_back(element.data());
        arges::ElementValue result(call.result->size);
        bulk(call, operands)(inputs, result.data(), 1);
        if (std::memcmp(result.data(), call.result->zero, result.size()) != 0) return true;
    }
    return false;
}

/// Do elements of all these algebras move rightly in one call of the library? Tables of one size share the zero that is asked for.
bool move_together(const ElementKernels& result, const std::vector<Operand>& operands) {
    std::map<std::int64_t, std::vector<char>> zeros;  // by bytes of an element
    const auto fits = [&](const ElementKernels& kernels) {
        const auto* const bytes = static_cast<const char*>(kernels.zero);
        const std::vector<char> zero(bytes, bytes + kernels.size);
        return !is_own(kernels) || zeros.try_emplace(kernels.size, zero).first->second == zero;
    };
    return fits(result) &&
           std::all_of(operands.begin(), operands.end(), [&](const auto& operand) { return fits(tensor_of(operand).kernels()); });
}

/// As use(), with tensors that move beside it.
void use_all(const ElementKernels& kernels, const std::vector<Operand>& operands) {
    for (const auto& operand : operands) use(tensor_of(operand).kernels());
    use(kernels);
}

/// Can a function be called for the elements of the left tensor where they are stored?
bool is_in_place(const Operand& left, const std::vector<Operand>& operands) {
    if (tensor_of(left).is_sparse() || has_sparse(operands)) return false;
    const auto& symmetry = tensor_of(left).symmetry();
    if (symmetry.trivial())
        return std::all_of(operands.begin(), operands.end(), [](const auto& operand) { return tensor_of(operand).symmetry().trivial(); });
    const auto& slots = symmetry.slots();
    return std::all_of(slots.begin(), slots.end(),
                       [](const auto& slot) { return slot.kind == NodeKind::leaf || slot.kind == NodeKind::symmetric; }) &&
           std::all_of(operands.begin(), operands.end(),
                       [&](const auto& operand) { return operand.labels == left.labels && tensor_of(operand).symmetry() == symmetry; });
}

std::vector<arges::Factor> factors_of(const std::vector<Operand>& operands) {
    std::vector<arges::Factor> result;
    for (const auto& operand : operands) result.push_back(factor_of(operand));
    return result;
}

void assign_call(const Operand& left, Call call, const Number& beta, int sign) {
    if (names_zeros(left)) return;
    const auto& target = tensor_of(left);
    const bool is_same = *target.kernels().type == *call.result->type;
    if (is_same) call.result = &target.kernels();  // what the function gives is added as the target adds
    std::vector<Operand> given, operands;
    for (const auto& product : call.operands) {
        given.push_back(product.operands[0]);
        operands.push_back(multiplied(product));
    }
    for (std::size_t o = 0; o < operands.size() && operands.size() > 1 && !call.intersects; ++o)
        if (tensor_of(operands[o]).is_sparse() && fills(call, operands, o)) operands[o].body = held(to_dense(tensor_of(operands[o])));
    const bool adds = beta == Number(std::int64_t{1}), replaces = beta == Number(std::int64_t{0});
    const auto labels = all_labels(distinct(left.labels), operands);
    if (!move_together(*call.result, operands) && !has_sparse(operands)) {  // so that they are read by key
        const auto found = std::find_if(operands.begin(), operands.end(), [](const auto& operand) { return !operand.labels.empty(); });
        if (found == operands.end()) throw arges::Unsupported("a function of scalars of different algebras; make them of one");
        *found = without_packing(*found);
        found->body = held(to_sparse(tensor_of(*found)));
    }
    if (is_same && labels == left.labels && sign > 0 && (adds || replaces) && is_in_place(left, operands)) {
        use_all(target.kernels(), operands);
        arges::statements::apply(factor_of(left), factors_of(operands), target.kernels(), bulk(call, operands), adds);
        return;
    }
    for (auto& operand : operands) operand = without_packing(operand);
    const bool any_sparse = has_sparse(operands);
    const auto dense_values = [&] {
        auto places = operands;
        places.push_back(left);
        const Operand result{held(made(*call.result, arges::Storage::dense, target.world(), extents_of(labels, places))), labels};
        use_all(*call.result, operands);
        arges::statements::apply(factor_of(result), factors_of(operands), *call.result, bulk(call, operands), false);
        if (target.is_sparse()) result.body->tensor = to_sparse(result.body->tensor);
        return result;
    };
    const auto values = any_sparse ? values_of(call, operands) : dense_values();
    Product product{.operands = {values}};
    if (target.is_sparse() && !says_places({values}, left.labels)) product = stored(left, product);
    assign_terms(left, {fitted(left, product, given, false)}, beta, sign);
}

/// Calls f(combination) for all combinations of indices below some extents, the same on all ranks.
template <class F>
void for_each_combination(const std::vector<std::int64_t>& extents, F&& f) {
    std::int64_t count = 1;
    for (auto n : extents) count *= n;
    std::vector<std::int64_t> index(extents.size(), 0);
    for (std::int64_t i = 0; i < count; ++i) {
        f(index);
        for (std::size_t d = 0; d < index.size() && ++index[d] == extents[d]; ++d) index[d] = 0;
    }
}

/// The operands of a transform of a tensor, which are read where its elements are.
class Transformed {
public:
    Transformed(const std::vector<Product>& products, const Loop& loop)
        : target_((tensor_of(products.back().operands[0]), products.back().operands[0])),
          own_(target_.body->tensor), loop_{&own_.kernels(), {}, loop, true} {
        for (std::size_t o = 0; o + 1 < products.size(); ++o) {
            operands_.push_back(multiplied(products[o]));
            const auto& tensor = tensor_of(operands_.back());
            places_.push_back(tensor.is_sparse() ? std::optional(stored_places(unpacked(tensor))) : std::nullopt);
        }
        labels_ = all_labels(target_.labels, operands_);
        own_.world().agree([&] { require_extents(); });
    }

    void run() {
        use_all(own_.kernels(), operands_);
        if (labels_.size() == target_.labels.size() && !is_repeated(target_.labels) && is_in_place(target_, operands_) &&
            move_together(own_.kernels(), operands_)) {
            auto all_operands = operands_;
            all_operands.push_back(target_);
            const auto f = [this](const std::vector<const void*>& inputs, void* results, std::int64_t count) {
                std::copy_n(static_cast<const char*>(inputs.back()), count * own_.kernels().size, static_cast<char*>(results));
                bulk(loop_, operands_)({inputs.begin(), inputs.end() - 1}, results, count);
            };
            arges::statements::apply(factor_of(target_), factors_of(all_operands), own_.kernels(), f, false, {arges::MapOver::target});
            return;
        }
        if (operands_.empty() && own_.is_sparse() && !is_repeated(target_.labels)) {
            own_.world().agree([&] { bulk(loop_, operands_)({}, own_.values_here(), own_.local_nonzeros()); });
            return;
        }
        auto all = pairs_of(own_);
        kept_.emplace(Pairs{{}, Values(own_.kernels())});
        for (std::size_t i = 0; i < all.keys.size(); ++i) {
            auto index = own_.index(all.keys[i]);
            bool named = true;
            for (std::size_t d = 0; d < index.size(); ++d) named = named && index[d] == index[target_.labels.find(target_.labels[d])];
            if (!named) continue;
            kept_->keys.push_back(all.keys[i]);
            kept_->values.take(all.values, i);
            indices_.push_back(std::move(index));
        }
        const auto more = labels_.substr(target_.labels.size());
        for_each_combination(extents_of(more, operands_), [&](const auto& index) { change(index); });
        use(own_.kernels());
        own_.accumulate_pairs(kept_->keys, kept_->values.data(), std::ssize(kept_->keys), nullptr, own_.kernels().zero);
    }

private:
    /// @throws InvalidArgument for a label that has two lengths
    void require_extents() const {
        auto all = operands_;
        all.push_back(target_);
        const auto extents = extents_of(labels_, all);
        for (const auto& operand : all)
            for (std::size_t d = 0; d < operand.labels.size(); ++d)
                if (const auto length = tensor_of(operand).extents()[d], other = extents[labels_.find(operand.labels[d])]; length != other)
                    throw InvalidArgument("transform: label '" + operand.labels.substr(d, 1) + "' has lengths " + std::to_string(length) +
                                          " and " + std::to_string(other) + "; a label has one length");
    }

    /// Keys of an operand, with indices of the labels that the target has not.
    std::vector<std::int64_t> keys(const Operand& operand, const std::vector<std::int64_t>& more) const {
        std::vector<std::int64_t> result;
        for (const auto& index : indices_) {
            std::vector<std::int64_t> there;
            for (char label : operand.labels) {
                const auto place = labels_.find(label);
                there.push_back(place < index.size() ? index[place] : more[place - index.size()]);
            }
            result.push_back(tensor_of(operand).key(there));
        }
        return result;
    }

    void change(const std::vector<std::int64_t>& more) {
        std::vector<char> is_there(indices_.size(), 1);
        std::vector<Values> found;
        for (std::size_t o = 0; o < operands_.size(); ++o) {
            const auto where = keys(operands_[o], more);
            found.push_back(read(tensor_of(operands_[o]), where));
            if (!places_[o]) continue;
            auto stored = read(*places_[o], where);
            for (std::size_t i = 0; i < is_there.size(); ++i) is_there[i] = is_there[i] != 0 && *stored.at(i) != 0 ? 1 : 0;
        }
        std::vector<Values> inputs;
        std::vector<const void*> data;
        for (const auto& operand : operands_) inputs.emplace_back(tensor_of(operand).kernels());
        Values changed(own_.kernels());
        for (std::size_t i = 0; i < is_there.size(); ++i) {
            if (is_there[i] == 0) continue;
            changed.take(kept_->values, i);
            for (std::size_t o = 0; o < inputs.size(); ++o) inputs[o].take(found[o], i);
        }
        for (auto& input : inputs) data.push_back(input.data());
        own_.world().agree([&] { bulk(loop_, operands_)(data, changed.data(), changed.count()); });
        for (std::int64_t i = 0, from = 0; i < std::ssize(is_there); ++i)
            if (is_there[i] != 0) std::memcpy(kept_->values.at(i), changed.at(from++), own_.kernels().size);
    }

    const Operand target_;
    AnyTensor& own_;
    const Call loop_;
    std::vector<Operand> operands_{};
    std::vector<std::optional<AnyTensor>> places_{};
    std::string labels_{};
    std::optional<Pairs> kept_{};
    std::vector<std::vector<std::int64_t>> indices_{};
};

}  // namespace

const AnyTensor& tensor_of(const Operand& operand) {
    if (operand.body == nullptr)
        throw InvalidArgument("a tensor that was made without arguments; assign a tensor with a shape to it before it is used");
    return operand.body->tensor;
}

bool is_repeated(const std::string& labels) { return std::set<char>(labels.begin(), labels.end()).size() < labels.size(); }

Labels names_of(const std::string& labels) {
    std::vector<std::string> names;
    for (char label : labels) {
        const auto byte = static_cast<unsigned char>(label);
        names.push_back(std::isalnum(byte) != 0 ? std::string(1, label) : "byte" + std::to_string(byte));
    }
    return {names};
}

std::string all_labels(const std::string& first, const std::vector<Operand>& operands) {
    std::string result = first;
    for (const auto& operand : operands)
        for (char label : operand.labels)
            if (result.find(label) == std::string::npos) result.push_back(label);
    return result;
}

std::vector<std::int64_t> extents_of(const std::string& labels, const std::vector<Operand>& operands) {
    std::vector<std::int64_t> result(labels.size(), 0);
    for (const auto& operand : operands)
        for (std::size_t d = 0; d < operand.labels.size(); ++d)
            if (const auto place = labels.find(operand.labels[d]); place != std::string::npos)
                result[place] = tensor_of(operand).extents()[d];
    return result;
}

void assign(const Operand& left, const Formula& right, const Number& beta, int sign) {
    if (right.call)
        assign_call(left, *right.call, beta, sign);
    else
        assign_sum(left, right.sum, beta, sign);
    if (left.body->handle != nullptr) left.body->handle->tell_stored();
}

std::int64_t& estimated_flops() {
    static std::int64_t flops = 0;
    return flops;
}

void change(const std::vector<Product>& operands, const Loop& loop) { Transformed(operands, loop).run(); }

namespace {

AnyExpression expression_of(const Product& product) {
    const auto factor = [](const Operand& operand) -> AnyExpression { return tensor_of(operand)[names_of(operand.labels)]; };
    auto result = factor(product.operands[0]);
    for (std::size_t i = 1; i < product.operands.size(); ++i) result = result * factor(product.operands[i]);
    return product.factor == Number(std::int64_t{1}) ? result : product.factor * result;
}

}  // namespace

Number number_of_terms(const Formula& formula) {
    if (formula.call) {
        const auto& first = tensor_of(formula.call->operands[0].operands[0]);
        const Operand sum{held(made(*formula.call->result, arges::Storage::dense, first.world(), {})), ""};
        assign(sum, formula, std::int64_t{0}, 1);
        return tensor_of(sum).sum();
    }
    std::optional<AnyExpression> all;
    for (const auto& product : formula.sum) {
        if (product.operands.empty()) throw InvalidArgument("a number beside tensors, as a number; add it to the result");
        const auto term = expression_of(product);
        all = all ? *all + term : term;
    }
    return arges::total(*all);
}

}  // namespace CTF_int
