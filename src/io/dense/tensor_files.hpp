/// Files of dense tensors: a symmetry tree as text in them, and what reading takes.
#pragma once

#include "arges/element_kernels.hpp"
#include "arges/symmetry.hpp"
#include "arges/world.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace arges::io {

/// For example "product(antisym(0,1),sym(product(2,4),product(3,5)))"; "product()" for a scalar. The text is an expression
/// of Python, too, which docs/files.md makes use of.
std::string symmetry_text(const Symmetry& symmetry);

/// Reads such a text for a tensor of the given order. @throws InvalidArgument if it is damaged, or the tree is wrong
Symmetry symmetry_of_text(std::string_view text, int order);

/// Throws InvalidArgument unless elements are of one of the types that dense files hold. @param path  begins the message
void require_floating(const ElementKernels& kernels, const std::string& path);

/// Memory of read_tensor() on a rank beside the tensor, an upper bound, from what the file says. Collective.
/// @param path as for read_tensor() @param element_bytes of the tensor @param free bytes that the limit leaves beside the tensor
/// @throws InvalidArgument on every rank as read_tensor() does
std::int64_t tensor_reading_memory(const World& world, const std::string& path, std::int64_t element_bytes, std::int64_t free);

}  // namespace arges::io
