/// Statements over tensors whose element types are known at run time.
#pragma once

#include "handles/tensor_handle.hpp"

#include <string>
#include <variant>
#include <vector>

namespace arges::handles {

/// The type of sums and products of two types: the narrowest that has the numbers of both.
/// @throws InvalidArgument if there is none: 64-bit integers beside floating-point numbers
ElementType common_type(ElementType a, ElementType b);

/// An expression of an element type. Numbers take on the type that they meet.
class ExpressionHandle {
public:
    /// In the order of ElementType.
    using Held = std::variant<Expression<float>, Expression<double>, Expression<std::complex<float>>, Expression<std::complex<double>>,
                              Expression<std::int16_t>, Expression<std::int32_t>, Expression<std::int64_t>, Expression<bool>>;

    template <class T>
    ExpressionHandle(Expression<T> expression) : held_(std::move(expression)) {}  // NOLINT: implicit on purpose
    /// A tensor with labels. Local.
    ExpressionHandle(const TensorHandle& tensor, const Labels& labels);
    /// A number as a term of an expression of a type.
    ExpressionHandle(const Number& number, ElementType element);

    ElementType element() const { return static_cast<ElementType>(held_.index()); }
    std::vector<Term>& terms() {
        return std::visit([](auto& e) -> std::vector<Term>& { return e.terms(); }, held_);
    }
    const std::vector<Term>& terms() const {
        return std::visit([](const auto& e) -> const std::vector<Term>& { return e.terms(); }, held_);
    }
    /// In another type. @throws InvalidArgument if it does not have all numbers of this one
    ExpressionHandle as(ElementType element) const;
    template <class F>
    decltype(auto) visit(F&& f) const {
        return std::visit(std::forward<F>(f), held_);
    }
    /// Likewise as an expression of C++.
    template <class T>
    Expression<T> of() const {
        return std::get<Expression<T>>(as(element_type_of<T>()).held_);
    }

    friend ExpressionHandle operator+(const ExpressionHandle& a, const ExpressionHandle& b);
    friend ExpressionHandle operator*(const ExpressionHandle& a, const ExpressionHandle& b);
    /// Multiplied by a number; the type widens where it does not have it.
    friend ExpressionHandle operator*(const Number& number, const ExpressionHandle& a);
    /// Complex conjugate.
    friend ExpressionHandle conjugate(const ExpressionHandle& a);

private:
    Held held_;
};

/// Marks what an expression does not store, see where() and where_not().
ExpressionHandle masked(const TensorHandle& mask, const Labels& labels, bool is_complement, ExpressionHandle right);

/// left = right + beta * left; without beta, right is added. Collective. @throws as a statement, and if the left type does not hold the
/// right one
void assign(const TensorHandle& left, const Labels& labels, const ExpressionHandle& right, const Number& beta);
/// left += right. Collective.
void add(const TensorHandle& left, const Labels& labels, const ExpressionHandle& right);
/// left = left * number. Collective.
void scale(const TensorHandle& left, const Labels& labels, const Number& number);
/// left = left / divisor, element by element. Collective.
void divide(const TensorHandle& left, const Labels& labels, const ExpressionHandle& divisor);
/// The plan of left = right + beta * left. @param ranks  0: those of the world; others only with sparse tensors. Local.
std::string explain(const TensorHandle& left, const Labels& labels, const ExpressionHandle& right, const Number& beta,
                    std::int64_t ranks = 0);
/// The sum over all labels. Collective.
Number total(const ExpressionHandle& right);

/// A product of tensors as a new one: sparse if all operands are, or if one that is has the labels of the output and no others, else
/// dense. Collective. @throws InvalidArgument as einsum()
TensorHandle einsum(const std::vector<TensorHandle>& operands, const std::vector<Labels>& labels, const Labels& output);
/// Likewise of a text.
TensorHandle einsum(const std::string& text, const std::vector<TensorHandle>& operands);

/// left = f(operands) or left += f(operands) by a function of arrays, see map(); `over` says for which elements of sparse operands.
/// Collective. f is called by several threads.
void apply(const TensorHandle& left, const Labels& labels, const std::vector<TensorHandle>& operands, const std::vector<Labels>& of,
           const statements::BulkFunction& f, bool accumulate, MapOver over);

}  // namespace arges::handles
