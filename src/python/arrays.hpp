/// Arrays of NumPy and of others that speak its buffer protocol or DLPack.
#pragma once

#include "python/bindings.hpp"

#include <nanobind/ndarray.h>

#include <span>

namespace arges::python {

/// Any array in the host's memory; it may not be written to.
using ConstArray = nb::ndarray<nb::ro, nb::device::cpu>;

/// Type of the elements of an array; none: tensors have no such elements.
std::optional<ElementType> element_of_array(const nb::dlpack::dtype& type);

/// A flat array without gaps as a span. @throws InvalidArgument for elements of another type, or another form
template <class T>
std::span<const T> span_of(const ConstArray& array) {
    if (element_of_array(array.dtype()) != element_type_of<T>() || array.ndim() != 1 || (array.shape(0) > 1 && array.stride(0) != 1))
        throw InvalidArgument("an array that is not flat, has gaps, or has elements other than " + to_string(element_type_of<T>()) +
                              "; the package arges converts arrays before");
    return {static_cast<const T*>(array.data()), array.shape(0)};
}

/// Such an array of a tensor's type. @throws InvalidArgument likewise
const void* values_of(const AnyTensor& tensor, const ConstArray& values);

/// Room for elements, and the array that keeps it. @param extents  none: a flat array
std::pair<std::byte*, nb::object> new_array(std::int64_t count, ElementType type, const std::optional<Extents>& extents = {});

}  // namespace arges::python
