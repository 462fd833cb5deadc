/// @file expression.hpp
/// Right-hand sides of index-string statements: sums of products of indexed tensors.
///
/// NaN is never hidden: every term is computed, also one with a coefficient of zero, and 0 * NaN and 0 * infinity are NaN.
/// What a statement replaces (beta = 0) is not read.
#pragma once

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
template <class T>
class TensorState;
/// @endcond

/// The labels of a tensor's dimensions: one letter each ("abij"), or a list of names ({"a1", "a2"}).
class Labels {
public:
    /// One label per character. Letters, digits and underscores; anything else is refused by the statement.
    Labels(const char* letters);         // NOLINT: implicit on purpose
    /// One label per character.
    Labels(const std::string& letters);  // NOLINT
    /// One label per name; for more than 52 labels or for readability.
    Labels(std::vector<std::string> names) : names_(std::move(names)) {}         // NOLINT
    /// One label per name.
    Labels(std::initializer_list<const char*> names);  // NOLINT
    /// The names, one per dimension.
    const std::vector<std::string>& names() const { return names_; }
    /// "abij", or "a1,a2" where names are longer than a letter.
    std::string to_string() const;

private:
    std::vector<std::string> names_;
};

/// How a right-hand side R is made to fit the symmetry of the left-hand side.
enum class Projection {
    none,             ///< R must have the symmetry by structure, else the statement is refused
    antisymmetrized,  ///< signed sum over distinct permutations, see antisymmetrized()
    symmetrized,      ///< sum over distinct permutations, see symmetrized()
    canonical         ///< the caller's word that R has the symmetry
};

/// One tensor of a product, with its labels.
template <class T>
struct Factor {
    std::shared_ptr<TensorState<T>> tensor;  ///< the tensor, kept alive
    Labels labels;                           ///< one label per dimension
    bool conjugated = false;                 ///< use the complex conjugate
};

/// coefficient * product of factors.
template <class T>
struct Term {
    T coefficient = T(1);                    ///< number in front
    std::vector<Factor<T>> factors;          ///< empty: the term is a number
    Projection projection = Projection::none;  ///< how it is fitted to the output's symmetry
    std::vector<std::string> repeated{};     ///< labels of the output that it is meant not to depend on, see broadcast()
    std::vector<std::string> summed{};       ///< labels that are meant to occur once, see sum()
};

/// What can be written in front of an expression with elements T.
template <class N, class T>
concept NumberFor = std::is_arithmetic_v<N> || std::is_same_v<N, T>;

/// A sum of terms. Nothing is computed until it is assigned to an indexed tensor.
template <class T>
class Expression {
public:
    /// An empty sum (zero).
    Expression() = default;
    /// A number.
    Expression(T number) : terms_{Term<T>{number, {}, Projection::none}} {}  // NOLINT
    /// A number of another type, as in 0.5 * A["ij"] where A is complex.
    template <class N>
        requires(std::is_arithmetic_v<N> && !std::is_same_v<N, T>)
    Expression(N number) : Expression(static_cast<T>(number)) {}  // NOLINT
    /// One term.
    explicit Expression(Term<T> term) : terms_{std::move(term)} {}

    /// The sum over all labels as a number, on every rank: `double e = A["ij"] * B["ij"];`. Collective, unless there are numbers only.
    /// @throws as a statement
    template <class S>
        requires std::is_same_v<S, T>
    operator S() const {  // NOLINT: implicit on purpose
        return total();
    }

    /// The terms of the sum.
    const std::vector<Term<T>>& terms() const { return terms_; }
    /// The terms, to be changed.
    std::vector<Term<T>>& terms() { return terms_; }

    /// Sum.
    friend Expression operator+(Expression a, const Expression& b) {
        a.terms_.insert(a.terms_.end(), b.terms_.begin(), b.terms_.end());
        return a;
    }
    /// Negation.
    friend Expression operator-(Expression a) {
        for (auto& term : a.terms_) term.coefficient = -term.coefficient;
        return a;
    }
    /// Difference.
    friend Expression operator-(Expression a, const Expression& b) { return std::move(a) + (-b); }
    /// Product; sums are multiplied out. A factor under antisymmetrized(), symmetrized() or canonical()
    /// can only be multiplied by a number.
    friend Expression operator*(const Expression& a, const Expression& b) { return multiply(a, b); }
    /// Sum with a number, which counts once for each element of the output.
    template <NumberFor<T> N>
    friend Expression operator+(const Expression& a, N number) { return a + Expression(number); }
    /// Likewise.
    template <NumberFor<T> N>
    friend Expression operator+(N number, const Expression& a) { return Expression(number) + a; }
    /// Difference.
    template <NumberFor<T> N>
    friend Expression operator-(const Expression& a, N number) { return a - Expression(number); }
    /// Difference.
    template <NumberFor<T> N>
    friend Expression operator-(N number, const Expression& a) { return Expression(number) - a; }
    /// Multiplication by a number.
    template <NumberFor<T> N>
    friend Expression operator*(N number, Expression a) {
        for (auto& term : a.terms_) term.coefficient *= static_cast<T>(number);
        return a;
    }
    /// Multiplication by a number.
    template <NumberFor<T> N>
    friend Expression operator*(Expression a, N number) { return number * std::move(a); }
    /// Division by a number.
    template <NumberFor<T> N>
    friend Expression operator/(Expression a, N number) {
        for (auto& term : a.terms_) term.coefficient /= static_cast<T>(number);
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
    static Expression multiply(const Expression& a, const Expression& b);
    T total() const;
    std::vector<Term<T>> terms_;
};

/// A tensor with labels: a term of an expression, and the left-hand side of a statement.
///
/// `C["abij"] += 0.5 * V["abef"] * T["efij"]` sums over all e and f. Statements are collective over the
/// tensor's world. They throw the same exception on every rank and then leave the left-hand side as it was.
template <class T>
class IndexedTensor : public Expression<T> {
public:
    /// Made by Tensor::operator[].
    explicit IndexedTensor(Factor<T> factor) : Expression<T>(Term<T>{T(1), {std::move(factor)}, {}}) {}
    /// Copies the expression (not the tensor).
    IndexedTensor(const IndexedTensor&) = default;

    /// Replaces the elements that the labels name.
    void operator=(const Expression<T>& right) { assign(right.terms().empty() ? Expression<T>(T(0)) : right, T(0)); }
    /// Replaces by another indexed tensor.
    void operator=(const IndexedTensor& right) { assign(right, T(0)); }
    /// Adds.
    void operator+=(const Expression<T>& right) { assign(right, T(1)); }
    /// Subtracts.
    void operator-=(const Expression<T>& right) { assign(-right, T(1)); }
    /// Multiplies the elements that the labels name by a number; also by zero, so that NaN stays. Assign 0 to replace it.
    void operator*=(T number) { assign(Expression<T>(), number); }

    /// Divides the elements that the labels name by a number.
    void operator/=(T number) { assign(Expression<T>(), T(1) / number); }
    /// Divides each of this tensor's elements by the divisor's at the same indices: `T["abij"] /= e["i"] + e["j"] - f["a"] - f["b"]`. The divisor must have the
    /// symmetry of this tensor by structure, antisymmetric and hollow nodes counting as symmetric ones; it is held for the time of the call.
    /// Division by zero gives infinity or NaN.
    /// @throws InvalidArgument also if a label is repeated on the left
    void operator/=(const Expression<T>& divisor) { divide_by(divisor); }
    /// @cond
    void operator*=(const Expression<T>&) = delete;
    /// @endcond

    /// this = right + beta * this; where beta is zero and `right` has terms, the elements are replaced, and not read.
    void assign(const Expression<T>& right, T beta);
    /// The plan of `this = right + beta * this` as text: grid, bytes per step and rank, flops, padding, peak memory.
    /// Computes nothing and moves nothing. Local.
    std::string explain(const Expression<T>& right, T beta = T(0)) const;
    /// The tensor and its labels.
    const Factor<T>& factor() const { return this->terms()[0].factors[0]; }

private:
    void divide_by(const Expression<T>& divisor);
};

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
Expression<T> conj(Expression<T> right);

/// Says that the terms of an expression are repeated along labels of the output that none of their factors has:
/// `R["abij"] = broadcast("j", V["abef"] * T["efi"])`. One rule for labels that may be mistyped: where a term is repeated along a label and sums over
/// another that occurs in it only once, one of the two must be vouched for, by broadcast() or by sum().
/// The statement refuses labels that are not as it is said here.
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

/// @cond
template <class T>
Expression<T> broadcast(const Labels& labels, const IndexedTensor<T>& r) { return broadcast(labels, Expression<T>(r)); }
template <class T>
Expression<T> sum(const Labels& labels, const IndexedTensor<T>& r) { return sum(labels, Expression<T>(r)); }
template <class T>
Expression<T> antisymmetrized(const IndexedTensor<T>& r) { return antisymmetrized(Expression<T>(r)); }
template <class T>
Expression<T> symmetrized(const IndexedTensor<T>& r) { return symmetrized(Expression<T>(r)); }
template <class T>
Expression<T> canonical(const IndexedTensor<T>& r) { return canonical(Expression<T>(r)); }
template <class T>
Expression<T> conj(const IndexedTensor<T>& r) { return conj(Expression<T>(r)); }
/// @endcond

/// C = alpha * A * B + beta * C in one call, e.g. contract(0.5, V, "abef", T, "efij", 1.0, Z, "abij").
/// Collective; errors as for the statement.
template <class T>
void contract(std::type_identity_t<T> alpha, const Tensor<T>& A, const Labels& a, const Tensor<T>& B, const Labels& b,
              std::type_identity_t<T> beta, Tensor<T>& C, const Labels& c);

/// The plan of `target = right` as text; see IndexedTensor::explain().
template <class T>
std::string explain(const IndexedTensor<T>& target, const Expression<std::type_identity_t<T>>& right) {
    return target.explain(right);
}

}  // namespace arges
