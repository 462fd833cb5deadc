/// The shapes behind TAPP's descriptions of tensors, and the labels of a product, checked.
#pragma once

#include "tapp.h"

#include <array>
#include <cstdint>
#include <span>
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

/// The tensors of a product, as numbers.
enum Tensor : std::size_t { tensor_a, tensor_b, tensor_c, tensor_d };

/// A shape with the label of each mode.
struct LabelledShape {
    const Shape& shape;
    std::span<const std::int64_t> labels;
};

/// A label of a product. Modes of one tensor that share it are one diagonal mode, whose stride is the sum of theirs.
struct Label {
    std::int64_t extent = 1;
    std::array<bool, 4> in{};              ///< which tensors have it
    std::array<std::int64_t, 4> stride{};  ///< in each tensor; 0 where it is not
};

/// The labels of D and then the others, except those of extent 1. @throws Refused if they are no product
std::vector<Label> labels_of_product(const std::array<LabelledShape, 4>& tensors);

}  // namespace arges::tapp
