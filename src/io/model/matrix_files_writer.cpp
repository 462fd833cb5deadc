// Rows that any ranks have go into the order of the file, in parts with similar numbers of rows, which are written in long runs.
#include "arges/error.hpp"
#include "base/math.hpp"
#include "comm/communicator.hpp"
#include "interface/sparse/sparse_tensor_slices.hpp"
#include "io/file/element_text.hpp"
#include "io/file/npy_array.hpp"
#include "io/model/matrix_files.hpp"
#include "io/sparse/tns_writer.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

namespace arges::io {

namespace {

/// Consecutive rows of the file for one rank: those from begin to end - 1, of which the given ones are stored.
struct Stretch {
    std::int64_t begin = 0, end = 0, columns = 0;
    std::vector<std::int64_t> rows;  // ascending
    std::vector<std::byte> values;
    std::int64_t row_bytes = 0;

    const std::byte* row(std::int64_t i) const { return values.data() + i * row_bytes; }
};

void check_rows(const std::string& path, MatrixShape shape, const MatrixRows& mine) {
    if (shape.rows < 0 || shape.columns < 1)
        throw InvalidArgument(path + ": a matrix of " + std::to_string(shape.rows) + " x " + std::to_string(shape.columns) +
                              "; it needs at least one column");
    const auto values = std::ssize(mine.values) / element_kernels(mine.type).size;
    if (values != std::ssize(mine.rows) * shape.columns)
        throw InvalidArgument(path + ": " + std::to_string(values) + " values for " + std::to_string(mine.rows.size()) + " rows of " +
                              std::to_string(shape.columns) + " columns; give all values of each row");
    check_row_numbers(path, shape.rows, mine.rows);
}

/// Brings the rows into the order of the file, in parts with similar numbers of given rows. Collective.
Stretch arranged(const Communicator& comm, const std::string& path, MatrixShape shape, const MatrixRows& mine) {
    comm.agree([&] { check_rows(path, shape, mine); });
    const auto list = nonempty_slices(comm, mine.rows);
    const auto given = comm.sum(std::ssize(mine.rows));
    if (given != list.total())
        throw InvalidArgument(path + ": " + std::to_string(given) + " rows are given, but only " + std::to_string(list.total()) +
                              " different ones; each row must come from one rank");
    const std::size_t row_bytes = shape.columns * element_kernels(mine.type).size;
    // A row goes behind its number. Of what is packed, what is received and the stretch, two are in memory at a time.
    std::vector<std::vector<std::byte>> packed(comm.size());
    comm.agree([&] {
        std::vector<std::size_t> counts(packed.size());
        for (auto row : mine.rows) ++counts[list.owner(row)];
        for (std::size_t r = 0; r < packed.size(); ++r) packed[r].reserve(counts[r] * (sizeof(std::int64_t) + row_bytes));
        for (std::size_t i = 0; i < mine.rows.size(); ++i) {
            auto& to = packed[list.owner(mine.rows[i])];
            const auto* const number = reinterpret_cast<const std::byte*>(&mine.rows[i]);
            const auto* const row = mine.values.data() + i * row_bytes;
            to.insert(to.end(), number, number + sizeof(std::int64_t));
            to.insert(to.end(), row, row + row_bytes);
        }
    });
    packed = comm.all_to_all(packed);
    Stretch stretch;
    stretch.columns = shape.columns;
    stretch.row_bytes = row_bytes;
    const std::size_t rank = comm.rank();
    stretch.begin = rank == 0 ? 0 : std::min(list.bounds[rank - 1], shape.rows);
    stretch.end = rank + 1 == packed.size() ? shape.rows : std::min(list.bounds[rank], shape.rows);
    comm.agree([&] {
        stretch.rows = list.mine;
        stretch.values.resize(stretch.rows.size() * row_bytes);
        for (const auto& from : packed)
            for (std::size_t at = 0; at < from.size(); at += sizeof(std::int64_t) + row_bytes) {
                std::int64_t number = 0;
                std::memcpy(&number, from.data() + at, sizeof number);
                const auto place = std::lower_bound(stretch.rows.begin(), stretch.rows.end(), number) - stretch.rows.begin();
                std::memcpy(stretch.values.data() + place * row_bytes, from.data() + at + sizeof number, row_bytes);
            }
    });
    return stretch;
}

void produce_rows(const Stretch& stretch, const ElementText& element, const std::function<void(std::string_view)>& take) {
    constexpr std::size_t piece_bytes = std::size_t{1} << 18;
    const auto append = [&](std::string& text, const std::byte* row) {
        for (std::int64_t at = 0; at < stretch.row_bytes; at += element.kernels().size) {
            if (at > 0) text += ' ';
            element.append(text, row + at);
        }
        text += '\n';
    };
    std::string zeros, text;
    append(zeros, std::vector<std::byte>(stretch.row_bytes).data());
    std::int64_t next = 0;
    for (auto row = stretch.begin; row < stretch.end; ++row) {
        if (next < std::ssize(stretch.rows) && stretch.rows[next] == row)
            append(text, stretch.row(next++));
        else
            text += zeros;
        if (text.size() < piece_bytes) continue;
        take(text);
        text.clear();
    }
    take(text);
}

/// Writes given rows in long runs; short gaps are filled with zeros, long ones are left to the file system.
void write_runs(OutputFile& file, std::int64_t data, const Stretch& stretch) {
    constexpr std::size_t run_bytes = std::size_t{1} << 20;
    constexpr std::int64_t short_gap_bytes = 4096;
    const auto row_bytes = stretch.row_bytes;
    std::vector<char> run;
    std::int64_t first = 0, end = 0;  // rows of the run
    const auto flush = [&] {
        file.write(data + first * row_bytes, run.data(), run.size());
        run.clear();
    };
    for (std::size_t i = 0; i < stretch.rows.size(); ++i) {
        const auto row = stretch.rows[i];
        if (!run.empty() && (run.size() >= run_bytes || (row - end) > short_gap_bytes / row_bytes)) flush();
        if (run.empty()) first = end = row;
        run.resize(run.size() + static_cast<std::size_t>((row - end) * row_bytes), 0);
        const auto* values = reinterpret_cast<const char*>(stretch.row(i));
        run.insert(run.end(), values, values + row_bytes);
        end = row + 1;
    }
    if (!run.empty()) flush();
}

}  // namespace

std::unique_ptr<OutputFile> prepare_matrix(const Communicator& comm, const std::string& path, MatrixShape shape, const MatrixRows& mine,
                                           MatrixForm form) {
    const auto stretch = arranged(comm, path, shape, mine);
    if (form == MatrixForm::text)
        return prepare_text(comm, path, false, [&](const std::function<void(std::string_view)>& take) {
            produce_rows(stretch, element_text(mine.type), take);
        });
    const auto bytes = saturated_product(saturated_product(shape.rows, shape.columns), element_kernels(mine.type).size);
    if (bytes > std::numeric_limits<std::int64_t>::max() / 2)
        throw Unsupported(path + ": a matrix of " + std::to_string(shape.rows) + " x " + std::to_string(shape.columns) +
                          " has more bytes than a .npy file can; decompose compacted() of the tensor");
    auto file = std::make_unique<OutputFile>(comm, path);
    const auto header = npy_array_header({number_type_of(mine.type), false, {shape.rows, shape.columns}});
    comm.agree([&] {
        const auto data = std::ssize(header);
        if (comm.rank() == 0) {
            file->write(0, header.data(), header.size());
            file->set_size(data + bytes);
        }
        write_runs(*file, data, stretch);
    });
    file->complete();
    return file;
}

void check_row_numbers(const std::string& path, std::int64_t rows, std::span<const std::int64_t> numbers) {
    for (auto row : numbers)
        if (row < 0 || row >= rows)
            throw InvalidArgument(path + ": row " + std::to_string(row) + " of a matrix of " + std::to_string(rows) +
                                  " rows; rows count from 0");
}

}  // namespace arges::io
