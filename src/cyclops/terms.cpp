// Right-hand sides as programs write them.
#include "arges/error.hpp"
#include "cyclops/body.hpp"

#include <cmath>

namespace CTF_int {

using arges::AnyTensor;
using arges::InvalidArgument;
using arges::Number;

namespace {

/// A double that is whole is a whole number, so that integer tensors have it.
Number number_of(double value) {
    constexpr double largest = 9007199254740992.0;
    if (std::abs(value) <= largest && std::trunc(value) == value) return static_cast<std::int64_t>(value);
    return value;
}

Number product(const Number& a, const Number& b) {
    return std::visit(
        []<class A, class B>(const A& x, const B& y) -> Number {
            if constexpr (std::is_integral_v<A> && std::is_integral_v<B>) {
                std::int64_t whole = 0;
                if (__builtin_mul_overflow(x, y, &whole)) return static_cast<double>(x) * static_cast<double>(y);
                return whole;
            } else if constexpr (std::is_same_v<A, B>)
                return x * y;
            else if constexpr (std::is_integral_v<A>)
                return static_cast<double>(x) * y;
            else if constexpr (std::is_integral_v<B>)
                return x * static_cast<double>(y);
            else
                return x * y;
        },
        a, b);
}

std::complex<double> complex_of(const Number& number) {
    return std::visit(
        []<class N>(const N& value) -> std::complex<double> {
            if constexpr (std::is_integral_v<N>)
                return static_cast<double>(value);
            else
                return value;
        },
        number);
}

const Formula& without_call(const Term& term) {
    if (term.formula()->call) throw InvalidArgument("a function of elements is part of a longer expression; assign it to a tensor first");
    return *term.formula();
}

Term term_of(Formula formula) { return Term(std::make_shared<const Formula>(std::move(formula))); }

Term sum_of(const Term& a, const Term& b, std::int64_t sign) {
    Formula result(without_call(a));
    for (const auto& own : without_call(b).sum) {
        result.sum.push_back(own);
        result.sum.back().factor = product(own.factor, sign);
    }
    return term_of(std::move(result));
}

/// Operands of a function: tensors, with factors.
std::vector<Product> operands_of(const std::vector<Term>& terms) {
    std::vector<Product> result;
    for (const auto& term : terms) {
        const auto& sum = without_call(term).sum;
        if (sum.size() != 1 || sum[0].operands.size() != 1)
            throw InvalidArgument("a function of a sum or a product; assign that to a tensor first");
        result.push_back(sum[0]);
    }
    return result;
}

/// A sum of dense tensors with the same labels and symmetry as one tensor, so that it is multiplied once; other ones as they are.
/// Collective.
Formula summed_up(const Formula& formula) {
    const auto& sum = formula.sum;
    if (sum.size() < 2 || sum[0].operands.size() != 1) return formula;
    const auto& first = sum[0].operands[0];
    const auto& like = tensor_of(first);
    for (const auto& term : sum) {
        if (term.operands.size() != 1 || term.operands[0].labels != first.labels || is_repeated(first.labels)) return formula;
        const auto& tensor = tensor_of(term.operands[0]);
        if (tensor.is_sparse() || tensor.symmetry() != like.symmetry() || tensor.extents() != like.extents() ||
            &tensor.kernels() != &like.kernels() || !(tensor.world() == like.world()))
            return formula;
    }
    const AnyTensor values(like.kernels(), arges::Storage::dense, like.world(), like.extents(), like.symmetry(), "");
    const Operand result{held(values), first.labels};
    assign(result, formula, std::int64_t{0}, 1);
    return {.sum = {{.operands = {result}}}};
}

}  // namespace

Number number_of(const void* value, arges::ElementType type) {
    const auto number = arges::number_from(value, type);
    const auto* const real = std::get_if<double>(&number);
    return real == nullptr ? number : number_of(*real);
}

Term Term::operator*(const Term& other) const {
    Formula result;
    const auto left = summed_up(without_call(*this)), right = summed_up(without_call(other));
    for (const auto& a : left.sum)
        for (const auto& b : right.sum) {
            if (!a.element.empty() && !b.element.empty())
                throw InvalidArgument("a product with two factors that are no numbers; put one of them into a Scalar");
            result.sum.push_back({product(a.factor, b.factor), a.operands, a.element.empty() ? b.element : a.element});
            auto& operands = result.sum.back().operands;
            operands.insert(operands.end(), b.operands.begin(), b.operands.end());
        }
    return term_of(std::move(result));
}

Term Term::operator+(const Term& other) const { return sum_of(*this, other, 1); }
Term Term::operator-(const Term& other) const { return sum_of(*this, other, -1); }
Term Term::of_number(double number) { return term_of({.sum = {{number_of(number)}}}); }
Term Term::of_number(std::int64_t number) { return term_of({.sum = {{number}}}); }
Term Term::of_number(std::complex<double> number) { return number.imag() == 0 ? of_number(number.real()) : term_of({.sum = {{number}}}); }
Term Term::of_value(const algstrct& algebra, const void* value) {
    const auto& operations = algebra.operations;
    if (operations.element != Element::other)
        return term_of({.sum = {{number_of(value, static_cast<arges::ElementType>(operations.element))}}});
    const auto* const bytes = static_cast<const char*>(value);
    const std::vector<char> element(bytes, bytes + operations.size);
    return term_of({.sum = {{.element = element == operations.one ? std::vector<char>() : element}}});
}

double Term::value() const { return complex_of(number_of_terms(*formula_)).real(); }
std::complex<double> Term::complex_value() const { return complex_of(number_of_terms(*formula_)); }
std::int64_t Term::integer() const {
    const auto number = number_of_terms(*formula_);
    const auto* const whole = std::get_if<std::int64_t>(&number);
    return whole != nullptr ? *whole : static_cast<std::int64_t>(complex_of(number).real());
}

void Term::assign(const Term& right, bool keeps, int sign) const {
    const auto& sum = without_call(*this).sum;
    if (sum.size() != 1 || sum[0].operands.size() != 1) throw InvalidArgument("assignment to an expression; assign to one tensor");
    const auto& left = sum[0].operands[0];
    tensor_of(left);
    const auto& zero = algebra_of(left.body->tensor.kernels())->operations.zero;
    if (keeps && !sum[0].element.empty() && sum[0].element != zero)
        throw arges::Unsupported("an output times an element that is no number; multiply it by a Scalar in a statement before");
    if (!sum[0].element.empty()) keeps = false;
    CTF_int::assign(left, *right.formula(), keeps ? sum[0].factor : Number(std::int64_t{0}), sign);
}

Term Term::of_function(const algstrct& result, const std::vector<Term>& operands, const Loop& loop, bool intersects) {
    return term_of({.call = Call{&kernels_of(result), operands_of(operands), loop, intersects}});
}

void Term::transform(const std::vector<Term>& operands, const Loop& loop) { change(operands_of(operands), loop); }

}  // namespace CTF_int

namespace CTF {

namespace {

std::shared_ptr<const CTF_int::Formula> labelled(CTF_int::tensor* tensor, const char* labels) {
    if (tensor->body() == nullptr)  // to be made by a decomposition
        return std::make_shared<const CTF_int::Formula>(CTF_int::Formula{.sum = {{std::int64_t{1}, {{nullptr, labels}}}}});
    CTF_int::of(*tensor);
    const std::string given(labels, strnlen(labels, tensor->order));
    if (given.size() < static_cast<std::size_t>(tensor->order))
        throw arges::InvalidArgument("[\"" + given + "\"] of a tensor of order " + std::to_string(tensor->order) +
                                     "; give a label for each dimension");
    return std::make_shared<const CTF_int::Formula>(CTF_int::Formula{.sum = {{std::int64_t{1}, {{tensor->body(), given}}}}});
}

}  // namespace

Idx_Tensor::Idx_Tensor(CTF_int::tensor* tensor, const char* labels) : Term(labelled(tensor, labels)), parent(tensor) {}

}  // namespace CTF
