// Sparse text without a header: the order is that of the first entry, and lengths and the base of indices are found from all of them.
#include "io/sparse/text_reader.hpp"

#include "arges/error.hpp"

#include <algorithm>

namespace arges::io {

namespace {

/// The order, from the first line with a nonzero; the demanded one, or 0, if there is none. Collective.
int find_order(const InputFile& file, const SparseReadOptions& options, bool compressed) {
    const auto& comm = file.comm();
    std::int64_t columns = 0;
    LineError error;
    comm.agree([&] {
        if (comm.rank() != 0) return;
        std::int64_t before = 0, line = 0;
        try {
            const auto source = text_source(file, compressed);
            LineBlocks blocks(*source, std::size_t{1} << 16);
            for (auto block = blocks.next(); !block.empty() && columns == 0; block = blocks.next()) {
                columns = columns_of_first_entry(block, &line);
                line += before;
                before = blocks.lines();
            }
        } catch (const InvalidArgument& e) {
            if (columns == 0) error = {before + 1, e.what()};
        }
        const auto demanded = std::ssize(options.lengths);
        if (columns == 1)
            error = {line, "1 column; a line has the indices of a nonzero and its value, separated by blanks or tabs (replace commas: tr "
                           "',' ' '). Put a # in front of header lines, or make a tensor of the table (arges convert --columns)"};
        else if (columns > max_sparse_order + 1)
            error = {line, std::to_string(columns) + " columns; a tensor has at most " + std::to_string(max_sparse_order) + " modes"};
        else if (columns > 0 && demanded > 0 && columns != demanded + 1)
            error = {line, std::to_string(columns) + " columns, but " + std::to_string(demanded) +
                               " lengths are demanded, and a line has as many indices and one value"};
    });
    throw_first(comm, file.path(), error);
    comm.broadcast(&columns, sizeof columns, 0);
    return columns == 0 ? static_cast<int>(options.lengths.size()) : static_cast<int>(columns) - 1;
}

}  // namespace

ReadNonzeros read_tns(const InputFile& file, const ElementText& text, const SparseReadOptions& options, bool compressed,
                      std::int64_t room) {
    const auto& comm = file.comm();
    const int order = find_order(file, options, compressed);
    if (order == 0)
        throw InvalidArgument(file.path() + ": there is no nonzero in the file; give the lengths to read it as a tensor of zeros");
    const bool keeps_lines = options.duplicates == Duplicates::refuse;
    const ReadingShape shape{comm.size(), order, reading_bytes(text), file.size(), true, compressed, keeps_lines, false, options.lengths};
    auto parsed = parse_text(file, text, options, {order, options.base, options.lengths, {}}, {}, shape, 1, room);
    const int base = options.base == IndexBase::zero || (options.base == IndexBase::detect && parsed.has_zero) ? 0 : 1;
    if (base == 0) throw_first(comm, file.path(), parsed.error_if_zero_based);
    auto lengths = options.lengths;
    if (lengths.empty())
        for (auto largest : parsed.largest) lengths.push_back(largest + 1 - base);
    const auto entries = comm.sum(parsed.nonzeros.count());
    return from_zero(file, std::move(parsed), base, entries, lengths, compressed ? "gzip text" : "text");
}

}  // namespace arges::io
