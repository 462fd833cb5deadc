/// Reading sparse tensors from text, plain or compressed: all ranks parse lines.
#pragma once

#include "arges/sparse_io.hpp"
#include "io/file/parallel_file.hpp"
#include "io/file/text_lines.hpp"
#include "io/sparse/reading_memory.hpp"
#include "io/sparse/text_blocks.hpp"
#include "io/sparse/tns_parse.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace arges::io {

/// What a MatrixMarket file leaves out.
enum class MatrixSymmetry { general, symmetric, skew, hermitian };

/// The nonzeros of this rank, and what is known about all.
struct ReadNonzeros {
    AnyNonzeros nonzeros;                               ///< in file order, counted from 0
    std::vector<std::int64_t> lines;                    ///< of the nonzeros, for text when duplicates are refused
    ReadReport report;                                  ///< form, bytes, lines, index_base, entries, lengths
    bool distinct = false;                              ///< known to have no duplicates
    MatrixSymmetry symmetry = MatrixSymmetry::general;  ///< implies elements that are not among the nonzeros yet
};

/// Memory of a value while it is read: those of other types than float and double are copied in the end.
inline std::int64_t reading_bytes(const ElementText& text) {
    return (text.type == ElementType::float32 || text.type == ElementType::float64 ? 1 : 2) * text.kernels().size;
}

/// What was parsed.
struct ParsedText {
    AnyNonzeros nonzeros;                 ///< of this rank, in file order and equal parts, with indices as they stand in the file
    std::vector<std::int64_t> numbers{};  ///< of their lines, if wanted
    std::int64_t lines = 0;               ///< of the file
    std::vector<std::int64_t> largest{};  ///< index of each mode, over all ranks
    bool has_zero = false;                ///< an index 0 occurs, on any rank
    LineError error_if_zero_based{};      ///< of this rank, see TnsParser
};

/// All bytes of a text, inflated. Local.
std::unique_ptr<ByteSource> text_source(const InputFile& file, bool compressed);

/// Parses all lines behind the header. Collective.
/// @param per_line  nonzeros that the caller will make of one line, at most
/// @param room      bytes that nonzeros may take on a rank
/// @throws InvalidArgument or OutOfMemory on every rank
ParsedText parse_text(const InputFile& file, const ElementText& text, const SparseReadOptions& options, TnsRules rules,
                      const TextHeader& header, ReadingShape shape, std::int64_t per_line, std::int64_t room);

/// What was read, with indices that count from 0. Local. @param base  that they count from in the file
ReadNonzeros from_zero(const InputFile& file, ParsedText parsed, std::int64_t base, std::int64_t entries,
                       const std::vector<std::int64_t>& lengths, const std::string& form);

/// Reads text; collective. `room` is the number of bytes that nonzeros may take on a rank.
/// @throws InvalidArgument or OutOfMemory on every rank
ReadNonzeros read_tns(const InputFile& file, const ElementText& text, const SparseReadOptions& options, bool compressed, std::int64_t room);

}  // namespace arges::io
