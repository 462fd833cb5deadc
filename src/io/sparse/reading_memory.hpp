/// What reading a sparse tensor takes, and what is known of one before it is read.
#pragma once

#include "arges/sparse_io.hpp"
#include "base/memory_tally.hpp"
#include "base/packed.hpp"
#include "io/file/parallel_file.hpp"

#include <cstdint>
#include <vector>

namespace arges::io {

/// What memory for reading depends on, beside the number of nonzeros.
struct ReadingShape {
    std::int64_t ranks = 1;
    int order = 0;
    std::int64_t value_bytes = 8;
    std::int64_t file_bytes = 0;
    bool is_text = true;
    bool is_compressed = false;
    bool keeps_lines = false;             ///< numbers of lines are kept while duplicates are looked for
    bool is_distinct = false;             ///< duplicates need not be looked for
    std::vector<std::int64_t> lengths{};  ///< empty: not known yet

    /// Nonzeros that a rank parses to have so many at the end: the first one of several inflates while the others parse.
    std::int64_t parsed(std::int64_t count) const { return is_compressed && ranks > 1 ? (count * ranks + ranks - 2) / (ranks - 1) : count; }
};

/// Memory of read_sparse() on a rank with so many nonzeros, an upper bound; what it holds at the end is the nonzeros. Pure.
/// @param duplicates over all ranks, if they are known
MemoryTally reading_memory(const ReadingShape& shape, std::int64_t count, std::int64_t duplicates = 0);

/// @throws OutOfMemory if reading takes more than the `room` that the memory limit leaves on this rank; for work under agree(). Local.
void check_reading_room(const Communicator& comm, const std::string& path, const MemoryTally& memory, std::int64_t room);

/// What a file says before it is read.
struct SparseOutline {
    ReadingShape shape;        ///< lengths of text are the largest indices of the sample, unless they are demanded
    std::int64_t entries = 0;  ///< values in the file; of text, as many as samples of it let expect
    bool is_exact = false;     ///< entries and lengths are those of a header, which says how indices count, too; of a symmetric matrix the
                               ///< most that it can have
    bool is_single = false;    ///< the values in the file are float32
    /// Nonzeros that a rank reads.
    std::int64_t entries_of_rank() const { return (entries + shape.ranks - 1) / shape.ranks; }

    void parts(Packed& packed) {
        packed(shape.ranks, shape.order, shape.value_bytes, shape.file_bytes, shape.is_text, shape.is_compressed, shape.keeps_lines,
               shape.is_distinct, shape.lengths, entries, is_exact, is_single);
    }
};

/// Looks at the header of a binary or MatrixMarket file, or at 64 places of a text (of compressed text, at its first MiB). What is wrong
/// with the file is left for read_sparse() to say. Collective; the same on every rank. @throws InvalidArgument on every rank if the file
/// cannot be opened
SparseOutline sparse_outline(const Communicator& comm, const std::string& path, const SparseReadOptions& options, std::int64_t value_bytes);

}  // namespace arges::io
