/// Elements of one number type as elements of another that holds their values.
#pragma once

#include "arges/element_kernels.hpp"

#include <cstdint>
#include <typeinfo>

namespace arges::local {

/// True if every value of the one type has the same value in the other (is_lossless in arges/scalar.hpp), among float, double, long double,
/// the complex types, std::int16_t, std::int32_t, std::int64_t and bool.
bool can_convert(const std::type_info& from, const std::type_info& to);

/// Converts `count` elements to those of a table. Threaded. @throws InvalidArgument unless can_convert()
void convert_elements(const std::type_info& from, const ElementKernels& to, const void* source, void* target, std::int64_t count);

}  // namespace arges::local
