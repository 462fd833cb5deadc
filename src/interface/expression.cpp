#include "arges/expression.hpp"

#include "arges/error.hpp"
#include "arges/tensor.hpp"
#include "base/instantiate.hpp"
#include "interface/statement.hpp"

#include <string>

namespace arges {

namespace {

const char* checked(const char* text) {
    if (text == nullptr) throw InvalidArgument("labels: a null pointer in place of a text");
    return text;
}

/// A factor that was put together by hand may lack its tensor.
template <class T>
void check_tensor(const Factor<T>& factor) {
    if (!factor.tensor)
        throw InvalidArgument("[\"" + factor.labels.to_string() + "\"]: labels without a tensor; label one by Tensor::operator[]");
}

template <class T>
void check_tensors(const Factor<T>& left, const Expression<T>& right) {
    check_tensor(left);
    for (const auto& term : right.terms())
        for (const auto& factor : term.factors) check_tensor(factor);
}

}  // namespace

Labels::Labels(const char* letters) : Labels(std::string(checked(letters))) {}

Labels::Labels(const std::string& letters) {
    for (char c : letters) names_.emplace_back(1, c);
}

Labels::Labels(std::initializer_list<const char*> names) {
    for (const char* name : names) names_.emplace_back(checked(name));
}

std::string Labels::to_string() const {
    std::string text;
    bool single = true;
    for (const auto& name : names_) single = single && name.size() == 1;
    for (const auto& name : names_) text += (single || text.empty() ? "" : ",") + name;
    return text;
}

template <class T>
Expression<T> Expression<T>::multiply(const Expression& a, const Expression& b) {
    Expression result;
    for (const auto& x : a.terms_)
        for (const auto& y : b.terms_) {
            Term<T> term = x;
            term.coefficient *= y.coefficient;
            term.factors.insert(term.factors.end(), y.factors.begin(), y.factors.end());
            term.repeated.insert(term.repeated.end(), y.repeated.begin(), y.repeated.end());
            term.summed.insert(term.summed.end(), y.summed.begin(), y.summed.end());
            for (const auto* side : {&x, &y}) {
                const auto* other = side == &x ? &y : &x;
                if (side->projection == Projection::none) continue;
                if (!other->factors.empty())
                    throw InvalidArgument(
                        "antisymmetrized(...), symmetrized(...) and canonical(...) fit a right-hand side to the output; they can "
                        "be multiplied by a number only, so put the whole product inside");
                term.projection = side->projection;
            }
            result.terms_.push_back(std::move(term));
        }
    return result;
}

template <class T>
T Expression<T>::total() const {
    for (const auto& term : terms_)
        for (const auto& factor : term.factors) {
            check_tensor(factor);
            const Tensor<T> result(factor.tensor->world_handle, {});
            result[""] = *this;
            return result.scalar();
        }
    T sum(0);
    for (const auto& term : terms_) sum += term.coefficient;
    return sum;
}

template <class T>
Expression<T> conj(Expression<T> right) {
    if constexpr (!std::is_same_v<T, real_of<T>>) {
        for (auto& term : right.terms()) {
            term.coefficient = std::conj(term.coefficient);
            for (auto& factor : term.factors) factor.conjugated = !factor.conjugated;
        }
    }
    return right;
}

template <class T>
void IndexedTensor<T>::assign(const Expression<T>& right, T beta) {
    check_tensors(factor(), right);
    Statement<T>(factor(), right, beta).run();
}

template <class T>
std::string IndexedTensor<T>::explain(const Expression<T>& right, T beta) const {
    check_tensors(factor(), right);
    return Statement<T>(factor(), right, beta).explain();
}

template <class T>
void contract(std::type_identity_t<T> alpha, const Tensor<T>& A, const Labels& a, const Tensor<T>& B, const Labels& b,
              std::type_identity_t<T> beta, Tensor<T>& C, const Labels& c) {
    C[c].assign(Expression<T>(alpha) * (A[a] * B[b]), beta);
}

#define ARGES_INSTANTIATE(T)                                                                                   \
    template class Expression<T>;                                                                              \
    template class IndexedTensor<T>;                                                                           \
    template Expression<T> conj(Expression<T>);                                                                \
    template void contract(std::type_identity_t<T>, const Tensor<T>&, const Labels&, const Tensor<T>&, const Labels&, \
                           std::type_identity_t<T>, Tensor<T>&, const Labels&);
ARGES_FOR_EACH_ELEMENT_TYPE(ARGES_INSTANTIATE)

}  // namespace arges
