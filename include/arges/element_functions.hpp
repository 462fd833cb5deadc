/// @file element_functions.hpp
/// Functions of elements in statements: `E["ij"] = map(f, A["ij"], N["j"])` and `update(C["abij"], D["abij"], f)`.
#pragma once

#include "arges/expression.hpp"
#include "arges/functions.hpp"

#include <complex>
#include <cstdint>
#include <functional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace arges {

/// The second of two elements in place of sums and products: elements are read at the places of others, or written over them.
template <class T>
struct Second {
    using value_type = T;                                  ///< any element type
    static inline const T zero{};                          ///< not stored
    static inline const T one{};                           ///< what is at the places that elements are read at
    static T add(const T&, const T& b) { return b; }       ///< b
    static T multiply(const T&, const T& b) { return b; }  ///< b
};

/// @cond
extern template const ElementKernels& algebra_kernels<Second<float>>();
extern template const ElementKernels& algebra_kernels<Second<double>>();
extern template const ElementKernels& algebra_kernels<Second<std::complex<float>>>();
extern template const ElementKernels& algebra_kernels<Second<std::complex<double>>>();
extern template const ElementKernels& algebra_kernels<Second<std::int16_t>>();
extern template const ElementKernels& algebra_kernels<Second<std::int32_t>>();
extern template const ElementKernels& algebra_kernels<Second<std::int64_t>>();
extern template const ElementKernels& algebra_kernels<Second<bool>>();
/// @endcond

/// The elements that a function of sparse operands is called for.
enum class MapOver : std::uint8_t {
    all,    ///< stored in every sparse operand
    any,    ///< stored in at least one; what is not stored is the zero of the operand's type
    target  ///< as `all`, and other elements of the target stay as they are
};

/// @cond
namespace statements {

/// What map() needs where tensors are sparse.
struct SparseRule {
    MapOver over = MapOver::all;
    std::vector<const ElementKernels*> readers{};   ///< by operand: reads elements at places
    const ElementKernels* result_reader = nullptr;  ///< writes results over old elements
};

/// results[i] = f(inputs[0][i], inputs[1][i], ...) for `count` elements.
using BulkFunction = std::function<void(const std::vector<const void*>& inputs, void* results, std::int64_t count)>;

/// left = f(operands), or left += f(operands) by the kernels of its elements. An operand may be the tensor on the left.
void apply(const Factor& left, const std::vector<Factor>& operands, const ElementKernels& result, const BulkFunction& f, bool accumulate,
           const SparseRule& rule = {});

/// One that is known by name, as a BulkFunction: on a device it runs there.
struct NamedFunction {
    Function function{};
    std::vector<ElementValue> numbers{};  ///< by operand, of the elements' type; an empty one: the next tensor's element
    BulkFunction on_host{};
    void operator()(const std::vector<const void*>& inputs, void* results, std::int64_t count) const { on_host(inputs, results, count); }
};

/// Where such a statement would run, in words. Local. @throws InvalidArgument as apply()
std::string explain(const Factor& left, const std::vector<Factor>& operands, const ElementKernels& result, const BulkFunction& f);

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
    Mapping(std::vector<Factor> operands, statements::BulkFunction f, statements::SparseRule rule)
        : operands_(std::move(operands)), f_(std::move(f)), rule_(std::move(rule)) {}
    /// @cond
    void assign_to(const Factor& left, bool accumulate) const {
        statements::apply(left, operands_, element_kernels<R>(), f_, accumulate, rule_);
    }
    Mapping named(Function f, std::vector<ElementValue> numbers) && {
        f_ = statements::NamedFunction{f, std::move(numbers), std::move(f_)};
        return std::move(*this);
    }
    std::string explain_for(const Factor& left) const { return statements::explain(left, operands_, element_kernels<R>(), f_); }
    Mapping over(MapOver over) && {
        rule_.over = over;
        return std::move(*this);
    }
    /// @endcond

private:
    std::vector<Factor> operands_;
    statements::BulkFunction f_;
    statements::SparseRule rule_;
};

/// A function of the elements at the same indices, `E["ij"] = map([](double a, int n) { return a / n; }, A["ij"], N["j"])`: any number of
/// operands of any types, repeated along the labels that they lack; labels that the output lacks are refused, so sum them first. The
/// result's type is that of the function. With `+=` it is added. The function is called in any order, once or several times for an element,
/// by several threads or one; it must give the same on every rank.
///
/// With sparse operands, which have all labels of the output, the function is called for the elements that all of them store; map_union()
/// says otherwise. A sparse output then stores these elements; of a dense one the others become zero. With `+=` other elements stay.
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
    return Mapping<R>({operands.factor()...}, statements::bulk<R, F, Ts...>(std::move(f), std::index_sequence_for<Ts...>()),
                      {MapOver::all, {&algebra_kernels<Second<Ts>>()...}, &algebra_kernels<Second<R>>()});
}

/// Likewise where any sparse operand is stored: what the others do not store is the zero of their type, T{}.
template <class F, class... Ts>
auto map_union(F f, const IndexedTensor<Ts>&... operands) {
    return map(std::move(f), operands...).over(MapOver::any);
}

/// map() of a function that is known by name, `E["ij"] = map<Function::sqrt>(A["ij"])`: where the output and the operands lie on a device
/// it runs there, if runs_on_device(). Other functions are those of the host, and run there.
template <Function f, class T>
auto map(const IndexedTensor<T>& a) requires(operands_of(f) == 1) {
    return map([](const T& x) { return value_of<f>(x); }, a).named(f, {{}});
}

/// Likewise of two tensors, `map<Function::maximum>(A["ij"], B["ij"])`.
template <Function f, class T>
auto map(const IndexedTensor<T>& a, const IndexedTensor<T>& b) requires(operands_of(f) == 2) {
    return map([](const T& x, const T& y) { return value_of<f>(x, y); }, a, b).named(f, {{}, {}});
}

/// Likewise of a tensor and a number, `map<Function::pow>(A["ij"], 1.5)`.
template <Function f, class T>
auto map(const IndexedTensor<T>& a, std::type_identity_t<T> b) requires(operands_of(f) == 2) {
    return map([b](const T& x) { return value_of<f>(x, b); }, a).named(f, {{}, ElementValue::of(b)});
}

/// Likewise of a number and a tensor, `map<Function::divide>(1.0, A["ij"])`.
template <Function f, class T>
auto map(std::type_identity_t<T> a, const IndexedTensor<T>& b) requires(operands_of(f) == 2) {
    return map([a](const T& y) { return value_of<f>(a, y); }, b).named(f, {ElementValue::of(a), {}});
}

/// Where `target = right` would run: on the device or on the host, and why, as text. Local. @throws InvalidArgument as the statement
template <class T>
std::string explain(const IndexedTensor<T>& target, const Mapping<T>& right) {
    return right.explain_for(target.factor());
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
        .over(MapOver::target)
        .assign_to(target.factor(), false);
}

}  // namespace statements
/// @endcond

/// Changes elements in place: `update(C["abij"], D["abij"], [](double& c, double d) { c /= d; })`, with operands between the target and the
/// function, or none. Rules as for map(). Of a sparse target the stored elements are changed, those that other sparse operands store, too.
template <class T, class... Arguments>
void update(const IndexedTensor<T>& target, Arguments... operands_and_function) {
    statements::update(target, std::tuple<Arguments...>(std::move(operands_and_function)...),
                       std::make_index_sequence<sizeof...(Arguments) - 1>());
}

}  // namespace arges
