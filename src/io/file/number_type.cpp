#include "io/file/number_type.hpp"

#include "base/instantiate.hpp"

#include <algorithm>
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

template <class Real, class T>
void convert_real_or_complex(bool is_complex, const std::byte* numbers, std::int64_t count, T* elements) {
    if (is_complex)
        convert<std::complex<Real>>(numbers, count, elements);
    else
        convert<Real>(numbers, count, elements);
}

template <class Int8, class Int16, class Int32, class Int64, class T>
void convert_integers(int bytes, const std::byte* numbers, std::int64_t count, T* elements) {
    switch (bytes) {
    case 1: return convert<Int8>(numbers, count, elements);
    case 2: return convert<Int16>(numbers, count, elements);
    case 4: return convert<Int32>(numbers, count, elements);
    default: return convert<Int64>(numbers, count, elements);
    }
}

}  // namespace

std::string NumberType::name() const {
    if (kind == 'b') return "bool";
    const std::string word = kind == 'f' ? "float" : kind == 'c' ? "complex" : kind == 'i' ? "int" : "uint";
    return word + std::to_string(8 * bytes);
}

NumberType number_type_of(ElementType type) {
    switch (type) {
    case ElementType::float32: return {'f', 4};
    case ElementType::float64: return {'f', 8};
    case ElementType::complex64: return {'c', 8};
    case ElementType::int16: return {'i', 2};
    case ElementType::int32: return {'i', 4};
    case ElementType::int64: return {'i', 8};
    case ElementType::boolean: return {'b', 1};
    default: return {'c', 16};
    }
}

template <class T>
void convert_numbers(const NumberType& type, std::byte* numbers, std::int64_t count, T* elements) {
    const auto part_bytes = type.is_complex() ? type.bytes / 2 : type.bytes;
    if (type.is_swapped)
        for (auto *part = numbers, *end = numbers + count * type.bytes; part < end; part += part_bytes)
            std::reverse(part, part + part_bytes);
    if (type.kind == 'i')
        convert_integers<std::int8_t, std::int16_t, std::int32_t, std::int64_t>(type.bytes, numbers, count, elements);
    else if (type.kind == 'u')
        convert_integers<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>(type.bytes, numbers, count, elements);
    else if (part_bytes == 4)
        convert_real_or_complex<float>(type.is_complex(), numbers, count, elements);
    else
        convert_real_or_complex<double>(type.is_complex(), numbers, count, elements);
}

std::string extents_text(const std::vector<std::int64_t>& extents) {
    std::string text;
    for (auto n : extents) text += (text.empty() ? "" : " x ") + std::to_string(n);
    return text.empty() ? "a single number" : text;
}

#define ARGES_INSTANTIATE(T) template void convert_numbers(const NumberType&, std::byte*, std::int64_t, T*);
ARGES_FOR_EACH_ELEMENT_TYPE(ARGES_INSTANTIATE)
ARGES_INSTANTIATE(std::int64_t)
#undef ARGES_INSTANTIATE

}  // namespace arges::io
