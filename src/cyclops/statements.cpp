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
using arges::InvalidArgument;
using arges::Labels;
using arges::NodeKind;
using arges::Number;
using arges::Projection;

namespace {

const AnyTensor& tensor_of(const Operand& operand) { return operand.body->tensor; }

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

bool is_repeated(const std::string& labels) { return std::set<char>(labels.begin(), labels.end()).size() < labels.size(); }

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

AnyExpression expression_of(const Operand& left, const Product& product) {
    const auto type = tensor_of(left).element();
    if (product.operands.empty()) return {product.factor, type};
    AnyExpression result = tensor_of(product.operands[0])[names_of(product.operands[0].labels)];
    for (std::size_t i = 1; i < product.operands.size(); ++i)
        result = result * tensor_of(product.operands[i])[names_of(product.operands[i].labels)];
    return product.factor == Number(std::int64_t{1}) ? result : product.factor * result;
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
    return {std::make_shared<Body>(Body{AnyTensor(like.element(), arges::Storage::dense, like.world(), like.extents(), symmetry)}),
            left.labels};
}

/// A term whose projection is set; where some groups are projected and others are not, its values in a tensor. @param operands  of the term
AnyExpression fitted(const Operand& left, AnyExpression term, const std::vector<Operand>& operands, bool is_product) {
    if (tensor_of(left).symmetry().trivial()) return term;
    const auto how = fit(left, operands, is_product);
    term.terms()[0].projection = how.projection;
    if (!how.in_two_steps) return term;
    const auto first = temporary(left, how.projected);
    const auto labels = names_of(left.labels);
    tensor_of(first)[labels] = term;
    AnyExpression result = tensor_of(first)[labels];
    result.terms()[0].projection = Projection::canonical;
    return result;
}

void assign_sum(const Operand& left, const std::vector<Product>& sum, const Number& beta, int sign) {
    if (names_zeros(left)) return;
    std::optional<AnyExpression> right;
    for (const auto& product : sum) {
        auto term = expression_of(left, product);
        term.terms()[0].summed = summed(left, product.operands);
        term = fitted(left, std::move(term), product.operands, true);
        right = right ? *right + term : term;
    }
    if (sign < 0) right = -*right;
    tensor_of(left)[names_of(left.labels)].assign(*right, beta);
}

/// Labels of the output, then those of the operands, each once.
std::string all_labels(const Operand& left, const std::vector<Product>& operands) {
    std::string result;
    const auto add = [&](const std::string& labels) {
        for (char label : labels)
            if (result.find(label) == std::string::npos) result.push_back(label);
    };
    add(left.labels);
    for (const auto& operand : operands) add(operand.operands[0].labels);
    return result;
}

std::vector<std::int64_t> extents_of(const std::string& labels, const Operand& left, const std::vector<Product>& operands) {
    std::vector<std::int64_t> result(labels.size());
    const auto take = [&](const Operand& operand) {
        for (std::size_t d = 0; d < operand.labels.size(); ++d) result[labels.find(operand.labels[d])] = tensor_of(operand).extents()[d];
    };
    take(left);
    for (const auto& operand : operands) take(operand.operands[0]);
    return result;
}

/// Functions of the program may not expect several threads.
arges::statements::BulkFunction bulk(const Loop& loop) {
    return [loop, mutex = std::make_shared<std::mutex>()](const std::vector<const void*>& inputs, void* results, std::int64_t count) {
        const std::lock_guard lock(*mutex);
        loop(count, inputs.data(), results);
    };
}

/// An operand with its factor multiplied in.
Operand multiplied(const Product& product) {
    const auto& operand = product.operands[0];
    if (product.factor == Number(std::int64_t{1})) return operand;
    const Operand result{std::make_shared<Body>(operand.body->tensor), operand.labels};
    result.body->tensor[arges::all_labels(result.body->tensor.order())] *= product.factor;
    return result;
}

/// Can a function be called for the elements of the left tensor where they are stored?
bool is_in_place(const Operand& left, const std::vector<Operand>& operands) {
    const auto& symmetry = tensor_of(left).symmetry();
    if (symmetry.trivial())
        return std::all_of(operands.begin(), operands.end(), [](const auto& operand) { return tensor_of(operand).symmetry().trivial(); });
    const auto& slots = symmetry.slots();
    return std::all_of(slots.begin(), slots.end(),
                       [](const auto& slot) { return slot.kind == NodeKind::leaf || slot.kind == NodeKind::symmetric; }) &&
           std::all_of(operands.begin(), operands.end(),
                       [&](const auto& operand) { return operand.labels == left.labels && tensor_of(operand).symmetry() == symmetry; });
}

std::vector<arges::AnyIndexedTensor> indexed(const std::vector<Operand>& operands) {
    std::vector<arges::AnyIndexedTensor> result;
    for (const auto& operand : operands) result.push_back(tensor_of(operand)[names_of(operand.labels)]);
    return result;
}

void assign_call(const Operand& left, const Call& call, const Number& beta, int sign) {
    if (names_zeros(left)) return;
    const auto labels = all_labels(left, call.operands);
    std::vector<Operand> given, operands;
    for (const auto& product : call.operands) {
        given.push_back(product.operands[0]);
        operands.push_back(multiplied(product));
    }
    const auto& target = tensor_of(left);
    const bool adds = beta == Number(std::int64_t{1}), replaces = beta == Number(std::int64_t{0});
    if (target.element() == call.result && labels == left.labels && sign > 0 && (adds || replaces) && is_in_place(left, operands)) {
        target[names_of(left.labels)].apply(indexed(operands), bulk(call.loop), adds, arges::MapOver::all);
        return;
    }
    for (auto& operand : operands)
        if (!tensor_of(operand).symmetry().trivial()) operand.body = std::make_shared<Body>(Body{unpacked(tensor_of(operand))});
    const Operand values{std::make_shared<Body>(
                             Body{AnyTensor(call.result, arges::Storage::dense, target.world(), extents_of(labels, left, call.operands))}),
                         labels};
    tensor_of(values)[names_of(labels)].apply(indexed(operands), bulk(call.loop), false, arges::MapOver::all);
    AnyExpression right = tensor_of(values)[names_of(labels)];
    right.terms()[0].summed = summed(left, {values});
    right = fitted(left, std::move(right), given, false);
    target[names_of(left.labels)].assign(sign < 0 ? -right : right, beta);
}

/// Where the labels of an operand are among those of the target.
std::vector<std::size_t> places(const Operand& operand, const Operand& target) {
    std::vector<std::size_t> result;
    for (char label : operand.labels) {
        result.push_back(target.labels.find(label));
        if (result.back() == std::string::npos)
            throw arges::Unsupported("a transform of elements by a tensor with more labels; assign sums of it to a tensor first");
    }
    return result;
}

/// @throws InvalidArgument for a label that has two lengths
void require_extents(const std::vector<Operand>& others, const Operand& target, const std::vector<std::vector<std::size_t>>& place) {
    for (std::size_t o = 0; o < others.size(); ++o)
        for (std::size_t d = 0; d < place[o].size(); ++d)
            if (tensor_of(others[o]).extents()[d] != tensor_of(target).extents()[place[o][d]])
                throw InvalidArgument("transform: label '" + others[o].labels.substr(d, 1) + "' has lengths " +
                                      std::to_string(tensor_of(others[o]).extents()[d]) + " and " +
                                      std::to_string(tensor_of(target).extents()[place[o][d]]) + "; a label has one length");
}

}  // namespace

Labels names_of(const std::string& labels) {
    std::vector<std::string> names;
    for (char label : labels) {
        const auto byte = static_cast<unsigned char>(label);
        names.push_back(std::isalnum(byte) != 0 ? std::string(1, label) : "byte" + std::to_string(byte));
    }
    return {names};
}

void assign(const Operand& left, const Formula& right, const Number& beta, int sign) {
    if (right.call)
        assign_call(left, *right.call, beta, sign);
    else
        assign_sum(left, right.sum, beta, sign);
}

void change(const std::vector<Product>& operands, const Loop& loop) {
    const auto& target = operands.back().operands[0];
    auto& own = target.body->tensor;
    std::vector<Operand> others;
    std::vector<std::vector<std::size_t>> place;
    for (std::size_t o = 0; o + 1 < operands.size(); ++o) {
        place.push_back(places(operands[o].operands[0], target));
        others.push_back(multiplied(operands[o]));
    }
    if (!is_repeated(target.labels) && is_in_place(target, others)) {
        others.push_back(target);
        const auto f = [&](const std::vector<const void*>& inputs, void* results, std::int64_t count) {
            std::memcpy(results, inputs.back(), count * own.kernels().size);
            bulk(loop)(inputs, results, count);
        };
        own[names_of(target.labels)].apply(indexed(others), f, false, arges::MapOver::target);
        return;
    }
    auto pairs = pairs_of(own);
    Indices indices(own);
    const auto own_places = places(target, target);
    std::vector<std::vector<std::int64_t>> keys(others.size()), strides;
    for (const auto& other : others) strides.push_back(strides_of(tensor_of(other)));
    own.world().agree([&] { require_extents(others, target, place); });
    pairs.keep([&](std::int64_t i) {
        const auto& index = indices.of(pairs.keys[i]);
        for (std::size_t d = 0; d < index.size(); ++d)
            if (index[d] != index[own_places[d]]) return false;
        for (std::size_t o = 0; o < keys.size(); ++o) {
            std::int64_t key = 0;
            for (std::size_t d = 0; d < place[o].size(); ++d) key += index[place[o][d]] * strides[o][d];
            keys[o].push_back(key);
        }
        return true;
    });
    std::vector<Values> read_values;
    std::vector<const void*> inputs;
    for (std::size_t o = 0; o < keys.size(); ++o) read_values.push_back(read(tensor_of(others[o]), keys[o]));
    for (auto& values : read_values) inputs.push_back(values.data());
    loop(std::ssize(pairs.keys), inputs.data(), pairs.values.data());
    put_back(own, pairs);
}

Number number_of_terms(const Formula& formula) {
    if (formula.call) {
        const auto& first = tensor_of(formula.call->operands[0].operands[0]);
        const Operand sum{std::make_shared<Body>(Body{AnyTensor(formula.call->result, arges::Storage::dense, first.world(), {})}), ""};
        assign(sum, formula, std::int64_t{0}, 1);
        return tensor_of(sum).sum();
    }
    std::optional<AnyExpression> all;
    for (const auto& product : formula.sum) {
        if (product.operands.empty()) throw InvalidArgument("a number beside tensors, as a number; add it to the result");
        const auto term = expression_of(product.operands[0], product);
        all = all ? *all + term : term;
    }
    return arges::total(*all);
}

}  // namespace CTF_int
