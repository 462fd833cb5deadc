/// Elements whose type is known at run time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace arges {

/// The address of an element of an array.
inline const std::byte* element_at(const void* array, std::int64_t offset, std::int64_t element_bytes) {
    return static_cast<const std::byte*>(array) + offset * element_bytes;
}
inline std::byte* element_at(void* array, std::int64_t offset, std::int64_t element_bytes) {
    return static_cast<std::byte*>(array) + offset * element_bytes;
}

/// Copies one element.
inline void copy_element(void* to, const void* from, std::int64_t element_bytes) {
    switch (element_bytes) {
    case 4: std::memcpy(to, from, 4); break;
    case 8: std::memcpy(to, from, 8); break;
    case 16: std::memcpy(to, from, 16); break;
    default: std::memcpy(to, from, element_bytes);
    }
}

/// f(bytes), where a usual number of bytes is a constant: copies of elements in its loops are then single instructions.
template <class F>
decltype(auto) with_element_bytes(std::int64_t bytes, F&& f) {
    switch (bytes) {
    case 4: return f(std::integral_constant<std::int64_t, 4>());
    case 8: return f(std::integral_constant<std::int64_t, 8>());
    case 16: return f(std::integral_constant<std::int64_t, 16>());
    default: return f(bytes);
    }
}

}  // namespace arges
