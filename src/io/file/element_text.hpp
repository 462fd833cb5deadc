/// Elements as text: one number, or two for complex ones.
#pragma once

#include "arges/element_type.hpp"
#include "io/file/text_number.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace arges::io {

/// How the elements of a type stand in text. An element is read number by number, into one that has a value.
struct ElementText {
    ElementType type;
    /// Reads a usual number and moves behind it; false, without moving, for what read() must look at. See fast_value().
    bool (*read_fast)(const char*& at, const char* end, std::size_t number, void* element);
    /// Reads a word, the first or second number of an element.
    ValueKind (*read)(std::string_view word, std::size_t number, void* element);
    /// Appends the shortest text that is read back to the same element.
    void (*append)(std::string& text, const void* element);
    /// Makes it that of another element of an orbit; see related_value().
    void (*relate)(std::uint8_t factor, void* element);

    const ElementKernels& kernels() const { return element_kernels(type); }
};

/// For float, double, std::complex<double>, std::int64_t and bool, which is true for any number but 0.
/// @throws InvalidArgument for other types  @param path  begins the message
const ElementText& element_text(ElementType type, const std::string& path = "");

/// Appends a number.
void append_number(std::string& text, std::int64_t value);

}  // namespace arges::io
