/// Types of numbers in files of other programs, and their conversion to elements.
#pragma once

#include "arges/element_type.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace arges::io {

/// A type of number as NumPy describes it.
struct NumberType {
    char kind = 'f';          ///< 'f': real, 'c': complex, 'i': integer, 'u': integer without sign
    int bytes = 8;            ///< of a number, both parts of a complex one
    bool is_swapped = false;  ///< bytes are in the other order than in memory

    bool is_complex() const { return kind == 'c'; }
    /// "float64", "complex64", "int32", "uint8".
    std::string name() const;
    bool operator==(const NumberType&) const = default;
};

/// The type of an element in memory.
NumberType number_type_of(ElementType type);

/// Numbers of a file as elements of a floating-point type, or as std::int64_t; complex ones need a complex type. `numbers` is changed where
/// its bytes must be swapped.
void convert_numbers(const NumberType& type, std::byte* numbers, std::int64_t count, ElementType element, void* elements);

/// False if one of these elements is infinite or not a number.
bool are_finite(ElementType type, const void* elements, std::int64_t count);

/// "3 x 4", or "a single number", for messages.
std::string extents_text(const std::vector<std::int64_t>& extents);

}  // namespace arges::io
