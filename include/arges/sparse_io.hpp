/// @file sparse_io.hpp
/// Sparse tensors in files: text (.tns, .tns.gz), MatrixMarket (.mtx, .mtx.gz) and binary (.atns, and SPLATT's .bin for reading).
#pragma once

#include "arges/element_type.hpp"
#include "arges/sparse_tensor.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace arges {

/// What the first index of a mode is called in a text file.
enum class IndexBase {
    detect,  ///< zero if an index 0 occurs in any mode, else one (when writing: one)
    zero,    ///< 0
    one,     ///< 1
};

/// How to read a sparse tensor.
struct SparseReadOptions {
    IndexBase base = IndexBase::detect;       ///< for text; MatrixMarket counts from 1 and binary forms from 0 by themselves
    std::vector<std::int64_t> lengths{};      ///< expected; if not given, text has the largest index of each mode
    Duplicates duplicates = Duplicates::sum;  ///< what to do with several values for one element; mean: of values that are not whole
                                              ///< numbers by their type
    std::string name{};                       ///< of the tensor; if empty, that of the file
    /// Called on each rank for itself while text is read, with the part that is done, from 0 to 1.
    std::function<void(double done)> progress{};
};

/// What reading found. The same on every rank.
struct ReadReport {
    std::string form;                           ///< "text", "gzip text", "MatrixMarket", "gzip MatrixMarket", "binary" or "SPLATT binary"
    std::int64_t bytes = 0;                     ///< of the file
    std::int64_t lines = 0;                     ///< of text, with comments and blank lines
    int index_base = 0;                         ///< 0 or 1: what the file calls the first index
    std::int64_t entries = 0;                   ///< values in the file, and those that the symmetry of a MatrixMarket file implies
    std::int64_t duplicates = 0;                ///< of these, merged into another one for the same element
    std::vector<std::int64_t> lengths;          ///< of the modes
    std::vector<std::int64_t> nonempty_slices;  ///< by mode
};

/// A sparse tensor that was read, with the report.
template <class T>
struct SparseFile {
    SparseTensor<T> tensor;  ///< its nonzeros are in file order, in equal parts by rank
    ReadReport report;       ///< what was found
};

/// read_sparse() of a type that is known at run time; what was found is in `report`.
AnyTensor read_sparse(ElementType type, const World& world, const std::string& path, const SparseReadOptions& options, ReadReport& report);

/// Reads a sparse tensor; every rank reads its part of the file (of gzip text, rank 0 inflates). The form is found from the
/// contents; a file that has another one by its name (.mtx, .atns) is refused. Collective.
///
/// Text has a nonzero on each line: its indices and its value, separated by blanks or tabs. Blank lines and what follows a # do not
/// count. Nothing says where text ends; all other forms are refused where something is missing.
///
/// A MatrixMarket file in coordinate format, known by its name or its first line, has a matrix. The values of a pattern are 1; a file that
/// is symmetric, skew-symmetric or hermitian gives the elements of both triangles.
/// @tparam T  float or double; for text and MatrixMarket also std::int64_t, bool (true for any number but 0) or std::complex<double>
/// @throws InvalidArgument on every rank if the file cannot be read or is wrong: with the number of the first wrong line of
///         text, and if T does not hold the values; OutOfMemory if the nonzeros of a rank are over the limit
template <class T>
SparseFile<T> read_sparse(const World& world, const std::string& path, const SparseReadOptions& options = {}) {
    SparseFile<T> result;
    result.tensor = SparseTensor<T>(read_sparse(element_type_of<T>(), world, path, options, result.report));
    return result;
}

/// Writes a sparse tensor in the form that the name asks for: .tns or .txt text, .tns.gz or .gz compressed text, .atns binary; a matrix
/// also .mtx or .mtx.gz, MatrixMarket (coordinate, general). Nonzeros are in the order of ranks. Numbers have the shortest text that is
/// read back to the same value. The file appears under its name when it is complete, else not at all. Collective.
/// @param tensor  of float or double; std::int64_t or bool (0 and 1) for text and MatrixMarket; std::complex<double> for MatrixMarket
/// @param path    name of the file
/// @param base    what the first index is called
/// @throws InvalidArgument on every rank for another name, for a form that has no such tensor, or if the file cannot be written
void write_sparse(const AnyTensor& tensor, const std::string& path, IndexBase base = IndexBase::one);

/// Throws InvalidArgument if write_sparse() would not know the form from this name. Local.
void check_sparse_name(const std::string& path);

/// The tensor without empty slices, and for each mode the indices that its slices had.
template <class T>
struct CompactTensor {
    SparseTensor<T> tensor;  ///< lengths are the numbers of nonempty slices
    /// By mode: this rank's part of the map; parts follow each other by rank. With 3, 7 and 8 nonempty, the map is 3, 7, 8.
    std::vector<std::vector<std::int64_t>> maps;
};

/// @cond
AnyTensor compacted(const AnyTensor& tensor, std::vector<std::vector<std::int64_t>>& maps);
/// @endcond
/// Removes empty slices; the order of slices and of nonzeros stays. Collective.
/// @throws OutOfMemory on every rank, before anything is done, if the nonzeros without empty slices do not fit beside the tensor
template <class T>
CompactTensor<T> compacted(const SparseTensor<T>& tensor) {
    CompactTensor<T> result;
    result.tensor = SparseTensor<T>(compacted(tensor, result.maps));
    return result;
}

/// Writes a map of compacted(): one index on each line, counted from `base`. Collective.
void write_map(const World& world, const std::vector<std::int64_t>& map, const std::string& path, IndexBase base = IndexBase::one);

}  // namespace arges
