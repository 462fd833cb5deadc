// Statements over tensors whose element types are known at run time.
#include "arges/any_tensor.hpp"

#include "arges/einsum.hpp"
#include "arges/element_functions.hpp"
#include "arges/error.hpp"
#include "comm/collective_call.hpp"
#include "interface/statement/check_labels.hpp"
#include "interface/world/call_arguments.hpp"
#include "local/transfer.hpp"

#include <map>
#include <set>

namespace arges {

namespace {

using enum ElementType;

/// What the left-hand side is assigned in its type. Collective.
std::vector<Term> fitted(const AnyIndexedTensor& left, const AnyExpression& right) {
    std::vector<Term> terms;
    world_of(left.factor()).agree([&] { terms = right.as(left.element()).terms(); });
    return terms;
}

}  // namespace

AnyExpression::AnyExpression(const Number& number, ElementType element)
    : element_(element), terms_{Term{.coefficient = element_from(number, element)}} {}

AnyExpression AnyExpression::as(ElementType element) const {
    if (element == element_) return *this;
    const auto &from = element_kernels(element_), &to = element_kernels(element);
    if (!local::can_convert(*from.type, *to.type))
        throw InvalidArgument("an expression of type " + to_string(element_) + " in a statement of type " + to_string(element) +
                              ", which does not have all its numbers; convert its tensors first");
    AnyExpression result(element);
    result.terms_ = terms_;
    for (auto& term : result.terms_) {
        if (std::as_const(term.coefficient).data() == nullptr) continue;
        ElementValue converted(to.size);
        local::round_elements(*from.type, *to.type, term.coefficient.data(), converted.data(), 1);
        term.coefficient = converted;
    }
    return result;
}

void AnyExpression::scale(const void* element) {
    const auto& kernels = element_kernels(element_);
    for (auto& term : terms_) {
        ElementValue product(element, kernels.size);
        if (const auto* const own = std::as_const(term.coefficient).data()) kernels.product(element, own, product.data());
        term.coefficient = product;
    }
}

AnyExpression operator+(const AnyExpression& a, const AnyExpression& b) {
    const auto type = common_type(a.element_, b.element_);
    auto sum = a.as(type);
    const auto more = b.as(type);
    sum.terms_.insert(sum.terms_.end(), more.terms_.begin(), more.terms_.end());
    return sum;
}

AnyExpression operator*(const AnyExpression& a, const AnyExpression& b) {
    AnyExpression product(common_type(a.element_, b.element_));
    const auto first = a.as(product.element_), second = b.as(product.element_);
    for (const auto& x : first.terms_)
        for (const auto& y : second.terms_) product.terms_.push_back(statements::multiplied(x, y, element_kernels(product.element_)));
    return product;
}

AnyExpression operator*(const Number& number, const AnyExpression& a) {
    auto type = a.element();
    const bool is_integer = type >= int16 && type <= int64;
    if (type == boolean) type = std::holds_alternative<std::int64_t>(number) ? int64 : common_type(type, float64);
    if (std::holds_alternative<double>(number) && is_integer) type = common_type(type, float64);
    if (std::holds_alternative<std::complex<double>>(number)) type = common_type(type, is_integer ? complex128 : complex64);
    auto result = a.as(type);
    result.scale(element_from(number, type).data());
    return result;
}

AnyExpression conj(AnyExpression a) {
    const auto& kernels = element_kernels(a.element_);
    if (!kernels.is_complex) return a;
    for (auto& term : a.terms_) {
        if (auto* const number = term.coefficient.data(); std::as_const(term.coefficient).data() != nullptr)
            kernels.transfer_listed({.count = 1, .factor = 2}, number, number, nullptr, {});
        for (auto& factor : term.factors) factor.conjugated = !factor.conjugated;
    }
    return a;
}

AnyIndexedTensor::AnyIndexedTensor(Factor factor, ElementType element) : AnyExpression(element) {
    terms().push_back(Term{.factors = {std::move(factor)}});
}

AnyIndexedTensor AnyTensor::operator[](const Labels& labels) const { return {labelled(labels), element()}; }

void AnyIndexedTensor::operator=(const AnyExpression& right) {
    assign(right.terms().empty() ? AnyExpression(std::int64_t{0}, element()) : right, std::int64_t{0});
}

void AnyIndexedTensor::operator+=(const AnyExpression& right) {
    statements::assign(factor(), fitted(*this, right), nullptr, element_kernels(element()));
}

void AnyIndexedTensor::operator/=(const AnyExpression& divisor) {
    world_of(factor()).agree([&] {
        if (element() >= int16)
            throw InvalidArgument(title_of(factor()) + ": division of elements of type " + to_string(element()) +
                                  "; convert the tensor to a type with fractions");
    });
    statements::divide(factor(), fitted(*this, divisor));
}

void AnyIndexedTensor::assign(const AnyExpression& right, const Number& beta) {
    const auto terms = fitted(*this, right);
    ElementValue scale;
    world_of(factor()).agree([&] { scale = element_from(beta, element()); });
    statements::assign(factor(), terms, scale.data(), element_kernels(element()));
}

void AnyIndexedTensor::apply(const std::vector<AnyIndexedTensor>& operands, const statements::BulkFunction& f, bool accumulate,
                             MapOver over) {
    const auto second = [](ElementType type) { return with_element_type(type, []<class T>() { return &algebra_kernels<Second<T>>(); }); };
    statements::SparseRule rule{.over = over, .result_reader = second(element())};
    std::vector<Factor> factors;
    for (const auto& operand : operands) {
        factors.push_back(operand.factor());
        rule.readers.push_back(second(operand.element()));
    }
    statements::apply(factor(), factors, element_kernels(element()), f, accumulate, rule);
}

std::string AnyIndexedTensor::explain(const AnyExpression& right, const Number& beta) const {
    auto scale = element_from(beta, element());
    return statements::explain(factor(), right.as(element()).terms(), scale.data(), element_kernels(element()));
}

std::string AnyIndexedTensor::explain_on(std::int64_t ranks, const AnyExpression& right) const {
    return statements::explain_on(ranks, factor(), right.as(element()).terms(), element_kernels(element()));
}

AnyExpression masked(const AnyIndexedTensor& mask, bool is_complement, AnyExpression right) {
    auto factor = mask.factor();
    factor.is_mask = true;
    factor.is_complement = is_complement;
    for (auto& term : right.terms()) term.factors.push_back(factor);
    return right;
}

Number total(const AnyExpression& right) {
    ElementValue result(element_kernels(right.element()).size);
    statements::total(right.terms(), element_kernels(right.element()), result.data());
    return number_from(result.data(), right.element());
}

AnyTensor einsum(const std::vector<AnyIndexedTensor>& operands, const Labels& output, std::string name) {
    if (operands.empty()) throw InvalidArgument("einsum without operands; give a tensor for each");
    const auto& world = world_of(operands[0].factor());
    std::optional<AnyExpression> product;
    std::vector<std::int64_t> extents;
    bool is_sparse = false;
    world.agree([&] {
        bool all_sparse = true;
        const std::set<std::string> wanted(output.names().begin(), output.names().end());
        std::map<std::string, std::int64_t> extent;
        for (std::size_t o = 0; o < operands.size(); ++o) {
            const auto& factor = operands[o].factor();
            const auto& names = factor.labels.names();
            const auto& lengths = factor.sparse ? factor.sparse->lengths() : factor.tensor->shape().extents();
            if (names.size() != lengths.size())
                throw InvalidArgument("einsum: operand " + std::to_string(o + 1) + " has " + std::to_string(lengths.size()) +
                                      " dimensions, but " + std::to_string(names.size()) + " labels");
            for (std::size_t d = 0; d < names.size(); ++d) {
                const auto known = extent.emplace(names[d], lengths[d]).first->second;
                if (known != lengths[d])
                    throw InvalidArgument("einsum: label " + names[d] + " of operand " + std::to_string(o + 1) + " has the extent " +
                                          std::to_string(lengths[d]) + ", elsewhere " + std::to_string(known) + "; make them equal");
            }
            const bool sparse = factor.sparse != nullptr;
            all_sparse = all_sparse && sparse;
            const bool has_output = names.size() == wanted.size() && std::set<std::string>(names.begin(), names.end()) == wanted;
            is_sparse = is_sparse || (sparse && has_output);
            product = product ? *product * operands[o] : AnyExpression(operands[o]);
        }
        for (const auto& label : output.names()) {
            const auto found = extent.find(label);
            if (found == extent.end()) throw InvalidArgument("einsum: label " + label + " of the output is on no operand");
            extents.push_back(found->second);
        }
        is_sparse = is_sparse || all_sparse;
    });
    const auto storage = is_sparse && !extents.empty() ? Storage::sparse : Storage::dense;
    AnyTensor result(product->element(), storage, world, extents, {}, std::move(name));
    result[output] = *product;
    return result;
}

AnyTensor einsum(const std::string& text, const std::vector<const AnyTensor*>& operands) {
    const bool on_several = !operands.empty() && operands[0] != nullptr && operands[0]->any_state();
    const CollectiveCall call(on_several ? operands[0]->any_state()->world->movement_communicator() : nullptr, "einsum", text,
                              TensorArguments{operands});
    const auto parsed = parse_einsum(text);
    if (operands.empty() || parsed.operands.size() != operands.size())
        throw InvalidArgument("einsum \"" + text + "\" names " + std::to_string(parsed.operands.size()) + " operands, but " +
                              std::to_string(operands.size()) + " are given");
    std::vector<AnyIndexedTensor> factors;
    for (std::size_t o = 0; o < operands.size(); ++o) {
        if (operands[o] == nullptr)
            throw InvalidArgument("einsum \"" + text + "\": operand " + std::to_string(o + 1) + " is a null pointer; give a tensor");
        factors.push_back((*operands[o])[parsed.operands[o]]);
    }
    return einsum(factors, parsed.output, "einsum " + text);
}

}  // namespace arges
