/// Factor matrices, Kruskal tensors and columns of row numbers (T = std::int64_t) in files that NumPy and MATLAB read. Rows come from, and
/// go to, any ranks.
#pragma once

#include "io/file/number_type.hpp"
#include "io/file/parallel_file.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace arges::io {

/// The form of a matrix in a file.
enum class MatrixForm {
    text,  ///< .txt: a row on each line, numbers in their shortest exact form, separated by a blank
    npy,   ///< .npy version 1.0: float32, float64 or int64, row after row
};

struct MatrixShape {
    std::int64_t rows = 0, columns = 0;
    bool operator==(const MatrixShape&) const = default;
};

/// Rows of a matrix that a rank has.
struct MatrixRows {
    std::vector<std::int64_t> rows;  ///< their numbers in the matrix, counted from 0, in any order
    ElementType type;
    std::span<const std::byte> values;  ///< rows.size() x columns, row after row

    /// Of an array of float, double or std::int64_t, which must outlive it.
    template <class Values>
    MatrixRows(std::vector<std::int64_t> numbers, const Values& array)
        : rows(std::move(numbers)), type(element_type_of<typename Values::value_type>()), values(std::as_bytes(std::span(array))) {}
    /// Rows first, first + 1, ...; as many as the values make.
    template <class Values>
    static MatrixRows contiguous(std::int64_t first, const Values& values, std::int64_t columns) {
        MatrixRows result(std::vector<std::int64_t>(values.size() / static_cast<std::size_t>(columns)), values);
        std::iota(result.rows.begin(), result.rows.end(), first);
        return result;
    }
};

/// Writes a matrix to a file that does not have its name yet: see OutputFile::publish(). Rows that no rank gives are zero. Collective.
/// @throws InvalidArgument on every rank for a row out of range or given twice, and if the file cannot be written
std::unique_ptr<OutputFile> prepare_matrix(const Communicator& comm, const std::string& path, MatrixShape shape, const MatrixRows& mine,
                                           MatrixForm form);

/// Shape of a matrix in a file of either form, by its contents; a one-dimensional .npy is a column. Collective.
/// @throws InvalidArgument on every rank if the file is not a matrix
MatrixShape matrix_shape(const Communicator& comm, const std::string& path);

/// The rows with these numbers, in their order, from a file of either form; every rank may ask for any rows. They are written to room for
/// so many elements. Collective.
/// @throws InvalidArgument on every rank if the file is wrong, or a row is not in it
void read_matrix(const Communicator& comm, const std::string& path, std::span<const std::int64_t> rows, ElementType type,
                 const std::function<void*(std::int64_t count)>& room);

/// Likewise of float, double or std::int64_t.
template <class T>
std::vector<T> read_matrix(const Communicator& comm, const std::string& path, std::span<const std::int64_t> rows) {
    std::vector<T> result;
    read_matrix(comm, path, rows, element_type_of<T>(), [&](std::int64_t count) {
        result.resize(count);
        return result.data();
    });
    return result;
}

/// Refuses numbers that are none of rows of a matrix. Local. @param path  begins the message  @throws InvalidArgument
void check_row_numbers(const std::string& path, std::int64_t rows, std::span<const std::int64_t> numbers);

}  // namespace arges::io
