// Plain text is read in parts of the file. Blocks of a stream go from rank 0 to the others; then nonzeros are put into the order of the
// text, in equal parts.
#include "io/sparse/text_blocks.hpp"

#include "arges/error.hpp"
#include "base/math.hpp"
#include "comm/values.hpp"
#include "interface/sparse/sparse_pattern.hpp"
#include "interface/sparse/sparse_tensor_exchange.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <optional>

namespace arges::io {

namespace {

constexpr std::size_t block_bytes = std::size_t{1} << 20;

/// This rank's part of the text as it is parsed; lines count from the begin of the part, in a stream from its begin.
struct Part {
    LineParser& parser;
    LineError error{};
    std::int64_t lines = 0;  ///< of the part
    double bytes = 0;        ///< of text that was parsed; on rank 0 of several that read a stream, that was sent
    bool over_memory = false;
};

/// What is known of a block of text; rank 0 sends it with the block.
struct BlockHead {
    std::int64_t first_line = 1, lines = 0;
    double expected_bytes = 0;  ///< of text for this rank
    std::int64_t last = 0;      ///< 1 in the last round
};

/// Nonzeros that a rank will have where it parses so many lines.
std::int64_t count_at_end(const TextRoom& room, std::int64_t parsed) {
    const auto& shape = room.shape;
    return room.per_line * (shape.is_compressed && shape.ranks > 1 ? parsed / shape.ranks * (shape.ranks - 1) : parsed);
}

/// How many nonzeros to make room for, from the rate of the text so far; not more than fit into memory.
std::int64_t expected_count(const Part& part, const BlockHead& block, const TextRoom& room) {
    const auto known = part.parser.count() + block.lines;
    const double rate = static_cast<double>(known) / part.bytes, left = std::max(0.0, block.expected_bytes - part.bytes);
    const auto most = room.bytes / (SparsePattern::bytes(room.shape.order, 1) + room.shape.value_bytes);
    return std::max(known, std::min(known + static_cast<std::int64_t>(1.02 * rate * left), most));
}

void tell_progress(const Part& part, double expected_bytes, const TextRoom& room) {
    if (room.progress && expected_bytes > 0) room.progress(std::min(1.0, part.bytes / expected_bytes));
}

/// Parses a block behind those that the part has.
void parse_block(Part& part, std::string_view text, const BlockHead& block, const TextRoom& room) {
    if (part.over_memory) return;
    try {
        part.bytes += text.size();
        if (part.parser.count() + block.lines > part.parser.room()) part.parser.reserve(expected_count(part, block, room));
        part.parser.parse(text, block.lines, block.first_line);
        tell_progress(part, block.expected_bytes, room);
        part.over_memory =
            reading_memory(room.shape, count_at_end(room, part.parser.count())).peak() + part.parser.other_bytes() > room.bytes;
    } catch (const std::bad_alloc&) {  // on this rank; all of them hear of it when they agree
        part.over_memory = true;
    }
}

/// Parses all of a text. Local.
void parse_all(ByteSource& source, char quote, Part& part, const TextRoom& room) {
    LineBlocks blocks(source, block_bytes, quote);
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
}

/// The next blocks of a stream, one for each rank from 1 on, as messages.
std::vector<std::vector<std::byte>> next_round(const Communicator& comm, const ByteSource& source, LineBlocks& blocks, Part& part) {
    std::vector<std::vector<std::byte>> out(comm.size());
    std::vector<BlockHead> heads(out.size());
    for (std::size_t r = 1; r < out.size(); ++r) {
        const auto before = blocks.lines();
        std::string_view text;
        try {
            if (part.error.line == LineError::none) text = blocks.next();
        } catch (const InvalidArgument& e) {
            part.error = {blocks.lines() + 1, e.what()};
        }
        heads[r] = {before + 1, text.empty() ? 0 : blocks.lines_of_block(), source.expected_bytes() / static_cast<double>(out.size() - 1)};
        out[r].resize(sizeof(BlockHead) + text.size());
        if (!text.empty()) std::memcpy(out[r].data() + sizeof(BlockHead), text.data(), text.size());
        part.bytes += text.size();
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

/// Cuts a stream on rank 0 of several into blocks, which the other ranks parse in turn while it goes on. Returns of each block how many
/// nonzeros it has.
std::vector<std::int64_t> parse_stream(const TextInput& input, Part& part, const TextRoom& room) {
    const auto& comm = input.comm;
    std::unique_ptr<ByteSource> source;
    std::optional<LineBlocks> blocks;
    comm.agree([&] {
        if (comm.rank() == 0) blocks.emplace(*(source = input.stream()), block_bytes, input.quote);
    });
    std::vector<std::int64_t> counts;
    for (bool last = false; !last;) {
        std::vector<std::vector<std::byte>> out(comm.size());
        comm.agree([&] {
            if (comm.rank() != 0) return;
            out = next_round(comm, *source, *blocks, part);
            tell_progress(part, source->expected_bytes(), room);
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
    return counts;
}

}  // namespace

ParsedBlocks parse_blocks(const TextInput& input, LineParser& parser, const TextRoom& room) {
    const auto& comm = input.comm;
    Part part{parser};
    std::vector<std::int64_t> counts;
    if (input.file != nullptr) {
        auto lines = FileLines::part_of(*input.file, input.header.bytes, input.quote);
        comm.agree([&] { parse_all(lines, input.quote, part, room); });
    } else if (comm.size() == 1) {
        comm.agree([&] { parse_all(*input.stream(), input.quote, part, room); });
    } else {
        counts = parse_stream(input, part, room);
    }
    ParsedBlocks result;
    // Lower ranks have counted all of their lines, unless they have an error themselves, which then comes first.
    result.lines_before = input.header.lines + (input.file != nullptr ? sum_before(comm, part.lines) : 0);
    if (part.error.line != LineError::none) part.error.line += result.lines_before;
    throw_first(comm, input.path, part.error);
    const auto check_room = [&](std::int64_t count) {
        check_reading_room(comm, input.path, reading_memory(room.shape, room.per_line * count), room.bytes);
    };
    comm.agree([&] {
        check_room(count_at_end(room, parser.count()) / room.per_line);
        if (part.over_memory)
            throw OutOfMemory(input.path + ": rank " + std::to_string(comm.rank()) +
                              " could not allocate memory for its nonzeros; use more ranks or free memory");
    });
    parser.settle(comm);
    comm.agree([&] {
        result.nonzeros = parser.take();
        result.numbers = parser.take_lines();
        for (auto& line : result.numbers) line += result.lines_before;
    });
    if (!counts.empty()) restore_order(comm, result.nonzeros, result.numbers, counts);
    comm.agree([&] { check_room(result.nonzeros.count()); });
    result.lines = comm.sum(part.lines) + input.header.lines;
    return result;
}

}  // namespace arges::io
