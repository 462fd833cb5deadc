// Rows of matrices in files, as ranks want them: text is parsed in parts by all ranks, which then ask
// each other for rows; .npy is read in place.
#include "arges/error.hpp"
#include "comm/values.hpp"
#include "io/file/npy_array.hpp"
#include "io/file/text_lines.hpp"
#include "io/file/text_number.hpp"
#include "io/model/matrix_files.hpp"
#include "io/sparse/tns_parse.hpp"

#include <algorithm>
#include <numeric>

namespace arges::io {

std::string npy_header(MatrixShape shape, NumberType type) { return npy_array_header({type, false, {shape.rows, shape.columns}}); }

NpyHeader read_npy_header(const InputFile& file) {
    const auto array = read_npy_array_header(file);
    if (array.type.is_complex()) throw InvalidArgument(file.path() + ": the .npy file is of complex numbers; save real ones");
    if (array.extents.empty() || array.extents.size() > 2)
        throw InvalidArgument(file.path() + ": the .npy file has " + std::to_string(array.extents.size()) +
                              " dimensions; a matrix has two, and a vector one");
    return {{array.extents[0], array.extents.size() == 2 ? array.extents[1] : 1}, array.type, array.is_fortran_order, array.data};
}

namespace {

/// The rows that stand in this rank's part of a text file.
template <class T>
struct TextRows {
    std::int64_t columns = 0;
    std::vector<T> values;
    std::vector<std::int64_t> first;  ///< by rank, the number of its first row; and the number of all at the end
};

/// Columns of the first row, 0 if there is none. Collective.
std::int64_t find_columns(const InputFile& file) {
    return from_first_rank(file.comm(), [&] {
        std::int64_t columns = 0, line = 0;
        FileLines source(file, 0, file.size());
        LineBlocks blocks(source, std::size_t{1} << 16);
        try {
            for (auto text = blocks.next(); !text.empty() && columns == 0; text = blocks.next())
                columns = columns_of_first_entry(text, line);
        } catch (const InvalidArgument& e) {
            if (columns == 0) throw InvalidArgument(file.path() + ", line " + std::to_string(blocks.lines() + 1) + ": " + e.what());
        }
        if (columns == 0) throw InvalidArgument(file.path() + ": there is no row in the file; check how it was made");
        return columns;
    });
}

/// Appends the values of a line; false with the error if they are wrong.
template <class T>
bool parse_row(std::string_view text, TextRows<T>& rows, std::int64_t line, LineError& error) {
    const auto words = words_of(text);
    if (words.empty() || words[0][0] == '#') return true;
    if (std::ssize(words) != rows.columns) {
        error = {line, std::to_string(words.size()) + " columns where the first row has " + std::to_string(rows.columns) +
                           "; give every row the same number"};
        return false;
    }
    for (const auto word : words) {
        const auto kind = careful_value(word, rows.values.emplace_back());
        if (kind == ValueKind::fine) continue;
        const auto* what = kind == ValueKind::not_a_number ? " is not a number; correct it" : " is not finite or too large; correct it";
        error = {line, "value " + quoted(word) + what};
        return false;
    }
    return true;
}

/// Reads this rank's part. Collective.
template <class T>
TextRows<T> read_rows(const InputFile& file) {
    const auto& comm = file.comm();
    TextRows<T> rows;
    rows.columns = find_columns(file);
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
                    parse_row(text.substr(begin, end - begin), rows, line, error);
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
    const std::vector<std::int64_t> own{std::ssize(rows.values) / rows.columns};
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

/// Asks the ranks that have them for rows. Collective.
template <class T>
std::vector<T> deliver(const InputFile& file, const TextRows<T>& rows, std::span<const std::int64_t> wanted) {
    const auto& comm = file.comm();
    const std::size_t columns = rows.columns;
    std::vector<std::vector<std::int64_t>> asked(comm.size());
    std::vector<std::vector<T>> answers(asked.size());
    std::vector<std::size_t> owner;
    std::vector<T> result;
    comm.agree([&] {
        check_wanted(file, wanted, rows.first.back());
        result.resize(wanted.size() * columns);
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
                const auto* first = rows.values.data() + (row - own_first) * columns;
                answers[r].insert(answers[r].end(), first, first + columns);
            }
    });
    answers = exchanged(comm, std::move(answers));
    std::vector<std::size_t> next(answers.size(), 0);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        std::copy_n(answers[owner[i]].data() + next[owner[i]], columns, result.data() + i * columns);
        next[owner[i]] += columns;
    }
    return result;
}

/// Numbers that stand one after the other in a .npy file, from number `first` on. Local.
template <class T>
std::vector<T> read_npy_numbers(const InputFile& file, const NpyHeader& header, std::int64_t first, std::int64_t count) {
    std::vector<std::byte> bytes(count * header.type.bytes);
    std::vector<T> numbers(count);
    file.read_exactly(header.data + first * header.type.bytes, bytes.data(), bytes.size());
    convert_numbers(header.type, bytes.data(), count, numbers.data());
    return numbers;
}

/// Neighbouring rows, row after row. Local.
template <class T>
std::vector<T> read_npy_run(const InputFile& file, const NpyHeader& header, std::int64_t first, std::int64_t count) {
    const auto [rows, columns] = header.shape;
    if (!header.is_fortran_order) return read_npy_numbers<T>(file, header, first * columns, count * columns);
    std::vector<T> run(count * columns);
    for (std::int64_t c = 0; c < columns; ++c) {
        const auto column = read_npy_numbers<T>(file, header, c * rows + first, count);
        for (std::size_t i = 0; i < column.size(); ++i)
            run[i * static_cast<std::size_t>(columns) + static_cast<std::size_t>(c)] = column[i];
    }
    return run;
}

/// Reads rows where they are, neighbours together. Local.
template <class T>
std::vector<T> read_npy_rows(const InputFile& file, const NpyHeader& header, std::span<const std::int64_t> wanted) {
    constexpr std::int64_t most_bytes = 1 << 20, short_gap_bytes = 4096;
    const auto row_bytes = std::max<std::int64_t>(1, header.shape.columns * header.type.bytes);
    check_wanted(file, wanted, header.shape.rows);
    std::vector<std::size_t> sequence(wanted.size());
    std::iota(sequence.begin(), sequence.end(), std::size_t{0});
    std::sort(sequence.begin(), sequence.end(), [&](auto a, auto b) { return wanted[a] < wanted[b]; });
    std::vector<T> result(wanted.size() * static_cast<std::size_t>(header.shape.columns));
    for (std::size_t i = 0, j = 0; i < sequence.size(); i = j) {
        const auto first = wanted[sequence[i]];
        auto last = first;
        for (j = i; j < sequence.size(); last = wanted[sequence[j++]]) {
            const auto row = wanted[sequence[j]];
            const bool is_far = (row - last - 1) * row_bytes > short_gap_bytes || (row - first) * row_bytes >= most_bytes;
            if (row > first && is_far) break;
        }
        const auto run = read_npy_run<T>(file, header, first, last - first + 1);
        const std::size_t columns = header.shape.columns;
        for (auto k = i; k < j; ++k)
            std::copy_n(run.data() + (wanted[sequence[k]] - first) * columns, columns, result.data() + sequence[k] * columns);
    }
    return result;
}

}  // namespace

MatrixShape matrix_shape(const Communicator& comm, const std::string& path) {
    const InputFile file(comm, path);
    MatrixShape shape;
    bool binary = false;
    comm.agree([&] {
        binary = is_npy(file);
        if (binary) shape = read_npy_header(file).shape;
    });
    if (binary) return shape;
    const auto rows = read_rows<double>(file);
    return {rows.first.back(), rows.columns};
}

template <class T>
std::vector<T> read_matrix(const Communicator& comm, const std::string& path, std::span<const std::int64_t> rows) {
    const InputFile file(comm, path);
    std::vector<T> result;
    bool binary = false;
    comm.agree([&] {
        binary = is_npy(file);
        if (!binary) return;
        result = read_npy_rows<T>(file, read_npy_header(file), rows);
        if (std::any_of(result.begin(), result.end(), [](T value) { return !std::isfinite(value); }))
            throw InvalidArgument(path + ": a value is infinite or not a number; make the file again");
    });
    if (binary) return result;
    return deliver(file, read_rows<T>(file), rows);
}

template std::vector<std::int64_t> read_matrix(const Communicator&, const std::string&, std::span<const std::int64_t>);
template std::vector<float> read_matrix(const Communicator&, const std::string&, std::span<const std::int64_t>);
template std::vector<double> read_matrix(const Communicator&, const std::string&, std::span<const std::int64_t>);

}  // namespace arges::io
