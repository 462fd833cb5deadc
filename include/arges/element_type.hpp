/// @file element_type.hpp
/// Element types as values, for what learns them at run time: files, and programs in other languages.
#pragma once

#include "arges/scalar.hpp"

#include <complex>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

namespace arges {

struct ElementKernels;

/// The element types of tensors, by the names that NumPy has for them. Files hold the first four, and the others as what files.md says.
enum class ElementType : std::uint8_t {
    float32,     ///< float
    float64,     ///< double
    complex64,   ///< std::complex<float>
    complex128,  ///< std::complex<double>
    int16,       ///< std::int16_t
    int32,       ///< std::int32_t
    int64,       ///< std::int64_t
    boolean,     ///< bool
};

/// "float32", "float64", "complex64", "complex128", "int16", "int32", "int64" or "bool". Local.
std::string to_string(ElementType type);

/// The ElementType of a C++ type. Local.
template <class T>
constexpr ElementType element_type_of() {
    if (std::is_same_v<T, float>) return ElementType::float32;
    if (std::is_same_v<T, double>) return ElementType::float64;
    if (std::is_same_v<T, std::complex<float>>) return ElementType::complex64;
    if (std::is_same_v<T, std::complex<double>>) return ElementType::complex128;
    if (std::is_same_v<T, std::int16_t>) return ElementType::int16;
    if (std::is_same_v<T, std::int32_t>) return ElementType::int32;
    static_assert(std::is_arithmetic_v<real_of<T>> && !std::is_same_v<T, long double>, "no type of files and of other languages");
    return std::is_same_v<T, bool> ? ElementType::boolean : ElementType::int64;
}

/// The ElementType of what a table of kernels is for; nothing for other types. Local.
std::optional<ElementType> element_type_of(const ElementKernels& kernels);

/// The table of an element type under plus-times, for the host. Local.
const ElementKernels& element_kernels(ElementType type);

/// Calls `f.operator()<T>()` for the C++ type of an ElementType, and gives what that gives. Local.
template <class F>
decltype(auto) with_element_type(ElementType type, F&& f) {
    switch (type) {
    case ElementType::float32: return f.template operator()<float>();
    case ElementType::float64: return f.template operator()<double>();
    case ElementType::complex64: return f.template operator()<std::complex<float>>();
    case ElementType::complex128: return f.template operator()<std::complex<double>>();
    case ElementType::int16: return f.template operator()<std::int16_t>();
    case ElementType::int32: return f.template operator()<std::int32_t>();
    case ElementType::int64: return f.template operator()<std::int64_t>();
    default: return f.template operator()<bool>();
    }
}

}  // namespace arges
