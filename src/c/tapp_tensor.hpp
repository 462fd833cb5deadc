/// The shapes behind TAPP's descriptions of tensors.
#pragma once

#include "tapp.h"

#include <cstdint>
#include <vector>

namespace arges::tapp {

/// Type, extents and strides of a tensor.
struct Shape {
    TAPP_datatype type = TAPP_F32;
    std::vector<std::int64_t> extents{};
    std::vector<std::int64_t> strides{};  ///< in elements
};

/// The shape of a description. @throws Refused for 0
const Shape& shape_of(TAPP_tensor_info info);

}  // namespace arges::tapp
