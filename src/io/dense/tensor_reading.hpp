/// What reading a dense tensor takes.
#pragma once

#include "arges/world.hpp"

#include <cstdint>
#include <string>

namespace arges::io {

/// Memory of read_tensor() on a rank beside the tensor, an upper bound, from what the file says. Collective.
/// @param path as for read_tensor() @param element_bytes of the tensor @param free bytes that the limit leaves beside the tensor
/// @throws InvalidArgument on every rank as read_tensor() does
std::int64_t tensor_reading_memory(const World& world, const std::string& path, std::int64_t element_bytes, std::int64_t free);

}  // namespace arges::io
