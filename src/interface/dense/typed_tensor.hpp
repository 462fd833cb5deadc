/// Tensors with the type that is found at run time, for calls that have one.
#pragma once

#include "arges/error.hpp"
#include "arges/sparse_tensor.hpp"
#include "interface/sparse/sparse_state.hpp"

#include <type_traits>

namespace arges {

/// @cond
template <class Tensor>
struct ElementOf;
template <class T>
struct ElementOf<Tensor<T>> {
    using type = T;
};
template <class T>
struct ElementOf<SparseTensor<T>> {
    using type = T;
};
/// @endcond
/// The elements' type of Tensor<T> and SparseTensor<T>.
template <class Tensor>
using element_of = typename ElementOf<std::remove_cvref_t<Tensor>>::type;

/// Refuses a tensor that is not dense, or has no floating-point elements. Local.
inline void require_floating(const AnyTensor& tensor, const char* what) {
    state_of(tensor, what);
    if (tensor.element() >= ElementType::int16)
        throw InvalidArgument(tensor.title() + ": " + what + " needs floating-point elements, not " + to_string(tensor.element()) +
                              "; convert the tensor");
}

/// f(tensor) with a dense tensor of floating-point elements, which shares them. @throws InvalidArgument as require_floating()
template <class F>
decltype(auto) with_floating(const AnyTensor& tensor, const char* what, F&& f) {
    require_floating(tensor, what);
    switch (tensor.element()) {
    case ElementType::float32: return f(Tensor<float>(tensor.dense_state()));
    case ElementType::complex64: return f(Tensor<std::complex<float>>(tensor.dense_state()));
    case ElementType::complex128: return f(Tensor<std::complex<double>>(tensor.dense_state()));
    default: return f(Tensor<double>(tensor.dense_state()));
    }
}

/// f(tensor) with a sparse tensor, which shares its elements. @throws InvalidArgument for a dense one: `what` needs a sparse one
template <class F>
decltype(auto) with_sparse(const AnyTensor& tensor, const char* what, F&& f) {
    sparse_state_of(tensor, what);
    return with_element_type(tensor.element(), [&]<class T>() -> decltype(auto) { return f(SparseTensor<T>(tensor.sparse_state())); });
}

}  // namespace arges
