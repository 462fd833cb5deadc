/// The labels of a product, checked.
#pragma once

#include "c/tapp_tensor.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace arges::tapp {

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
