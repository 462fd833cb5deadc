// Binary sparse tensors, ours in blocks with checksums and SPLATT's: each rank reads an equal share of the nonzeros.
#include "arges/error.hpp"
#include "base/math.hpp"
#include "interface/sparse/sparse_state.hpp"
#include "io/file/checksum.hpp"
#include "io/file/number_type.hpp"
#include "io/sparse/reading_memory.hpp"
#include "io/sparse/sparse_binary.hpp"

#include <algorithm>

namespace arges::io {

namespace {

[[noreturn]] void refuse(const InputFile& file, const std::string& what) {
    throw InvalidArgument(file.path() + ": " + what + "; the file is damaged or of another kind: copy or make it again");
}

/// Numbers of a piece of memory, one after the other.
class Taker {
public:
    explicit Taker(std::span<const char> bytes) : bytes_(bytes) {}
    template <class V>
    V take() {
        V value;
        std::memcpy(&value, bytes_.data() + used_, sizeof(V));
        used_ += sizeof(V);
        return value;
    }
    std::int64_t take_index(std::uint64_t width) {
        return width == 4 ? static_cast<std::int64_t>(take<std::uint32_t>()) : take<std::int64_t>();
    }

private:
    std::span<const char> bytes_;
    std::size_t used_ = 0;
};

/// `count` indices of one width, appended to a column; all must be below the length.
void append_indices(const InputFile& file, std::span<const char> bytes, std::uint64_t width, std::int64_t length,
                    std::vector<std::int64_t>& column) {
    Taker taker(bytes);
    std::uint64_t largest = 0;
    for (std::size_t i = 0; i < bytes.size() / width; ++i) {
        column.push_back(taker.take_index(width));
        largest = std::max(largest, static_cast<std::uint64_t>(column.back()));
    }
    if (!bytes.empty() && largest >= static_cast<std::uint64_t>(length))
        refuse(file, "index " + std::to_string(largest) + " in a mode of length " + std::to_string(length));
}

/// Converts values of one width to elements; returns what is behind them.
std::byte* put_values(const InputFile& file, std::span<char> bytes, int width, ElementType type, std::byte* to) {
    const auto size = element_kernels(type).size, count = std::ssize(bytes) / width;
    convert_numbers({'f', width}, reinterpret_cast<std::byte*>(bytes.data()), count, type, to);
    if (!are_finite(type, to, count))
        throw InvalidArgument(file.path() + ": a value is infinite or not a number" +
                              (size < width ? ", perhaps only as float; read it as double" : "; make the file again"));
    return to + count * size;
}

void check_width(const InputFile& file, std::uint64_t width, const char* of) {
    if (width != 4 && width != 8) refuse(file, std::string(of) + " of " + std::to_string(width) + " bytes");
}

void check_shape(const InputFile& file, const std::vector<std::int64_t>& lengths, std::int64_t count) {
    for (auto n : lengths)
        if (n < 0 || n > max_sparse_length) refuse(file, "a mode of length " + std::to_string(n));
    if (count < 0 || count > file.size()) refuse(file, std::to_string(count) + " nonzeros in " + std::to_string(file.size()) + " bytes");
}

void check_bytes(const InputFile& file, std::int64_t expected) {
    if (file.size() < expected)
        refuse(file, "the file ends too early: " + std::to_string(file.size()) + " bytes instead of " + std::to_string(expected));
    if (file.size() > expected) refuse(file, std::to_string(file.size()) + " bytes instead of " + std::to_string(expected));
}

/// Room for so many nonzeros. @throws OutOfMemory if reading them takes more memory than there is
AnyNonzeros with_room(const InputFile& file, const std::vector<std::int64_t>& lengths, std::int64_t count, bool is_distinct,
                      ElementType type, std::int64_t room) {
    const auto& kernels = element_kernels(type);
    const ReadingShape shape{.ranks = file.comm().size(),
                             .order = static_cast<int>(lengths.size()),
                             .value_bytes = kernels.size,
                             .file_bytes = file.size(),
                             .is_text = false,
                             .is_distinct = is_distinct,
                             .lengths = lengths};
    check_reading_room(file.comm(), file.path(), reading_memory(shape, count), room);
    AnyNonzeros result(no_indices(lengths), SparseValues(kernels, count));
    for (auto& column : result.indices) column.reserve(count);
    return result;
}

/// The header and the numbers of nonzeros of the blocks. Local.
BinaryHeader read_header(const InputFile& file, std::vector<std::int64_t>& table) {
    std::vector<char> bytes(BinaryHeader::fixed_bytes);
    file.read_exactly(0, bytes.data(), bytes.size());
    Taker fixed(std::span<const char>(bytes).subspan(8));
    if (const auto version = fixed.take<std::uint32_t>(); version != BinaryHeader::version)
        throw Unsupported(file.path() + ": version " + std::to_string(version) +
                          " of the binary form; this program knows version 1. Convert it with the program that made it");
    BinaryHeader header;
    header.order = fixed.take<std::uint32_t>();
    header.index_bytes = fixed.take<std::uint32_t>();
    header.value_bytes = fixed.take<std::uint32_t>();
    header.count = fixed.take<std::int64_t>();
    header.blocks = fixed.take<std::int64_t>();
    if (header.order < 1 || header.order > static_cast<std::uint32_t>(max_sparse_order))
        refuse(file, "order " + std::to_string(header.order));
    check_width(file, header.index_bytes, "indices");
    check_width(file, header.value_bytes, "values");
    check_shape(file, {}, header.count);
    if (header.blocks < 0 || header.blocks > header.count) refuse(file, std::to_string(header.blocks) + " blocks");
    check_bytes(file, header.file_bytes());
    bytes.resize(header.bytes());
    file.read_exactly(0, bytes.data(), bytes.size());
    Taker rest(std::span<const char>(bytes).subspan(BinaryHeader::fixed_bytes));
    for (std::uint32_t m = 0; m < header.order; ++m) header.lengths.push_back(rest.take<std::int64_t>());
    std::int64_t sum = 0;
    bool wrong = false;
    for (std::int64_t b = 0; b < header.blocks; ++b) {
        table.push_back(rest.take<std::int64_t>());
        wrong = wrong || table.back() < 1 || table.back() > BinaryHeader::block_nonzeros;
        sum += wrong ? 0 : table.back();
    }
    if (rest.take<std::uint32_t>() != checksum_of(std::span<const char>(bytes).first(bytes.size() - 4)))
        refuse(file, "the checksum of the header is wrong");
    check_shape(file, header.lengths, header.count);
    if (wrong || sum != header.count) refuse(file, "the table of blocks is wrong");
    return header;
}

}  // namespace

bool is_own_binary(std::span<const std::byte> beginning) {
    return beginning.size() >= 8 && std::memcmp(beginning.data(), BinaryHeader::magic, 8) == 0;
}

BinaryShape own_binary_shape(const InputFile& file) {
    std::vector<std::int64_t> table;
    const auto header = read_header(file, table);
    return {header.lengths, header.count, header.value_bytes};
}

ReadNonzeros read_own_binary(const InputFile& file, ElementType type, std::int64_t room) {
    const auto& comm = file.comm();
    ReadNonzeros result;
    std::vector<std::int64_t> table;
    BinaryHeader header;
    comm.agree([&] {
        header = read_header(file, table);
        const auto begin = part_begin(header.count, comm.rank(), comm.size());
        const auto end = part_begin(header.count, comm.rank() + 1, comm.size());
        result.nonzeros = with_room(file, header.lengths, end - begin, true, type, room);
        auto* values = result.nonzeros.values.data();
        std::vector<char> bytes;
        auto offset = header.bytes();
        std::int64_t first = 0;
        for (std::size_t b = 0; b < table.size() && first < end; offset += header.block_bytes(table[b]), first += table[b++]) {
            const auto skip = std::max<std::int64_t>(0, begin - first), stop = std::min(table[b], end - first);
            if (skip >= stop) continue;
            bytes.resize(header.block_bytes(table[b]));
            file.read_exactly(offset, bytes.data(), bytes.size());
            const auto content = std::span<char>(bytes).first(bytes.size() - 4);
            if (Taker(std::span<const char>(bytes).last(4)).take<std::uint32_t>() != checksum_of(content))
                refuse(file, "the checksum of block " + std::to_string(b + 1) + " of " + std::to_string(table.size()) + " is wrong");
            const auto piece = [&](std::int64_t at, std::uint32_t width) {
                return content.subspan(at + skip * width, (stop - skip) * width);
            };
            for (std::size_t m = 0; m < header.order; ++m)
                append_indices(file, piece(static_cast<std::int64_t>(m) * table[b] * header.index_bytes, header.index_bytes),
                               header.index_bytes, header.lengths[m], result.nonzeros.indices[m]);
            values = put_values(file, piece(static_cast<std::int64_t>(header.order) * table[b] * header.index_bytes, header.value_bytes),
                                static_cast<int>(header.value_bytes), type, values);
        }
    });
    result.distinct = true;
    result.report = {"binary", file.size(), 0, 0, header.count, 0, header.lengths, {}};
    return result;
}

namespace {

/// SPLATT writes: int32 kind, uint64 width of indices, uint64 width of values; then in the width of indices order, lengths,
/// number of nonzeros, and the indices mode by mode; then values.
struct SplattHeader {
    static constexpr std::int64_t fixed_bytes = 20;
    std::uint64_t index_bytes = 0, value_bytes = 0;
    std::int64_t count = 0, data = 0;  // data: where indices begin
    std::vector<std::int64_t> lengths{};
};

SplattHeader read_splatt_header(const InputFile& file) {
    std::vector<char> bytes(SplattHeader::fixed_bytes + 8 * (max_sparse_order + 2), 0);
    bytes.resize(file.read(0, bytes.data(), bytes.size()));
    const auto available = std::ssize(bytes);
    bytes.resize(SplattHeader::fixed_bytes + 8 * (max_sparse_order + 2), 0);
    Taker taker(std::span<const char>(bytes).subspan(4));
    SplattHeader header;
    header.index_bytes = taker.take<std::uint64_t>();
    header.value_bytes = taker.take<std::uint64_t>();
    check_width(file, header.index_bytes, "indices");
    check_width(file, header.value_bytes, "values");
    const auto order = taker.take_index(header.index_bytes);
    if (order < 1 || order > max_sparse_order) refuse(file, "order " + std::to_string(order));
    for (std::int64_t m = 0; m < order; ++m) header.lengths.push_back(taker.take_index(header.index_bytes));
    header.count = taker.take_index(header.index_bytes);
    header.data = SplattHeader::fixed_bytes + static_cast<std::int64_t>(header.index_bytes) * (order + 2);
    if (available < header.data) refuse(file, "the file ends within its header");
    check_shape(file, header.lengths, header.count);
    check_bytes(file, header.data + header.count * (order * static_cast<std::int64_t>(header.index_bytes) +
                                                    static_cast<std::int64_t>(header.value_bytes)));
    return header;
}

/// Calls use(bytes) for the pieces of the entries [begin, end) of an array of the file.
template <class Use>
void in_pieces(const InputFile& file, std::int64_t array, std::int64_t begin, std::int64_t end, std::int64_t width, Use&& use) {
    constexpr std::int64_t piece = 1 << 17;
    std::vector<char> bytes(piece * width);
    for (; begin < end; begin += piece) {
        const auto part = std::span<char>(bytes).first(std::min(piece, end - begin) * width);
        file.read_exactly(array + begin * width, part.data(), part.size());
        use(part);
    }
}

}  // namespace

bool is_splatt_binary(std::span<const std::byte> beginning) {
    if (beginning.size() < 20) return false;
    std::int32_t kind = 0;
    std::uint64_t widths[2];
    std::memcpy(&kind, beginning.data(), sizeof kind);
    std::memcpy(widths, beginning.data() + 4, sizeof widths);
    return kind == 0 && (widths[0] == 4 || widths[0] == 8) && (widths[1] == 4 || widths[1] == 8);
}

BinaryShape splatt_shape(const InputFile& file) {
    const auto header = read_splatt_header(file);
    return {header.lengths, header.count, static_cast<std::int64_t>(header.value_bytes)};
}

ReadNonzeros read_splatt_binary(const InputFile& file, ElementType type, std::int64_t room) {
    const auto& comm = file.comm();
    ReadNonzeros result;
    SplattHeader header;
    comm.agree([&] {
        header = read_splatt_header(file);
        const auto begin = part_begin(header.count, comm.rank(), comm.size());
        const auto end = part_begin(header.count, comm.rank() + 1, comm.size());
        result.nonzeros = with_room(file, header.lengths, end - begin, false, type, room);
        auto* values = result.nonzeros.values.data();
        const std::int64_t width = header.index_bytes;
        auto array = header.data;
        for (std::size_t m = 0; m < header.lengths.size(); ++m, array += header.count * width)
            in_pieces(file, array, begin, end, width, [&](std::span<const char> bytes) {
                append_indices(file, bytes, header.index_bytes, header.lengths[m], result.nonzeros.indices[m]);
            });
        in_pieces(file, array, begin, end, header.value_bytes,
                  [&](std::span<char> bytes) { values = put_values(file, bytes, static_cast<int>(header.value_bytes), type, values); });
    });
    result.report = {"SPLATT binary", file.size(), 0, 0, header.count, 0, header.lengths, {}};
    return result;
}

}  // namespace arges::io
