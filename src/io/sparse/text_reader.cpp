// Sparse text by all ranks: plain text in parts of the file; of compressed text rank 0 inflates blocks, which the others parse in turn.
// Then nonzeros are put into the order of the file, in equal parts.
#include "io/sparse/text_reader.hpp"

#include "arges/error.hpp"
#include "base/math.hpp"
#include "comm/values.hpp"
#include "interface/sparse/sparse_pattern.hpp"
#include "interface/sparse/sparse_tensor_exchange.hpp"
#include "io/file/gz.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <optional>

namespace arges::io {

namespace {

constexpr std::size_t block_bytes = std::size_t{1} << 20;

/// This rank's part of the text as it was parsed.
struct Part {
    explicit Part(TnsParser empty) : parser(std::move(empty)) {}
    TnsParser parser;
    AnyNonzeros nonzeros{};               ///< when all is read
    std::vector<std::int64_t> numbers{};  ///< of their lines, if wanted
    LineError error{};                    ///< with the number of the line in the file
    std::int64_t lines = 0;               ///< of the part
    std::int64_t first_line = 0;          ///< before it in plain text
    double bytes = 0;                     ///< of text that was parsed
    bool over_memory = false;
};

/// Ends parsing.
void finish(Part& part) {
    part.nonzeros = part.parser.take();
    part.numbers = part.parser.take_lines();
}

/// What is known of a block of text; rank 0 sends it with the block.
struct BlockHead {
    std::int64_t first_line = 1, lines = 0;
    double expected_bytes = 0;  ///< of text for this rank
    std::int64_t last = 0;      ///< 1 in the last round
};

/// What memory is left for reading, and what reading takes it for.
struct Room {
    std::int64_t bytes = 0;
    ReadingShape shape{};
    std::int64_t per_line = 1, nonzero_bytes = 1;
    std::function<void(double done)> progress;

    /// Nonzeros that a rank will have where it parses so many lines.
    std::int64_t count_at_end(std::int64_t parsed) const {
        return per_line * (shape.is_compressed && shape.ranks > 1 ? parsed / shape.ranks * (shape.ranks - 1) : parsed);
    }
};

/// How many nonzeros to make room for, from the rate of the text so far; not more than fit into memory.
std::int64_t expected_count(const Part& part, const BlockHead& block, const Room& room) {
    const auto known = part.parser.count() + block.lines;
    const double rate = static_cast<double>(known) / part.bytes, left = std::max(0.0, block.expected_bytes - part.bytes);
    const auto most = room.bytes / room.nonzero_bytes;
    return std::max(known, std::min(known + static_cast<std::int64_t>(1.02 * rate * left), most));
}

/// Parses a block behind those that the part has.
void parse_block(Part& part, std::string_view text, const BlockHead& block, const Room& room) {
    if (part.over_memory) return;
    try {
        part.bytes += text.size();
        if (part.parser.count() + block.lines > part.parser.room()) part.parser.reserve(expected_count(part, block, room));
        part.parser.parse(text, block.lines, block.first_line);
        if (room.progress && block.expected_bytes > 0) room.progress(std::min(1.0, part.bytes / block.expected_bytes));
        part.over_memory = reading_memory(room.shape, room.count_at_end(part.parser.count())).peak() > room.bytes;
    } catch (const std::bad_alloc&) {  // on this rank; all of them hear of it when they agree
        part.over_memory = true;
    }
}

/// Parses all of a text. Local.
void parse_all(ByteSource& source, Part& part, const Room& room) {
    LineBlocks blocks(source, block_bytes);
    try {
        for (auto text = blocks.next(); !text.empty(); text = blocks.next()) {
            const auto lines = blocks.lines_of_block();
            parse_block(part, text, {blocks.lines() - lines + 1, lines, source.expected_bytes()}, room);
        }
        part.error = part.parser.error();
    } catch (const InvalidArgument& e) {
        part.error = part.parser.error().line != LineError::none ? part.parser.error() : LineError{blocks.lines() + 1, e.what()};
    }
    part.lines = blocks.lines();
    finish(part);
}

void parse_plain(const InputFile& file, const TextHeader& header, Part& part, const Room& room) {
    const auto& comm = file.comm();
    comm.agree([&] {
        auto source = FileLines::part_of(file, header.bytes);
        parse_all(source, part, room);
    });
    // Lower ranks have counted all of their lines, unless they have an error themselves, which then comes first.
    const auto first_line = header.lines + sum_before(comm, part.lines);
    if (part.error.line != LineError::none) part.error.line += first_line;
    for (auto& line : part.numbers) line += first_line;
    part.first_line = first_line;
}

/// The next blocks of inflated text, one for each rank from 1 on, as messages.
std::vector<std::vector<std::byte>> next_round(const Communicator& comm, const GzipSource& source, LineBlocks& blocks, LineError& error) {
    std::vector<std::vector<std::byte>> out(comm.size());
    std::vector<BlockHead> heads(out.size());
    for (std::size_t r = 1; r < out.size(); ++r) {
        const auto before = blocks.lines();
        std::string_view text;
        try {
            if (error.line == LineError::none) text = blocks.next();
        } catch (const InvalidArgument& e) {
            error = {blocks.lines() + 1, e.what()};
        }
        heads[r] = {before + 1, text.empty() ? 0 : blocks.lines_of_block(), source.expected_bytes() / static_cast<double>(out.size() - 1)};
        out[r].resize(sizeof(BlockHead) + text.size());
        if (!text.empty()) std::memcpy(out[r].data() + sizeof(BlockHead), text.data(), text.size());
        if (text.empty()) heads[1].last = 1;
    }
    for (std::size_t r = 1; r < out.size(); ++r) {
        heads[r].last = heads[1].last;
        std::memcpy(out[r].data(), &heads[r], sizeof(BlockHead));
    }
    return out;
}

/// Puts the nonzeros in file order and in equal parts. Block b of rank r is number b (ranks - 1) + r - 1 of the file.
void restore_order(const Communicator& comm, AnyNonzeros& nonzeros, std::vector<std::int64_t>& lines,
                   const std::vector<std::int64_t>& counts) {
    const auto all = gathered(comm, counts);
    const auto rounds = counts.size(), ranks = static_cast<std::size_t>(comm.size());
    std::vector<std::int64_t> numbers;
    std::vector<std::int32_t> to;
    std::int64_t total = 0;
    comm.agree([&] {
        numbers.reserve(nonzeros.count());
        for (std::size_t b = 0; b < rounds; ++b)
            for (std::size_t r = 0; r < ranks; ++r) {
                const auto count = all[r * rounds + b];
                if (static_cast<std::int64_t>(r) == comm.rank())
                    for (std::int64_t k = 0; k < count; ++k) numbers.push_back(total + k);
                total += count;
            }
        to.resize(numbers.size());
        for (std::size_t i = 0, r = 0; i < to.size(); ++i) {  // ascending numbers
            while (numbers[i] >= part_begin(total, static_cast<std::int64_t>(r) + 1, comm.size())) ++r;
            to[i] = r;
        }
    });
    numbers = route_column(comm, to, std::move(numbers));
    const auto begin = part_begin(total, comm.rank(), comm.size());
    const auto deliver = [&](auto& column) {
        const auto arrived = route_column(comm, to, std::move(column));
        comm.agree([&] {
            column.resize(arrived.size());
            for (std::size_t i = 0; i < arrived.size(); ++i) column[numbers[i] - begin] = arrived[i];
        });
    };
    for (auto& column : nonzeros.indices) deliver(column);
    const auto values = route_column(comm, to, std::move(nonzeros.values));
    comm.agree([&] {
        nonzeros.values = values.room_for(values.count());
        const auto bytes = values.element_bytes();
        for (std::size_t i = 0; i < numbers.size(); ++i)
            copy_element(element_at(nonzeros.values.data(), numbers[i] - begin, bytes), element_at(values.data(), i, bytes), bytes);
    });
    const bool has_lines = comm.maximum(std::ssize(lines)) > 0;
    if (has_lines) deliver(lines);
}

/// Inflates on rank 0 of several, in blocks of text that the other ranks parse in turn while it goes on.
void parse_compressed(const InputFile& file, Part& part, const Room& room) {
    const auto& comm = file.comm();
    std::optional<GzipSource> source;
    std::optional<LineBlocks> blocks;
    comm.agree([&] {
        if (comm.rank() == 0) blocks.emplace(source.emplace(file), block_bytes);
    });
    std::vector<std::int64_t> counts;
    for (bool last = false; !last;) {
        std::vector<std::vector<std::byte>> out(comm.size());
        comm.agree([&] {
            if (comm.rank() == 0) out = next_round(comm, *source, *blocks, part.error);
        });
        const auto in = comm.all_to_all(out);
        const auto& message = comm.rank() == 0 ? out[1] : in[0];
        BlockHead head;
        std::memcpy(&head, message.data(), sizeof head);
        const auto before = part.parser.count();
        if (comm.rank() > 0)
            parse_block(part, {reinterpret_cast<const char*>(message.data()) + sizeof head, message.size() - sizeof head}, head, room);
        counts.push_back(part.parser.count() - before);
        last = head.last != 0;
    }
    if (comm.rank() > 0) part.error = part.parser.error();
    part.lines = comm.rank() == 0 ? blocks->lines() : 0;
    comm.agree([&] { finish(part); });
    if (comm.minimum(part.error.line) == LineError::none) restore_order(comm, part.nonzeros, part.numbers, counts);
}

}  // namespace

std::unique_ptr<ByteSource> text_source(const InputFile& file, bool compressed) {
    if (compressed) return std::make_unique<GzipSource>(file);
    return std::make_unique<FileLines>(file, 0, file.size());
}

ParsedText parse_text(const InputFile& file, const ElementText& text, const SparseReadOptions& options, TnsRules rules,
                      const TextHeader& header, ReadingShape shape, std::int64_t per_line, std::int64_t room_bytes) {
    const auto& comm = file.comm();
    if (rules.matrix && shape.is_compressed) rules.matrix->header_lines = header.lines;
    const Room room{room_bytes, shape, per_line, SparsePattern::bytes(rules.order, 1) + text.kernels().size, options.progress};
    Part part(TnsParser(rules, text, shape.keeps_lines));
    if (!shape.is_compressed)
        parse_plain(file, header, part, room);
    else if (comm.size() == 1)
        parse_all(*text_source(file, true), part, room);
    else
        parse_compressed(file, part, room);
    throw_first(comm, file.path(), part.error);
    comm.agree([&] {
        check_reading_room(file, reading_memory(shape, per_line * part.nonzeros.count()), room.bytes);
        if (part.over_memory)
            throw OutOfMemory(file.path() + ": rank " + std::to_string(comm.rank()) +
                              " could not allocate memory for its nonzeros; use more ranks or free memory");
    });
    ParsedText result{.nonzeros = std::move(part.nonzeros), .numbers = std::move(part.numbers)};
    result.lines = comm.sum(part.lines) + (shape.is_compressed ? 0 : header.lines);
    for (int m = 0; m < rules.order; ++m) result.largest.push_back(comm.maximum(part.parser.largest()[m]));
    result.has_zero = comm.maximum(part.parser.has_zero() ? 1 : 0) == 1;
    result.error_if_zero_based = part.parser.error_if_zero_based();
    if (result.error_if_zero_based.line != LineError::none) result.error_if_zero_based.line += part.first_line;
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
