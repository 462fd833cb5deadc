// Statements. What Cyclops implies is said to Arges: how each term is made to fit the output's symmetry, and which labels are summed.
#include "arges/element_functions.hpp"
#include "arges/error.hpp"
#include "cyclops/body.hpp"

#include <algorithm>
#include <cctype>
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

/// Is a group of the output one of this operand? A symmetric group is a hollow one in sums, not in products.
bool has_group(const Operand& operand, const std::string& group, NodeKind kind, bool is_product) {
    for (const auto& slot : tensor_of(operand).symmetry().slots()) {
        if (slot.kind == NodeKind::leaf) continue;
        if (slot.kind != kind && (is_product || !is_symmetric(slot.kind) || !is_symmetric(kind))) continue;
        const auto own = labels_of(slot, operand.labels);
        if (std::all_of(group.begin(), group.end(), [&](char label) { return own.find(label) != std::string::npos; })) return true;
    }
    return false;
}

bool meets(const std::string& a, const std::string& b) { return a.find_first_of(b) != std::string::npos; }

/// Does each operand that has labels of a group have the group?
bool is_preserved(const std::vector<Operand>& operands, const std::string& group, NodeKind kind) {
    for (const auto& operand : operands)
        if (meets(operand.labels, group) && !has_group(operand, group, kind, operands.size() > 1)) return false;
    return true;
}

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

/// How a term is made to fit: by sums over permutations, where it has not the output's groups already.
Projection projection_for(const Operand& left, const std::vector<Operand>& operands) {
    bool anti = false, symmetric = false;
    const bool depends =
        std::any_of(operands.begin(), operands.end(), [&](const auto& operand) { return meets(operand.labels, left.labels); });
    for (const auto& slot : tensor_of(left).symmetry().slots()) {
        const auto group = labels_of(slot, left.labels);
        if (slot.kind == NodeKind::leaf || !depends || is_repeated(group) || is_preserved(operands, group, slot.kind)) continue;
        if (slot.kind == NodeKind::symmetric && is_exchanged(operands, group)) continue;
        (slot.kind == NodeKind::antisymmetric ? anti : symmetric) = true;
    }
    if (anti && symmetric)
        throw arges::Unsupported(tensor_of(left).title() +
                                 ": a term is to be symmetrized and antisymmetrized at once; assign it to a tensor "
                                 "with one of the two symmetries first");
    return anti ? Projection::antisymmetrized : symmetric ? Projection::symmetrized : Projection::canonical;
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

void assign_sum(const Operand& left, const std::vector<Product>& sum, const Number& beta, int sign) {
    if (names_zeros(left)) return;
    const auto& target = tensor_of(left);
    std::optional<AnyExpression> right;
    for (const auto& product : sum) {
        auto term = expression_of(left, product);
        for (auto& one : term.terms()) {
            if (!target.symmetry().trivial()) one.projection = projection_for(left, product.operands);
            one.summed = summed(left, product.operands);
        }
        right = right ? *right + term : term;
    }
    if (sign < 0) right = -*right;
    target[names_of(left.labels)].assign(*right, beta);
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

void assign_call(const Operand& left, const Call& call, const Number& beta, int sign) {
    if (names_zeros(left)) return;
    const auto labels = all_labels(left, call.operands);
    std::vector<Operand> operands;
    std::vector<arges::AnyIndexedTensor> indexed;
    for (const auto& product : call.operands) {
        operands.push_back(multiplied(product));
        if (!tensor_of(operands.back()).symmetry().trivial())
            operands.back().body = std::make_shared<Body>(Body{unpacked(tensor_of(operands.back()))});
        indexed.push_back(tensor_of(operands.back())[names_of(operands.back().labels)]);
    }
    const auto& target = tensor_of(left);
    const bool adds = beta == Number(std::int64_t{1}), replaces = beta == Number(std::int64_t{0});
    if (target.symmetry().trivial() && target.element() == call.result && labels == left.labels && sign > 0 && (adds || replaces)) {
        target[names_of(left.labels)].apply(indexed, bulk(call.loop), adds, arges::MapOver::all);
        return;
    }
    const Operand values{std::make_shared<Body>(
                             Body{AnyTensor(call.result, arges::Storage::dense, target.world(), extents_of(labels, left, call.operands))}),
                         labels};
    tensor_of(values)[names_of(labels)].apply(indexed, bulk(call.loop), false, arges::MapOver::all);
    std::vector<Operand> given;
    for (const auto& product : call.operands) given.push_back(product.operands[0]);
    AnyExpression right = tensor_of(values)[names_of(labels)];
    if (!target.symmetry().trivial()) right.terms()[0].projection = projection_for(left, given);
    right.terms()[0].summed = summed(left, {values});
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
    auto all = pairs_of(own);
    Pairs kept{{}, Values(own.element())};
    std::vector<std::vector<std::int64_t>> keys(operands.size() - 1);
    std::vector<std::vector<std::size_t>> place;
    for (std::size_t o = 0; o + 1 < operands.size(); ++o) place.push_back(places(operands[o].operands[0], target));
    const auto own_places = places(target, target);
    for (std::size_t i = 0; i < all.keys.size(); ++i) {
        const auto index = own.index(all.keys[i]);
        bool named = true;
        for (std::size_t d = 0; d < index.size(); ++d) named = named && index[d] == index[own_places[d]];
        if (!named) continue;
        kept.keys.push_back(all.keys[i]);
        kept.values.take(all.values, i);
        for (std::size_t o = 0; o < keys.size(); ++o) {
            std::vector<std::int64_t> there;
            for (auto d : place[o]) there.push_back(index[d]);
            keys[o].push_back(tensor_of(operands[o].operands[0]).key(there));
        }
    }
    std::vector<Values> others;
    std::vector<const void*> inputs;
    for (std::size_t o = 0; o < keys.size(); ++o) others.push_back(read(tensor_of(multiplied(operands[o])), keys[o]));
    for (auto& values : others) inputs.push_back(values.data());
    loop(std::ssize(kept.keys), inputs.data(), kept.values.data());
    own.accumulate_pairs(kept.keys, kept.values.data(), std::ssize(kept.keys), nullptr, arges::element_kernels(own.element()).zero);
}

double Term::value() const {
    const auto number = [&] {
        if (formula_->call) {
            const auto& first = tensor_of(formula_->call->operands.at(0).operands.at(0));
            const Operand sum{std::make_shared<Body>(Body{AnyTensor(formula_->call->result, arges::Storage::dense, first.world(), {})}),
                              ""};
            CTF_int::assign(sum, *formula_, std::int64_t{0}, 1);
            return tensor_of(sum).sum();
        }
        std::optional<AnyExpression> all;
        for (const auto& product : formula_->sum) {
            const auto term = expression_of(product.operands.at(0), product);
            all = all ? *all + term : term;
        }
        return arges::total(*all);
    }();
    if (const auto* const whole = std::get_if<std::int64_t>(&number)) return static_cast<double>(*whole);
    if (const auto* const real = std::get_if<double>(&number)) return *real;
    return std::get<std::complex<double>>(number).real();
}

std::int64_t Term::integer() const { return static_cast<std::int64_t>(value()); }

}  // namespace CTF_int
