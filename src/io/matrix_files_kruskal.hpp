/// Kruskal tensors in a folder: lambda, mode_1 ... mode_N, and description.json.
#pragma once

#include "io/matrix_files.hpp"

namespace arges::io {

/// This rank's rows of the factors, and the weights, which every rank has.
template <class T>
struct KruskalRows {
    std::span<const T> weights;              ///< lambda, by component
    std::vector<std::int64_t> lengths;       ///< of the modes: rows of the factors
    std::vector<MatrixRows<T>> factors;      ///< by mode; the rows have one value for each component
};

/// What a folder holds.
struct KruskalShape {
    MatrixForm form = MatrixForm::npy;
    std::vector<std::int64_t> lengths{};  ///< of the modes
    std::int64_t components = 0;
};

/// Path of lambda (mode 0) or of the factor of a mode, counted from 1.
std::string kruskal_path(const std::string& folder, int mode, MatrixForm form);

/// Writes all files, and makes the folder if there is none. Files get their names when all are complete, so that an older set
/// stays as it is if anything fails before. Collective.
/// @throws InvalidArgument on every rank
template <class T>
void write_kruskal(const Communicator& comm, const std::string& folder, const KruskalRows<T>& mine, MatrixForm form);

/// Finds what is in a folder, and checks that it fits together. Collective.
/// @throws InvalidArgument on every rank
KruskalShape kruskal_shape(const Communicator& comm, const std::string& folder);

}  // namespace arges::io
