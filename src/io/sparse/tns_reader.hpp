/// Reading sparse tensors from text, plain or compressed.
#pragma once

#include "arges/sparse_io.hpp"
#include "io/file/parallel_file.hpp"
#include "sparse/nonzeros.hpp"

namespace arges::io {

/// The nonzeros of this rank, and what is known about all.
template <class T>
struct ReadNonzeros {
    sparse::Nonzeros<T> nonzeros;     ///< in file order, counted from 0
    std::vector<std::int64_t> lines;  ///< of the nonzeros, for text when duplicates are refused
    ReadReport report;                ///< form, bytes, lines, index_base, entries, lengths
    bool distinct = false;            ///< known to have no duplicates
};

/// Reads text; collective. `room` is the number of bytes that nonzeros may take on a rank.
/// @throws InvalidArgument or OutOfMemory on every rank
template <class T>
ReadNonzeros<T> read_tns(const InputFile& file, const SparseReadOptions& options, bool compressed, std::int64_t room);

}  // namespace arges::io
