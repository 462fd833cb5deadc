/// @file expression.hpp
/// Right-hand sides of index-string statements: sums of products of indexed tensors.
///
/// NaN is never hidden: every term is computed, also one with a coefficient of zero, and 0 * NaN and 0 * infinity are NaN.
/// What a statement replaces (beta = 0) is not read.
#pragma once

#include "arges/algebra_concepts.hpp"
#include "arges/element_kernels.hpp"
#include "arges/scalar.hpp"
#include "arges/symmetry.hpp"

#include <complex>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace arges {

template <class T>
class Tensor;
/// @cond
class TensorState;
class SparseState;
/// @endcond

/// The labels of a tensor's dimensions: one letter each ("abij"), or a list of names ({"a1", "a2"}).
class Labels {
public:
    /// One label per character. Letters, digits and underscores; anything else is refused by the statement.
    Labels(const char* letters);  // NOLINT: implicit on purpose
    /// One label per character.
    Labels(const std::string& letters);  // NOLINT
    /// One label per name; for more than 52 labels or for readability.
    Labels(std::vector<std::string> names) : names_(std::move(names)) {}  // NOLINT
    /// One label per name.
    Labels(std::initializer_list<const char*> names);  // NOLINT
    /// The names, one per dimension.
    const std::vector<std::string>& names() const { return names_; }
    /// "abij", or "a1,a2" where names are longer than a letter.
    std::string to_string() const;

private:
    std::vector<std::string> names_;
};

/// One tensor of a product, with its labels.
struct Factor {
    std::shared_ptr<TensorState> tensor;    ///< the tensor, kept alive; null where it is sparse
    Labels labels;                          ///< one label per dimension
    bool conjugated = false;                ///< use the complex conjugate
    std::shared_ptr<SparseState> sparse{};  ///< the tensor where it is sparse, kept alive
    bool is_mask = false;                   ///< stands for ones where elements are stored, see where()
    bool is_complement = false;             ///< likewise where they are not, see where_not()
    bool is_actor = false;                  ///< its elements act on those of the other factor, see act()
};

/// coefficient * product of factors.
struct Term {
    ElementValue coefficient{};                ///< number in front, of the expression's element type; none stands for one
    std::vector<Factor> factors{};             ///< empty: the term is a number
    Projection projection = Projection::none;  ///< how it is fitted to the output's symmetry
    std::vector<std::string> repeated{};       ///< labels of the output that it is meant not to depend on, see broadcast()
    std::vector<std::string> summed{};         ///< labels that are meant to occur once, see sum()
};

/// The type of products of two element types: the one that holds the other's values. Where neither does (std::complex<float> times double)
/// there is none.
template <class A, class B>
using product_type = std::conditional_t<is_lossless<A, B>, B, A>;

/// What can be written in front of an expression with elements T.
template <class N, class T>
concept NumberFor = kernels::is_number<T> &&(std::is_arithmetic_v<N> || std::is_same_v<N, T>);

/// @cond
namespace statements {

Term multiplied(const Term& a, const Term& b, const ElementKernels& kernels);
/// left = right + beta * left; a null beta stands for one.
void assign(const Factor& left, const std::vector<Term>& right, const void* beta, const ElementKernels& algebra);
std::string explain(const Factor& left, const std::vector<Term>& right, const void* beta, const ElementKernels& algebra);
std::string explain_on(std::int64_t ranks, const Factor& left, const std::vector<Term>& right, const ElementKernels& algebra);
void total(const std::vector<Term>& terms, const ElementKernels& kernels, void* result);
void divide(const Factor& left, const std::vector<Term>& divisor);

}  // namespace statements
/// @endcond

/// A sum of terms. Nothing is computed until it is assigned to an indexed tensor.
template <class T>
class Expression {
public:
    /// An empty sum (zero).
    Expression() = default;
    /// A number.
    Expression(T number) : terms_{Term{ElementValue::of(number)}} {}  // NOLINT
    /// A number of another type, as in 0.5 * A["ij"] where A is complex.
    template <class N>
    requires(std::is_arithmetic_v<N> && !std::is_same_v<N, T> && kernels::is_number<T>) Expression(N number)
        : Expression(static_cast<T>(number)) {}  // NOLINT
    /// An expression in a type whose numbers T has, too, as in Z["ij"] = D["ij"] with real D and complex Z.
    template <class S>
    requires(!std::is_same_v<S, T> && is_lossless<S, T>) Expression(const Expression<S>& other)
        : terms_(other.terms()) {  // NOLINT: implicit on purpose
        for (auto& term : terms_)
            if (const auto* number = static_cast<const S*>(std::as_const(term.coefficient).data()))
                term.coefficient = ElementValue::of(static_cast<T>(*number));
    }
    /// One term.
    explicit Expression(Term term) : terms_{std::move(term)} {}

    /// The sum over all labels as a number, on every rank: `double e = A["ij"] * B["ij"];`. Collective, unless there are numbers only.
    /// @throws as a statement
    template <class S>
    requires std::is_same_v<S, T>
    operator S() const {  // NOLINT: implicit on purpose
        S result{};
        statements::total(terms_, element_kernels<T>(), &result);
        return result;
    }

    /// The terms of the sum.
    const std::vector<Term>& terms() const { return terms_; }
    /// The terms, to be changed.
    std::vector<Term>& terms() { return terms_; }
    /// Multiplies the coefficients.
    void scale(T number) {
        for (auto& term : terms_) {
            const auto* own = static_cast<const T*>(std::as_const(term.coefficient).data());
            term.coefficient = ElementValue::of(static_cast<T>(own == nullptr ? number : PlusTimes<T>::multiply(number, *own)));
        }
    }

    /// Sum.
    friend Expression operator+(Expression a, const Expression& b) {
        a.terms_.insert(a.terms_.end(), b.terms_.begin(), b.terms_.end());
        return a;
    }
    /// Negation.
    friend Expression operator-(Expression a) requires kernels::has_negative<T> {
        a.scale(PlusTimes<T>::negate(T(1)));
        return a;
    }
    /// Difference.
    friend Expression operator-(const Expression& a, const Expression& b) requires kernels::has_negative<T> { return a + (-b); }
    /// Product; sums are multiplied out. A factor under antisymmetrized(), symmetrized() or canonical()
    /// can only be multiplied by a number.
    friend Expression operator*(const Expression& a, const Expression& b) {
        Expression result;
        for (const auto& x : a.terms_)
            for (const auto& y : b.terms_) result.terms_.push_back(statements::multiplied(x, y, element_kernels<T>()));
        return result;
    }
    /// Sum with a number, which counts once for each element of the output.
    template <NumberFor<T> N>
    friend Expression operator+(const Expression& a, N number) {
        return a + Expression(number);
    }
    /// Likewise.
    template <NumberFor<T> N>
    friend Expression operator+(N number, const Expression& a) {
        return Expression(number) + a;
    }
    /// Difference.
    template <NumberFor<T> N>
    friend Expression operator-(const Expression& a, N number) {
        return a - Expression(number);
    }
    /// Difference.
    template <NumberFor<T> N>
    friend Expression operator-(N number, const Expression& a) {
        return Expression(number) - a;
    }
    /// Multiplication by a number.
    template <NumberFor<T> N>
    friend Expression operator*(N number, Expression a) {
        a.scale(static_cast<T>(number));
        return a;
    }
    /// Multiplication by a number.
    template <NumberFor<T> N>
    friend Expression operator*(Expression a, N number) {
        return number * std::move(a);
    }
    /// Division by a number.
    template <NumberFor<T> N>
    requires(!std::is_integral_v<T>) friend Expression operator/(Expression a, N number) {
        for (auto& term : a.terms_) {
            const auto* own = static_cast<const T*>(std::as_const(term.coefficient).data());
            term.coefficient = ElementValue::of((own == nullptr ? T(1) : *own) / static_cast<T>(number));
        }
        return a;
    }
    /// @cond
    // An expression becomes a number where one is asked for; here elements would be meant.
    friend Expression operator/(const Expression&, const Expression&) = delete;
    template <NumberFor<T> N>
    friend Expression operator/(N, const Expression&) = delete;
    friend bool operator==(const Expression&, const Expression&) = delete;
    friend std::ostream& operator<<(std::ostream&, const Expression&) = delete;
    /// @endcond

private:
    std::vector<Term> terms_;
};

/// Product of tensors of two types, of the type that holds both: `Z["ij"] * D["jk"]` with complex Z and real D. Nothing is lost silently:
/// there is no product of std::complex<float> and double.
template <class A, class B>
requires(!std::is_same_v<A, B> && (is_lossless<A, B> || is_lossless<B, A>)) Expression<product_type<A, B>>
operator*(const Expression<A>& a, const Expression<B>& b) { return Expression<product_type<A, B>>(a) * Expression<product_type<A, B>>(b); }
/// Multiplication by a number of a wider type, as in `std::complex<double>(0, 1) * D["ij"]` with real D.
template <class N, class T>
requires(!std::is_same_v<N, T> && !std::is_arithmetic_v<N> && is_lossless<T, N>) Expression<N>
operator*(N number, const Expression<T>& a) { return number * Expression<N>(a); }
/// Likewise.
template <class N, class T>
requires(!std::is_same_v<N, T> && !std::is_arithmetic_v<N> && is_lossless<T, N>) Expression<N>
operator*(const Expression<T>& a, N number) { return number * Expression<N>(a); }
/// Sum of expressions of two types, of the type that holds both.
template <class A, class B>
requires(!std::is_same_v<A, B> && (is_lossless<A, B> || is_lossless<B, A>)) Expression<product_type<A, B>>
operator+(const Expression<A>& a, const Expression<B>& b) { return Expression<product_type<A, B>>(a) + Expression<product_type<A, B>>(b); }
/// Likewise.
template <class A, class B>
requires(!std::is_same_v<A, B> && (is_lossless<A, B> || is_lossless<B, A>)) Expression<product_type<A, B>>
operator-(const Expression<A>& a, const Expression<B>& b) { return Expression<product_type<A, B>>(a) - Expression<product_type<A, B>>(b); }

template <class T>
class Mapping;

/// A tensor with labels: a term of an expression, and the left-hand side of a statement.
///
/// `C["abij"] += 0.5 * V["abef"] * T["efij"]` sums over all e and f. Statements are collective over the
/// tensor's world. They throw the same exception on every rank and then leave the left-hand side as it was.
template <class T>
class IndexedTensor : public Expression<T> {
public:
    /// Made by Tensor::operator[].
    explicit IndexedTensor(Factor factor) : Expression<T>(Term{.factors = {std::move(factor)}}) {}
    /// Copies the expression (not the tensor).
    IndexedTensor(const IndexedTensor&) = default;

    /// Replaces the elements that the labels name.
    void operator=(const Expression<T>& right) {
        const auto& kernels = element_kernels<T>();
        if (right.terms().empty())
            statements::assign(factor(), {Term{.coefficient = ElementValue(kernels.zero, kernels.size)}}, kernels.zero, kernels);
        else
            statements::assign(factor(), right.terms(), kernels.zero, kernels);
    }
    /// Replaces by another indexed tensor.
    void operator=(const IndexedTensor& right) { *this = static_cast<const Expression<T>&>(right); }
    /// Replaces by a function of elements, see map().
    void operator=(const Mapping<T>& right) { right.assign_to(factor(), false); }
    /// Adds a function of elements, see map().
    void operator+=(const Mapping<T>& right) { right.assign_to(factor(), true); }
    /// Adds.
    void operator+=(const Expression<T>& right) { statements::assign(factor(), right.terms(), nullptr, element_kernels<T>()); }
    /// Subtracts.
    void operator-=(const Expression<T>& right) requires kernels::has_negative<T> { *this += -right; }
    /// Multiplies the elements that the labels name by a number; also by zero, so that NaN stays. Assign 0 to replace it.
    void operator*=(T number) requires kernels::is_number<T> { assign(Expression<T>(), number); }

    /// Divides the elements that the labels name by a number.
    void operator/=(T number) requires(kernels::is_number<T> && !std::is_integral_v<T>) { assign(Expression<T>(), T(1) / number); }
    /// Divides each of this tensor's elements by the divisor's at the same indices: `T["abij"] /= e["i"] + e["j"] - f["a"] - f["b"]`. The
    /// divisor must have the symmetry of this tensor by structure, antisymmetric and hollow nodes counting as symmetric ones; it is held
    /// for the time of the call. Division by zero gives infinity or NaN.
    /// @throws InvalidArgument also if a label is repeated on the left
    void operator/=(const Expression<T>& divisor) requires(kernels::is_number<T> && !std::is_integral_v<T>) {
        statements::divide(factor(), divisor.terms());
    }
    /// @cond
    void operator*=(const Expression<T>&) = delete;
    /// @endcond

    /// this = right + beta * this; where beta is zero and `right` has terms, the elements are replaced, and not read.
    void assign(const Expression<T>& right, T beta) { statements::assign(factor(), right.terms(), &beta, element_kernels<T>()); }
    /// The plan of `this = right + beta * this` as text: grid, bytes per step and rank, flops, padding, peak memory.
    /// Computes nothing and moves nothing. Local.
    std::string explain(const Expression<T>& right, T beta) const {
        return statements::explain(factor(), right.terms(), &beta, element_kernels<T>());
    }
    /// Likewise of `this = right`. Local.
    std::string explain(const Expression<T>& right) const {
        return statements::explain(factor(), right.terms(), element_kernels<T>().zero, element_kernels<T>());
    }
    /// The plan of `this = right`, where tensors are sparse, on another number of ranks, by what is known of the nonzeros here: their
    /// number, and for products that have run the sampled or found number of multiplications. Local. @throws InvalidArgument without sparse
    /// tensors
    std::string explain_on(std::int64_t ranks, const Expression<T>& right) const {
        return statements::explain_on(ranks, factor(), right.terms(), element_kernels<T>());
    }
    /// The tensor and its labels.
    const Factor& factor() const { return this->terms()[0].factors[0]; }
};

/// The left-hand side of a statement under an algebra of the user's; see over().
template <class A>
class AlgebraTarget {
public:
    using value_type = typename A::value_type;  ///< the element type
    /// Made by over().
    explicit AlgebraTarget(Factor factor) : factor_(std::move(factor)) {}
    /// Replaces the elements that the labels name.
    void operator=(const Expression<value_type>& right) {
        statements::assign(factor_, right.terms(), algebra_kernels<A>().zero, algebra_kernels<A>());
    }
    /// Adds to them, as the algebra adds.
    void operator+=(const Expression<value_type>& right) { statements::assign(factor_, right.terms(), nullptr, algebra_kernels<A>()); }
    /// The plan of the replacing statement as text. Local.
    std::string explain(const Expression<value_type>& right) const {
        return statements::explain(factor_, right.terms(), algebra_kernels<A>().zero, algebra_kernels<A>());
    }
    /// Likewise on another number of ranks, see IndexedTensor::explain_on(). Local.
    std::string explain_on(std::int64_t ranks, const Expression<value_type>& right) const {
        return statements::explain_on(ranks, factor_, right.terms(), algebra_kernels<A>());
    }
    /// The algebra's sum over all labels, on every rank: `const double least = over<MinPlus>(d["i"]);`. Collective.
    operator value_type() const {  // NOLINT: implicit on purpose
        value_type result = A::zero;
        statements::total({Term{.factors = {factor_}}}, algebra_kernels<A>(), &result);
        return result;
    }

private:
    Factor factor_;
};

/// Lets a statement use an algebra of the user's (algebra_concepts.hpp) in place of plus and times: `over<MinPlus>(d["j"]) += d["i"] *
/// A["ij"]` are the shortest ways of one more step. Sums, products, and elements that symmetry makes zero are the algebra's. Right-hand
/// sides have no numbers: in front of a term they would be read as elements. Elements of another type take part by act().
/// @throws InvalidArgument also for a number on the right, for a product under a monoid, and for an antisymmetric tensor unless the algebra
/// is a ring
template <class A>
requires Monoid<A> AlgebraTarget<A> over(const IndexedTensor<typename A::value_type>& target) { return AlgebraTarget<A>(target.factor()); }

/// The algebra's sum of an expression over all labels, on every rank: `over<MinPlus>(d["i"] * A["ij"])`. Collective.
/// @throws as a statement
template <class A>
requires Monoid<A>
typename A::value_type over(const Expression<typename A::value_type>& right) {
    typename A::value_type result = A::zero;
    statements::total(right.terms(), algebra_kernels<A>(), &result);
    return result;
}

/// The signed sum of R over the distinct permutations of the output's antisymmetric groups (symmetric groups
/// of the output: without sign). Permutations that R has as a symmetry by structure are not applied again, so
/// `Z["abij"] += antisymmetrized(F["be"] * T["aeij"])` is P(ab) of coupled-cluster papers. Linear: applies
/// to each term of a sum by itself.
template <class T>
Expression<T> antisymmetrized(Expression<T> right) {
    for (auto& term : right.terms()) term.projection = Projection::antisymmetrized;
    return right;
}
/// The sum of R over the distinct permutations of the output's symmetric groups; coset rule as in antisymmetrized().
template <class T>
Expression<T> symmetrized(Expression<T> right) {
    for (auto& term : right.terms()) term.projection = Projection::symmetrized;
    return right;
}
/// The caller's word that R has the symmetry of the output: one element of each orbit is taken as it is.
template <class T>
Expression<T> canonical(Expression<T> right) {
    for (auto& term : right.terms()) term.projection = Projection::canonical;
    return right;
}
/// Complex conjugate of a term by term (numbers, too).
template <class T>
Expression<T> conj(Expression<T> right) {
    if constexpr (kernels::is_complex<T>) {
        for (auto& term : right.terms()) {
            if (const auto* number = static_cast<const T*>(std::as_const(term.coefficient).data()))
                term.coefficient = ElementValue::of(std::conj(*number));
            for (auto& factor : term.factors) factor.conjugated = !factor.conjugated;
        }
    }
    return right;
}

/// Says that the terms of an expression are repeated along labels of the output that none of their factors has:
/// `R["abij"] = broadcast("j", V["abef"] * T["efi"])`. One rule for labels that may be mistyped: where a term is repeated along a label and
/// sums over another that occurs in it only once, one of the two must be vouched for, by broadcast() or by sum(). The statement refuses
/// labels that are not as it is said here.
template <class T>
Expression<T> broadcast(const Labels& labels, Expression<T> right) {
    for (auto& term : right.terms()) term.repeated.insert(term.repeated.end(), labels.names().begin(), labels.names().end());
    return right;
}
/// Says that labels are summed over though they occur only once: `x["i"] = sum("k", A["ik"])`. See broadcast().
template <class T>
Expression<T> sum(const Labels& labels, Expression<T> right) {
    for (auto& term : right.terms()) term.summed.insert(term.summed.end(), labels.names().begin(), labels.names().end());
    return right;
}

/// The elements of a tensor act on those of an expression, as the algebra says that the statement names, an Action: `over<Relax>(d["j"]) +=
/// act(A["ij"], d["i"])`, where for each edge A_ij a number acts on a struct d_i. Nothing is converted: the tensor keeps its type, and
/// bytes of that type move. Each term has one factor beside masks, and it or the tensor is sparse.
template <class W, class T>
Expression<T> act(const IndexedTensor<W>& actor, Expression<T> right) {
    auto factor = actor.factor();
    factor.is_actor = true;
    for (auto& term : right.terms()) term.factors.insert(term.factors.begin(), factor);
    return right;
}
/// The terms of an expression where a sparse tensor stores elements, whatever these are and of whatever type: `S["ij"] = where(P["ij"],
/// A["ik"] * B["kj"])`. Each term is multiplied by ones there, so that products are formed at these elements only; labels that only the
/// mask has are summed over.
template <class M, class T>
Expression<T> where(const IndexedTensor<M>& mask, Expression<T> right) {
    auto factor = mask.factor();
    factor.is_mask = true;
    for (auto& term : right.terms()) term.factors.push_back(factor);
    return right;
}
/// The terms of an expression where a sparse tensor stores no element: `next["j"] = where_not(seen["j"], front["i"] * A["ij"])`. The labels
/// of the mask are labels of the output, and each term has a sparse factor.
template <class M, class T>
Expression<T> where_not(const IndexedTensor<M>& mask, Expression<T> right) {
    auto factor = mask.factor();
    factor.is_mask = factor.is_complement = true;
    for (auto& term : right.terms()) term.factors.push_back(factor);
    return right;
}
/// @cond
template <class W, class T>
Expression<T> act(const IndexedTensor<W>& actor, const IndexedTensor<T>& r) {
    return act(actor, Expression<T>(r));
}
template <class M, class T>
Expression<T> where(const IndexedTensor<M>& mask, const IndexedTensor<T>& r) {
    return where(mask, Expression<T>(r));
}
template <class M, class T>
Expression<T> where_not(const IndexedTensor<M>& mask, const IndexedTensor<T>& r) {
    return where_not(mask, Expression<T>(r));
}
template <class T>
Expression<T> broadcast(const Labels& labels, const IndexedTensor<T>& r) {
    return broadcast(labels, Expression<T>(r));
}
template <class T>
Expression<T> sum(const Labels& labels, const IndexedTensor<T>& r) {
    return sum(labels, Expression<T>(r));
}
template <class T>
Expression<T> antisymmetrized(const IndexedTensor<T>& r) {
    return antisymmetrized(Expression<T>(r));
}
template <class T>
Expression<T> symmetrized(const IndexedTensor<T>& r) {
    return symmetrized(Expression<T>(r));
}
template <class T>
Expression<T> canonical(const IndexedTensor<T>& r) {
    return canonical(Expression<T>(r));
}
template <class T>
Expression<T> conj(const IndexedTensor<T>& r) {
    return conj(Expression<T>(r));
}
/// @endcond

/// C = alpha * A * B + beta * C in one call, e.g. contract(0.5, V, "abef", T, "efij", 1.0, Z, "abij").
/// Collective; errors as for the statement.
template <class T>
void contract(std::type_identity_t<T> alpha, const Tensor<T>& A, const Labels& a, const Tensor<T>& B, const Labels& b,
              std::type_identity_t<T> beta, Tensor<T>& C, const Labels& c) {
    C[c].assign(Expression<T>(alpha) * (A[a] * B[b]), beta);
}

/// The plan of `target = right` as text; see IndexedTensor::explain().
template <class T>
std::string explain(const IndexedTensor<T>& target, const Expression<std::type_identity_t<T>>& right) {
    return target.explain(right);
}

}  // namespace arges
