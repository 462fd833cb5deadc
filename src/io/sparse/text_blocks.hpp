/// Text that all ranks parse: plain text in parts of the file; of a stream rank 0 cuts blocks, which the others parse in turn.
#pragma once

#include "io/file/text_lines.hpp"
#include "io/sparse/line_parser.hpp"
#include "io/sparse/reading_memory.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace arges::io {

/// What stands before the entries.
struct TextHeader {
    std::int64_t lines = 0, bytes = 0;
};

/// Where a text comes from.
struct TextInput {
    const Communicator& comm;
    std::string path;
    const InputFile* file = nullptr;                           ///< of plain text; null: a stream
    std::function<std::unique_ptr<ByteSource>()> stream = {};  ///< opens it, on rank 0; it begins behind the header
    TextHeader header{};                                       ///< what comes before
    char quote = 0;                                            ///< the end of a line between two of these is none; 0: there are no quotes
};

/// What reading may take.
struct TextRoom {
    std::int64_t bytes = 0;  ///< on a rank
    ReadingShape shape{};
    std::int64_t per_line = 1;  ///< nonzeros that the caller will make of one line, at most
    std::function<void(double done)> progress{};
};

/// What was parsed.
struct ParsedBlocks {
    AnyNonzeros nonzeros;                 ///< of this rank, in the order of the text and equal parts
    std::vector<std::int64_t> numbers{};  ///< of their lines, if wanted
    std::int64_t lines = 0;               ///< of the text and its header
    std::int64_t lines_before = 0;        ///< the part of this rank
};

/// Hands all lines to the parsers. Collective. @throws InvalidArgument or OutOfMemory on every rank
ParsedBlocks parse_blocks(const TextInput& input, LineParser& parser, const TextRoom& room);

}  // namespace arges::io
