// What reading a sparse tensor takes, worked out before: from the header of a binary file, or from lines sampled at places of a text.
#include "io/sparse/reading_memory.hpp"

#include "arges/error.hpp"
#include "comm/values.hpp"
#include "interface/sparse/sparse_state.hpp"
#include "interface/sparse/sparse_tensor_exchange.hpp"
#include "interface/sparse/sparse_tensor_merge.hpp"
#include "interface/sparse/sparse_tensor_slices.hpp"
#include "io/file/gz.hpp"
#include "io/file/text_lines.hpp"
#include "io/sparse/mtx_reader.hpp"
#include "io/sparse/sparse_binary.hpp"
#include "io/sparse/tns_parse.hpp"

#include <algorithm>
#include <array>

namespace arges::io {

namespace {

constexpr std::int64_t number = sizeof(std::int64_t);
constexpr std::int64_t sample_places = 64, sample_bytes = 1 << 14;

/// Memory of nonzeros that the ranks but the first have parsed in turn, put into the order of the file and in equal parts.
MemoryTally reordering_memory(const ReadingShape& shape, std::int64_t count) {
    const auto parsed = shape.parsed(count);
    MemoryTally tally;
    tally.hold(parsed * (number + std::int64_t{sizeof(std::int32_t)}));
    tally.add(routing_memory(shape.ranks, number, parsed, count));
    for (int column = 0; column < shape.order + (shape.keeps_lines ? 2 : 1); ++column) {
        tally.add(routing_memory(shape.ranks, number, parsed, count));
        tally.pass(number * count);
    }
    return tally;
}

/// What samples of a text say.
struct TextSample {
    std::int64_t bytes = 0, entries = 0;
    std::vector<std::int64_t> largest{};

    /// Counts the entries of whole lines; what cannot be read does not count.
    void add(std::string_view lines, int order) {
        TnsParser parser({order, IndexBase::detect, {}}, element_text(ElementType::float64), false);
        const auto count = std::count(lines.begin(), lines.end(), '\n');
        parser.parse(lines, count, 1);
        bytes += std::ssize(lines);
        entries += parser.error().line == LineError::none ? parser.count() : count;
        largest.resize(order, 0);
        for (std::size_t m = 0; m < largest.size(); ++m) largest[m] = std::max(largest[m], parser.largest()[m]);
    }
};

/// Samples plain text. Local.
void sample_text(const InputFile& file, SparseOutline& outline) {
    TextSample sample;
    for (std::int64_t k = 0; k < sample_places; ++k) {
        const auto begin = file.size() / sample_places * k;
        FileLines source(file, begin, std::min(begin + sample_bytes, file.size()));
        LineBlocks blocks(source, std::size_t{1} << 16);
        const auto lines = blocks.next();
        if (outline.shape.order == 0) outline.shape.order = static_cast<int>(columns_of_first_entry(lines)) - 1;
        if (outline.shape.order < 1 || outline.shape.order > static_cast<int>(max_sparse_order)) return;
        if (!lines.empty()) sample.add(lines, outline.shape.order);
    }
    const auto rate = static_cast<double>(sample.entries) / std::max<std::int64_t>(1, sample.bytes);
    outline.entries = std::min(static_cast<std::int64_t>(rate * static_cast<double>(file.size())) + 1, file.size());
    if (outline.shape.lengths.empty()) outline.shape.lengths = sample.largest;
}

/// Samples the beginning of compressed text. Local.
void sample_compressed(const InputFile& file, SparseOutline& outline) {
    GzipSource source(file);
    LineBlocks blocks(source, std::size_t{1} << 20);
    const auto lines = blocks.next();
    outline.shape.order = static_cast<int>(columns_of_first_entry(lines)) - 1;
    if (outline.shape.order < 1 || outline.shape.order > static_cast<int>(max_sparse_order)) return;
    TextSample sample;
    sample.add(lines, outline.shape.order);
    outline.entries = static_cast<std::int64_t>(static_cast<double>(sample.entries) / sample.bytes *
                                                std::max(source.expected_bytes(), static_cast<double>(sample.bytes)));
    if (outline.shape.lengths.empty()) outline.shape.lengths = sample.largest;
}

void look_into(const InputFile& file, SparseOutline& outline) {
    std::array<std::byte, 20> bytes{};
    const auto beginning = std::span<const std::byte>(bytes).first(file.read(0, bytes.data(), bytes.size()));
    const auto binary = is_own_binary(beginning)      ? own_binary_shape(file)
                        : is_splatt_binary(beginning) ? splatt_shape(file)
                                                      : BinaryShape{};
    if (!binary.lengths.empty()) {
        outline.shape.is_text = outline.shape.keeps_lines = false;
        outline.shape.is_distinct = is_own_binary(beginning);
        outline.shape.order = binary.lengths.size();
        outline.shape.lengths = binary.lengths;
        outline.entries = binary.count;
        outline.is_exact = true;
        outline.is_single = binary.value_bytes == sizeof(float);
        return;
    }
    outline.shape.is_compressed = is_gzip(beginning);
    if (is_matrix_market(file, outline.shape.is_compressed)) {
        const auto header = matrix_header(file, outline.shape.is_compressed);
        outline.shape.order = 2;
        outline.shape.lengths = {header.rows, header.columns};
        outline.entries = header.entries * header.per_line();
        outline.is_exact = true;
        return;
    }
    outline.shape.is_compressed ? sample_compressed(file, outline) : sample_text(file, outline);
}

}  // namespace

MemoryTally reading_memory(const ReadingShape& shape, std::int64_t count, std::int64_t duplicates) {
    constexpr std::int64_t text_block = 1 << 20, inflating = 3 << 17;
    const auto nonzero = shape.order * number + shape.value_bytes;
    MemoryTally tally;
    if (shape.is_text) {
        // Room is made for a few percent more than there may be, and a column may have to grow once more.
        const auto parsed = shape.parsed(count), entry = nonzero + (shape.keeps_lines ? number : 0);
        const auto messages = shape.is_compressed && shape.ranks > 1 ? 2 * shape.ranks * text_block : 0;
        tally.pass(parsed * (entry + number) + parsed * entry / 32 + text_block + inflating + messages);
        tally.hold(parsed * entry);
        if (messages > 0) tally.add(reordering_memory(shape, count));
        tally.hold(count * entry - tally.held());
    } else {
        tally.hold(count * nonzero);
        tally.pass(std::min<std::int64_t>(shape.file_bytes, std::int64_t{1 << 17} * (shape.order + 1) * number));
    }
    if (!shape.is_distinct) {
        if (!shape.keeps_lines) tally.hold(number * count);
        tally.add(merging_memory(shape.ranks, shape.order, shape.value_bytes, count, duplicates));
        tally.hold(-number * count);
    }
    for (auto length : shape.lengths) tally.pass(slice_list_memory(shape.ranks, count, length).peak());
    return tally;
}

void check_reading_room(const Communicator& comm, const std::string& path, const MemoryTally& memory, std::int64_t room) {
    if (memory.peak() > room)
        throw OutOfMemory(path + ": to read the nonzeros of rank " + std::to_string(comm.rank()) + " takes " +
                          std::to_string(memory.peak()) + " bytes, but the memory limit leaves " + std::to_string(room) +
                          "; use more ranks or raise the limit (--memory, ARGES_MEMORY_LIMIT)");
}

SparseOutline sparse_outline(const Communicator& comm, const std::string& path, const SparseReadOptions& options,
                             std::int64_t value_bytes) {
    const InputFile file(comm, path);
    SparseOutline outline;
    outline.shape.ranks = comm.size();
    outline.shape.value_bytes = value_bytes;
    outline.shape.file_bytes = file.size();
    outline.shape.keeps_lines = options.duplicates == Duplicates::refuse;
    outline.shape.lengths = options.lengths;
    return from_first_rank(comm, [&] {
        try {
            look_into(file, outline);
        } catch (const InvalidArgument&) {
            outline.entries = 0;  // read_sparse() says what is wrong
        }
        return outline;
    });
}

}  // namespace arges::io
