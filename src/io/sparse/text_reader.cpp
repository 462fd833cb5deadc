// Sparse text: lines of indices and values.
#include "io/sparse/text_reader.hpp"

#include "io/file/gz.hpp"
#include "io/sparse/text_blocks.hpp"

namespace arges::io {

std::unique_ptr<ByteSource> text_source(const InputFile& file, bool compressed) {
    if (compressed) return std::make_unique<GzipSource>(file);
    return std::make_unique<FileLines>(file, 0, file.size());
}

ParsedText parse_text(const InputFile& file, const ElementText& text, const SparseReadOptions& options, TnsRules rules,
                      const TextHeader& header, ReadingShape shape, std::int64_t per_line, std::int64_t room_bytes) {
    const auto& comm = file.comm();
    TextInput input{comm, file.path()};
    if (shape.is_compressed) {  // from its begin on
        if (rules.matrix) rules.matrix->header_lines = header.lines;
        input.stream = [&] { return text_source(file, true); };
    } else {
        input.file = &file;
        input.header = header;
    }
    TnsParser parser(rules, text, shape.keeps_lines);
    auto parsed = parse_blocks(input, parser, {room_bytes, shape, per_line, options.progress});
    ParsedText result{.nonzeros = std::move(parsed.nonzeros), .numbers = std::move(parsed.numbers), .lines = parsed.lines};
    for (int m = 0; m < rules.order; ++m) result.largest.push_back(comm.maximum(parser.largest()[m]));
    result.has_zero = comm.maximum(parser.has_zero() ? 1 : 0) == 1;
    result.error_if_zero_based = parser.error_if_zero_based();
    if (result.error_if_zero_based.line != LineError::none) result.error_if_zero_based.line += parsed.lines_before;
    return result;
}

ReadNonzeros from_zero(const InputFile& file, ParsedText parsed, std::int64_t base, std::int64_t entries,
                       const std::vector<std::int64_t>& lengths, const std::string& form) {
    for (auto& column : parsed.nonzeros.indices)
        for (auto& index : column) index -= base;
    parsed.nonzeros.lengths = lengths;
    const ReadReport report{form, file.size(), parsed.lines, static_cast<int>(base), entries, 0, lengths, {}};
    return {std::move(parsed.nonzeros), std::move(parsed.numbers), report};
}

}  // namespace arges::io
