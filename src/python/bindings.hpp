/// Parts of the module arges._core, on which the Python package stands, what Python objects hold, as a number, and messages in its words.
#pragma once

#include "arges/arges.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/complex.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <initializer_list>
#include <mutex>
#include <string>
#include <vector>

namespace arges::python {

namespace nb = nanobind;

/// Shape of an array.
using Extents = std::vector<std::int64_t>;

/// Each adds its part to the module.
void bind_errors(nb::module_& module);
void bind_world(nb::module_& module);
void bind_tensor(nb::module_& module);
void bind_arrays(nb::module_& module);
void bind_statements(nb::module_& module);
void bind_linalg(nb::module_& module);
void bind_decompositions(nb::module_& module);
void bind_files(nb::module_& module);
void bind_tables(nb::module_& module);
void bind_chemistry(nb::module_& module);

/// Labels of a str, a letter each, or of a sequence of names.
Labels labels_of(nb::handle labels);

/// Work of the library with the interpreter's lock free, so that other threads of Python go on: as a local variable, or as a call guard.
/// One thread at a time is in the library, which its callbacks may enter again.
class OutsideInterpreter {
public:
    OutsideInterpreter();

private:
    static std::recursive_mutex& of_library();

    nb::gil_scoped_release free_;
    std::unique_lock<std::recursive_mutex> work_;
};
/// f() of the library, likewise.
template <class F>
auto outside_interpreter(F&& f) {
    const OutsideInterpreter outside;
    return f();
}

/// A function of C++ for agree().
template <class F>
nb::callable function_of(F&& f) {
    return nb::borrow<nb::callable>(nb::cpp_function(std::forward<F>(f)));
}
/// Calls a Python function on every rank; if one raises, all raise the exception of the lowest such rank. Collective.
/// @param same  what it returns and holds must be the same on every rank, see digest_of(); else every rank raises InvalidArgument
nb::object agree(const World& world, const nb::callable& work, bool same = false);
/// Raises KeyboardInterrupt on every rank if a rank was interrupted. Collective.
void raise_interruption(const World& world);

/// Refuses what needs elements where the world has none. Local. @throws Unsupported for a tensor of a dry run
void require_elements(const AnyTensor& tensor, const char* what);

/// f(tensor) of a dense or sparse tensor of float or double, which shares its elements. @throws InvalidArgument for others
template <class F>
auto with_real(const AnyTensor& tensor, const char* what, F&& f) {
    const auto typed = [&]<class T>() {
        if (tensor.is_sparse()) return f(SparseTensor<T>(tensor.sparse_state()));
        return f(Tensor<T>(tensor.dense_state()));
    };
    if (tensor.element() == ElementType::float32) return typed.template operator()<float>();
    if (tensor.element() == ElementType::float64) return typed.template operator()<double>();
    throw InvalidArgument(tensor.title() + ": " + what + " of elements of type " + to_string(tensor.element()) +
                          "; convert the tensor to float32 or float64");
}
/// Dense amplitudes, which share their elements. @throws InvalidArgument for another type or storage
inline Tensor<double> amplitudes_of(const AnyTensor& tensor) {
    if (tensor.is_sparse() || tensor.element() != ElementType::float64)
        throw InvalidArgument(tensor.title() + ": amplitudes are of type float64, dense; convert the tensor");
    return Tensor<double>(tensor.dense_state());
}

/// A dict of names and values in turn.
template <class... Parts>
nb::dict named(Parts&&... parts) {
    nb::dict result;
    const auto put = [&](const auto& self, const char* name, auto&& value, auto&&... rest) -> void {
        result[name] = std::forward<decltype(value)>(value);
        if constexpr (sizeof...(rest) > 0) self(self, std::forward<decltype(rest)>(rest)...);
    };
    put(put, std::forward<Parts>(parts)...);
    return result;
}
/// The values that a dict has by these names, for names and variables in turn; the others stay. The package has checked the names.
template <class V, class... Rest>
void take(const nb::dict& given, const char* name, V& value, Rest&&... rest) {
    if (given.contains(name)) value = nb::cast<V>(given[name]);
    if constexpr (sizeof...(rest) > 0) take(given, std::forward<Rest>(rest)...);
}

/// A NumPy array, first index fastest, over memory that `owner` keeps.
nb::object array_over(void* data, ElementType element, const Extents& extents, nb::object owner);
/// A vector as a NumPy array that owns it.
template <class T>
nb::object array_of(std::vector<T> values, Extents extents) {
    auto* const held = new std::vector<T>(std::move(values));
    nb::capsule owner(held, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return array_over(held->data(), element_type_of<T>(), extents, std::move(owner));
}
inline nb::object vector_of(const std::vector<double>& values) { return array_of(values, {std::ssize(values)}); }

/// Of numbers, texts, arrays, tensors, and tuples, lists and dicts of such: their values; arrays are equal wherever their elements lie. Of
/// functions the name, and of those that the package defines in its calls what they hold: the arguments of the call. Of other objects the
/// class. Local.
std::uint64_t digest_of(std::initializer_list<nb::handle> values);

/// A message of the library with names of Python in the place of those of C++ and of options of the command line.
std::string in_words_of_python(std::string text);

}  // namespace arges::python
