#include "io/file/number_type.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace arges::io {

namespace {

template <class From, class T>
void convert(const std::byte* numbers, std::int64_t count, T* elements) {
    for (std::int64_t i = 0; i < count; ++i) {
        From number;
        std::memcpy(&number, numbers + static_cast<std::size_t>(i) * sizeof(From), sizeof(From));
        if constexpr (std::is_same_v<From, real_of<From>>)
            elements[i] = T(static_cast<real_of<T>>(number));
        else if constexpr (!std::is_same_v<T, real_of<T>>)
            elements[i] = T(static_cast<real_of<T>>(number.real()), static_cast<real_of<T>>(number.imag()));
    }
}

/// Calls `f.operator()<From>()` for the C++ type of numbers in a file.
template <class F>
void with_number_type(const NumberType& type, F&& f) {
    const bool is_signed = type.kind == 'i';
    if (type.kind == 'f') return type.bytes == 4 ? f.template operator()<float>() : f.template operator()<double>();
    if (type.is_complex())
        return type.bytes == 8 ? f.template operator()<std::complex<float>>() : f.template operator()<std::complex<double>>();
    switch (type.bytes) {
    case 1: return is_signed ? f.template operator()<std::int8_t>() : f.template operator()<std::uint8_t>();
    case 2: return is_signed ? f.template operator()<std::int16_t>() : f.template operator()<std::uint16_t>();
    case 4: return is_signed ? f.template operator()<std::int32_t>() : f.template operator()<std::uint32_t>();
    default: return is_signed ? f.template operator()<std::int64_t>() : f.template operator()<std::uint64_t>();
    }
}

}  // namespace

std::string NumberType::name() const {
    if (kind == 'b') return "bool";
    const std::string word = kind == 'f' ? "float" : kind == 'c' ? "complex" : kind == 'i' ? "int" : "uint";
    return word + std::to_string(8 * bytes);
}

NumberType number_type_of(ElementType type) {
    constexpr NumberType types[] = {{'f', 4}, {'f', 8}, {'c', 8}, {'c', 16}, {'i', 2}, {'i', 4}, {'i', 8}, {'b', 1}};
    return types[static_cast<int>(type)];
}

void convert_numbers(const NumberType& type, std::byte* numbers, std::int64_t count, ElementType element, void* elements) {
    const auto part_bytes = type.is_complex() ? type.bytes / 2 : type.bytes;
    if (type.is_swapped)
        for (auto *part = numbers, *end = numbers + count * type.bytes; part < end; part += part_bytes)
            std::reverse(part, part + part_bytes);
    with_element_type(element, [&]<class T>() {
        if constexpr (std::is_floating_point_v<real_of<T>> || std::is_same_v<T, std::int64_t>)
            with_number_type(type, [&]<class From>() { convert<From>(numbers, count, static_cast<T*>(elements)); });
    });
}

bool are_finite(ElementType type, const void* elements, std::int64_t count) {
    if (type > ElementType::complex128) return true;
    const auto in = [&]<class Real>(const Real* parts, std::int64_t number) {
        return std::all_of(parts, parts + number, [](Real part) { return std::isfinite(part); });
    };
    const auto parts = number_type_of(type).is_complex() ? 2 * count : count;
    if (type == ElementType::float32 || type == ElementType::complex64) return in(static_cast<const float*>(elements), parts);
    return in(static_cast<const double*>(elements), parts);
}

std::string extents_text(const std::vector<std::int64_t>& extents) { return extents.empty() ? "a single number" : joined(extents, " x "); }

}  // namespace arges::io
