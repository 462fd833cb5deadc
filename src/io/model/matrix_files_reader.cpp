// Rows of matrices in files, as ranks want them: text is parsed in parts by all ranks, which then ask
// each other for rows; .npy is read in place.
#include "arges/error.hpp"
#include "base/element_at.hpp"
#include "comm/values.hpp"
#include "io/file/element_text.hpp"
#include "io/file/npy_array.hpp"
#include "io/file/text_lines.hpp"
#include "io/model/matrix_files.hpp"
#include "io/sparse/tns_parse.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace arges::io {

namespace {

/// The header of a matrix of real numbers, with two extents.
NpyArray read_matrix_header(const InputFile& file) {
    auto array = read_npy_array_header(file);
    if (array.type.is_complex()) throw InvalidArgument(file.path() + ": the .npy file is of complex numbers; save real ones");
    if (array.extents.empty() || array.extents.size() > 2)
        throw InvalidArgument(file.path() + ": the .npy file has " + std::to_string(array.extents.size()) +
                              " dimensions; a matrix has two, and a vector one");
    array.extents.resize(2, 1);
    return array;
}

/// The rows that stand in this rank's part of a text file.
struct TextRows {
    std::int64_t columns = 0;
    std::vector<std::byte> values;
    std::int64_t row_bytes = 0;
    std::vector<std::int64_t> first;  ///< by rank, the number of its first row; and the number of all at the end
};

/// Columns of the first row, 0 if there is none. Collective.
std::int64_t find_columns(const InputFile& file) {
    return from_first_rank(file.comm(), [&] {
        std::int64_t columns = 0;
        FileLines source(file, 0, file.size());
        LineBlocks blocks(source, std::size_t{1} << 16);
        try {
            for (auto text = blocks.next(); !text.empty() && columns == 0; text = blocks.next()) columns = columns_of_first_entry(text);
        } catch (const InvalidArgument& e) {
            if (columns == 0) throw InvalidArgument(file.path() + ", line " + std::to_string(blocks.lines() + 1) + ": " + e.what());
        }
        if (columns == 0) throw InvalidArgument(file.path() + ": there is no row in the file; check how it was made");
        return columns;
    });
}

/// Appends the values of a line; false with the error if they are wrong.
bool parse_row(std::string_view text, const ElementText& element, TextRows& rows, std::int64_t line, LineError& error) {
    const auto words = words_of(text);
    if (words.empty() || words[0][0] == '#') return true;
    if (std::ssize(words) != rows.columns) {
        error = {line, std::to_string(words.size()) + " columns where the first row has " + std::to_string(rows.columns) +
                           "; give every row the same number"};
        return false;
    }
    const std::size_t bytes = rows.row_bytes / rows.columns;
    for (const auto word : words) {
        rows.values.resize(rows.values.size() + bytes);
        const auto kind = element.read(word, 0, rows.values.data() + rows.values.size() - bytes);
        if (kind == ValueKind::fine) continue;
        const auto* what = kind == ValueKind::not_a_number ? " is not a number; correct it" : " is not finite or too large; correct it";
        error = {line, "value " + quoted(word) + what};
        return false;
    }
    return true;
}

/// Reads this rank's part. Collective.
TextRows read_rows(const InputFile& file, const ElementText& element) {
    const auto& comm = file.comm();
    TextRows rows;
    rows.columns = find_columns(file);
    rows.row_bytes = rows.columns * element.kernels().size;
    LineError error;
    std::int64_t lines = 0;
    comm.agree([&] {
        auto source = FileLines::part_of(file);
        LineBlocks blocks(source, std::size_t{1} << 20);
        try {
            for (auto text = blocks.next(); !text.empty(); text = blocks.next()) {
                auto line = blocks.lines() - blocks.lines_of_block() + 1;
                for (std::size_t begin = 0; begin < text.size() && error.line == LineError::none; ++line) {
                    const auto end = text.find('\n', begin);
                    parse_row(text.substr(begin, end - begin), element, rows, line, error);
                    begin = end + 1;
                }
            }
        } catch (const InvalidArgument& e) {
            if (error.line == LineError::none) error = {blocks.lines() + 1, e.what()};
        }
        lines = blocks.lines();
    });
    const auto lines_before = sum_before(comm, lines);
    if (error.line != LineError::none) error.line += lines_before;
    throw_first(comm, file.path(), error);
    const std::vector<std::int64_t> own{std::ssize(rows.values) / rows.row_bytes};
    rows.first.assign(1, 0);
    for (auto count : gathered(comm, own)) rows.first.push_back(rows.first.back() + count);
    return rows;
}

void check_wanted(const InputFile& file, std::span<const std::int64_t> wanted, std::int64_t rows) {
    for (auto row : wanted)
        if (row < 0 || row >= rows)
            throw InvalidArgument(file.path() + ": row " + std::to_string(row) + " is wanted, but the matrix has " + std::to_string(rows) +
                                  " rows; use the files that belong to this tensor");
}

/// Room for elements.
using Room = std::function<void*(std::int64_t count)>;

/// Asks the ranks that have them for rows. Collective.
void deliver(const InputFile& file, const TextRows& rows, std::span<const std::int64_t> wanted, const Room& room) {
    const auto& comm = file.comm();
    std::vector<std::vector<std::int64_t>> asked(comm.size());
    std::vector<std::vector<std::byte>> answers(asked.size());
    std::vector<std::size_t> owner;
    void* result = nullptr;
    comm.agree([&] {
        check_wanted(file, wanted, rows.first.back());
        result = room(std::ssize(wanted) * rows.columns);
        for (auto row : wanted) {
            const auto behind = std::upper_bound(rows.first.begin(), rows.first.end(), row);
            owner.push_back(static_cast<std::size_t>(behind - rows.first.begin()) - 1);
            asked[owner.back()].push_back(row);
        }
    });
    asked = exchanged(comm, std::move(asked));
    const auto own_first = rows.first[comm.rank()];
    comm.agree([&] {
        for (std::size_t r = 0; r < asked.size(); ++r)
            for (auto row : asked[r]) {
                const auto* first = rows.values.data() + (row - own_first) * rows.row_bytes;
                answers[r].insert(answers[r].end(), first, first + rows.row_bytes);
            }
    });
    answers = comm.all_to_all(answers);
    std::vector<std::int64_t> next(answers.size(), 0);
    for (std::size_t i = 0; i < wanted.size(); ++i)
        std::memcpy(element_at(result, i, rows.row_bytes), element_at(answers[owner[i]].data(), next[owner[i]]++, rows.row_bytes),
                    rows.row_bytes);
}

/// Numbers that stand one after the other in a .npy file, from number `first` on. Local.
void read_npy_numbers(const InputFile& file, const NpyArray& header, std::int64_t first, std::int64_t count, ElementType type, void* to) {
    std::vector<std::byte> bytes(count * header.type.bytes);
    file.read_exactly(header.data + first * header.type.bytes, bytes.data(), bytes.size());
    convert_numbers(header.type, bytes.data(), count, type, to);
}

/// Neighbouring rows, row after row. Local.
std::vector<std::byte> read_npy_run(const InputFile& file, const NpyArray& header, std::int64_t first, std::int64_t count,
                                    ElementType type) {
    const auto rows = header.extents[0], columns = header.extents[1];
    const auto size = element_kernels(type).size;
    std::vector<std::byte> run(count * columns * size), column(header.is_fortran_order ? count * size : 0);
    if (!header.is_fortran_order) read_npy_numbers(file, header, first * columns, count * columns, type, run.data());
    for (std::int64_t c = 0; c < columns && header.is_fortran_order; ++c) {
        read_npy_numbers(file, header, c * rows + first, count, type, column.data());
        for (std::int64_t i = 0; i < count; ++i)
            copy_element(element_at(run.data(), i * columns + c, size), element_at(column.data(), i, size), size);
    }
    return run;
}

/// Reads rows where they are, neighbours together. Local.
void read_npy_rows(const InputFile& file, const NpyArray& header, std::span<const std::int64_t> wanted, ElementType type, void* result) {
    constexpr std::int64_t most_bytes = 1 << 20, short_gap_bytes = 4096;
    const auto row_bytes = std::max<std::int64_t>(1, header.extents[1] * header.type.bytes);
    std::vector<std::size_t> sequence(wanted.size());
    std::iota(sequence.begin(), sequence.end(), std::size_t{0});
    std::sort(sequence.begin(), sequence.end(), [&](auto a, auto b) { return wanted[a] < wanted[b]; });
    const auto bytes = header.extents[1] * element_kernels(type).size;  // of a row of elements
    for (std::size_t i = 0, j = 0; i < sequence.size(); i = j) {
        const auto first = wanted[sequence[i]];
        auto last = first;
        for (j = i; j < sequence.size(); last = wanted[sequence[j++]]) {
            const auto row = wanted[sequence[j]];
            const bool is_far = (row - last - 1) * row_bytes > short_gap_bytes || (row - first) * row_bytes >= most_bytes;
            if (row > first && is_far) break;
        }
        const auto run = read_npy_run(file, header, first, last - first + 1, type);
        for (auto k = i; k < j; ++k)
            std::memcpy(element_at(result, sequence[k], bytes), element_at(run.data(), wanted[sequence[k]] - first, bytes), bytes);
    }
}

}  // namespace

MatrixShape matrix_shape(const Communicator& comm, const std::string& path) {
    const InputFile file(comm, path);
    NpyArray array;
    comm.agree([&] {
        if (is_npy(file)) array = read_matrix_header(file);
    });
    if (!array.extents.empty()) return {array.extents[0], array.extents[1]};
    const auto rows = read_rows(file, element_text(ElementType::float64));
    return {rows.first.back(), rows.columns};
}

void read_matrix(const Communicator& comm, const std::string& path, std::span<const std::int64_t> rows, ElementType type,
                 const Room& room) {
    const InputFile file(comm, path);
    bool binary = false;
    comm.agree([&] {
        binary = is_npy(file);
        if (!binary) return;
        const auto header = read_matrix_header(file);
        check_wanted(file, rows, header.extents[0]);
        const auto count = std::ssize(rows) * header.extents[1];
        auto* const result = room(count);
        if (count > 0) read_npy_rows(file, header, rows, type, result);
        if (!are_finite(type, result, count)) throw InvalidArgument(path + ": a value is infinite or not a number; make the file again");
    });
    if (!binary) deliver(file, read_rows(file, element_text(type)), rows, room);
}

}  // namespace arges::io
