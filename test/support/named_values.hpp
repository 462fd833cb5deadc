/// Functions of elements by name, one element at a time, on the host.
#pragma once

#include "arges/functions.hpp"
#include "arges/scalar.hpp"

#include <complex>
#include <type_traits>
#include <utility>

namespace arges::test {

/// f(a) or f(a, b) of functions that runs_on_device() names; absolute values with a zero imaginary part.
template <class T, std::size_t... all>
T named_value(Function f, const T& a, const T& b, std::index_sequence<all...> /*functions*/) {
    T result{};
    const auto put = [&]<std::size_t k>(std::integral_constant<std::size_t, k>) {
        constexpr auto g = static_cast<Function>(k);
        if constexpr (runs_on_device(g, !std::is_same_v<T, real_of<T>>)) {
            if constexpr (operands_of(g) == 1)
                result = value_of<g>(a);
            else
                result = value_of<g>(a, b);
        }
        return true;
    };
    static_cast<void>(((f == static_cast<Function>(all) && put(std::integral_constant<std::size_t, all>())) || ...));
    return result;
}
template <class T>
T named_value(Function f, const T& a, const T& b = {}) {
    return named_value(f, a, b, std::make_index_sequence<function_names.size()>());
}

}  // namespace arges::test
