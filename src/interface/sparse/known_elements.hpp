/// What is said of elements of a dense tensor that are no finite numbers.
#pragma once

#include "arges/known_elements.hpp"

#include <cstdint>
#include <string>

namespace arges {

/// "shop: 3 of 24 elements are not finite (2 NaN, 1 infinite), the first is (0, 1), counted from 0". @param size  of the tensor. Pure.
std::string not_finite_text(const std::string& title, std::int64_t size, const NotFinite& found);

}  // namespace arges
