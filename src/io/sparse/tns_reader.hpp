/// Reading sparse tensors from text without a header, plain or compressed.
#pragma once

#include "io/sparse/text_reader.hpp"

namespace arges::io {

/// Reads text; collective. `room` is the number of bytes that nonzeros may take on a rank.
/// @throws InvalidArgument or OutOfMemory on every rank
template <class T>
ReadNonzeros<T> read_tns(const InputFile& file, const SparseReadOptions& options, bool compressed, std::int64_t room);

}  // namespace arges::io
