/// @file element_functions.hpp
/// Functions of elements in statements: `E["ij"] = map(f, A["ij"], N["j"])` and `update(C["abij"], D["abij"], f)`.
#pragma once

#include "arges/expression.hpp"

#include <cstdint>
#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace arges {

/// @cond
namespace statements {

/// results[i] = f(inputs[0][i], inputs[1][i], ...) for `count` elements.
using BulkFunction = std::function<void(const std::vector<const void*>& inputs, void* results, std::int64_t count)>;

/// left = f(operands), or left += f(operands) by the kernels of its elements. An operand may be the tensor on the left.
void apply(const Factor& left, const std::vector<Factor>& operands, const ElementKernels& result, const BulkFunction& f, bool accumulate);

template <class R, class F, class... Ts, std::size_t... i>
BulkFunction bulk(F f, std::index_sequence<i...> /*operands*/) {
    return [f](const std::vector<const void*>& inputs, void* results, std::int64_t count) {
        R* const to = static_cast<R*>(results);
        const std::tuple<const Ts*...> from{static_cast<const Ts*>(inputs[i])...};
        for (std::int64_t k = 0; k < count; ++k) to[k] = static_cast<R>(f(std::get<i>(from)[k]...));
    };
}

}  // namespace statements
/// @endcond

/// The right-hand side of a statement that map() makes.
template <class R>
class Mapping {
public:
    /// Made by map().
    Mapping(std::vector<Factor> operands, statements::BulkFunction f) : operands_(std::move(operands)), f_(std::move(f)) {}
    /// @cond
    void assign_to(const Factor& left, bool accumulate) const { statements::apply(left, operands_, element_kernels<R>(), f_, accumulate); }
    /// @endcond

private:
    std::vector<Factor> operands_;
    statements::BulkFunction f_;
};

/// A function of the elements at the same indices, `E["ij"] = map([](double a, int n) { return a / n; }, A["ij"], N["j"])`: any number of
/// operands of any types, repeated along the labels that they lack; labels that the output lacks are refused, so sum them first. The
/// result's type is that of the function. With `+=` it is added. The function is called in any order, once or several times for an element,
/// by several threads or one; it must give the same on every rank.
///
/// On packed storage the function is called for one element of each orbit. The result must have the output's symmetry: each operand must be
/// symmetric, antisymmetric or hermitian under the exchanges that the output's tree names, by structure; where signs or conjugates appear,
/// the function is called for them too and compared, f(-a) = -f(a) where a and the output are antisymmetric, up to 8 units in the last
/// place.
/// @throws InvalidArgument on every rank, and the output is as it was: for labels that are repeated on the left or not there, operands
/// without the symmetry,
///         or a function that does not have it; OutOfMemory
template <class F, class... Ts>
auto map(F f, const IndexedTensor<Ts>&... operands) {
    using R = std::remove_cvref_t<std::invoke_result_t<F&, const Ts&...>>;
    return Mapping<R>({operands.factor()...}, statements::bulk<R, F, Ts...>(std::move(f), std::index_sequence_for<Ts...>()));
}

/// @cond
namespace statements {

template <class T, class... Arguments, std::size_t... i>
void update(const IndexedTensor<T>& target, std::tuple<Arguments...> arguments, std::index_sequence<i...> /*operands*/) {
    auto f = std::get<sizeof...(i)>(arguments);
    map(
        [f](const T& element, const auto&... others) {
            T changed = element;
            f(changed, others...);
            return changed;
        },
        target, std::get<i>(arguments)...)
        .assign_to(target.factor(), false);
}

}  // namespace statements
/// @endcond

/// Changes elements in place: `update(C["abij"], D["abij"], [](double& c, double d) { c /= d; })`, with operands between the target and the
/// function, or none. Rules as for map().
template <class T, class... Arguments>
void update(const IndexedTensor<T>& target, Arguments... operands_and_function) {
    statements::update(target, std::tuple<Arguments...>(std::move(operands_and_function)...),
                       std::make_index_sequence<sizeof...(Arguments) - 1>());
}

}  // namespace arges
