/// Kruskal tensors in a folder: lambda, mode_1 ... mode_N, and description.json. A factor of which most rows are empty is written without
/// them, beside the numbers of those that are there (mode_1_rows).
#pragma once

#include "io/model/matrix_files.hpp"

namespace arges::io {

/// A factor of so many rows or more, of which fewer than half are given, is written with the list of their numbers.
inline constexpr std::int64_t shortest_listed = 100'000;
bool is_listed(std::int64_t length, std::int64_t given);

/// This rank's rows of the factors, and the weights, which every rank has.
struct KruskalRows {
    MatrixRows weights;                 ///< lambda, by component
    std::vector<std::int64_t> lengths;  ///< of the modes: rows of the factors
    std::vector<MatrixRows> factors;    ///< by mode; the rows have one value for each component
    std::vector<MatrixRows> biases{};   ///< by mode, one value for each row of the factor; none: there are no biases
    double mean = 0;                    ///< beside biases
};

/// What a folder holds.
struct KruskalShape {
    MatrixForm form = MatrixForm::npy;
    std::vector<std::int64_t> lengths{};  ///< of the modes
    std::int64_t components = 0;
    std::int64_t weight_rows = 0;          ///< of the matrix of lambda: all components, or 1 with all of them
    std::vector<std::string> paths{};      ///< of lambda, then of the factors by mode
    std::vector<std::string> row_lists{};  ///< by mode: the file with the numbers of the factor's rows, ascending; empty: it has all rows
    std::vector<std::int64_t> rows{};      ///< by mode: of the factor's file
    std::vector<std::string> biases{};     ///< by mode: the file with the biases of the factor's rows; none: there are no biases
    double mean = 0;                       ///< beside biases
};

/// Writes all files, and makes the folder if there is none. The step from an older set of files to this one is a single
/// renaming, of description.json, which comes when all other files are complete and before they get their names: whatever
/// happens, kruskal_shape() finds one set or the other. Removes what killed writers left. Collective.
/// @throws InvalidArgument on every rank
void write_kruskal(const Communicator& comm, const std::string& folder, const KruskalRows& mine, MatrixForm form);

/// Finds what is in a folder, and checks that it fits together: by the checksums in description.json, or, where there is no
/// such file, by the shapes of the files with the usual names. Collective.
/// @throws InvalidArgument on every rank
KruskalShape kruskal_shape(const Communicator& comm, const std::string& folder);

}  // namespace arges::io
