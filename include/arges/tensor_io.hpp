/// @file tensor_io.hpp
/// Dense tensors in files of other programs: NumPy's .npy and datasets of HDF5.
#pragma once

#include "arges/element_type.hpp"
#include "arges/tensor.hpp"
#include "arges/world.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace arges {

/// What a file of a dense tensor holds. The same on every rank.
struct TensorFileInfo {
    std::string form;                   ///< ".npy", "HDF5" or "checkpoint"
    std::string dataset;                ///< path of the dataset in an HDF5 file, else empty
    std::string element;                ///< type of the elements in the file, as NumPy calls it: "float64", "int32", "complex64"
    std::vector<std::int64_t> extents;  ///< length of each dimension
    bool is_complex = false;            ///< true if only tensors of complex elements can take it
};

/// True if the file is a .npy or HDF5 file by its beginning or its name; `path` may end in ":/name" of a dataset. Collective.
/// @throws InvalidArgument on every rank if the file is missing, empty, or cannot be read
bool is_tensor_file(const World& world, const std::string& path);

/// What is in a file, without reading its elements. Collective.
/// @param world whose ranks look
/// @param path  as for read_tensor()
/// @throws InvalidArgument on every rank as read_tensor() does
TensorFileInfo tensor_file_info(const World& world, const std::string& path);

/// read_tensor() of a type that is known at run time.
AnyTensor read_tensor(ElementType type, const World& world, const std::string& path, const std::string& name = "");

/// Reads a dense tensor; the form is found from the contents, not from the name. Collective; every rank reads its ranges of the
/// file.
///
/// Axis d of the file's array is dimension d of the tensor: the element A[i, j, k] of NumPy or h5py is T(i, j, k), and its
/// first axis has the first label, in C and in Fortran order. Integers and numbers of other precision are rounded to T; real
/// numbers make a complex tensor with zero imaginary parts. A tensor of a checkpoint keeps its symmetry, and must have elements
/// of type T.
/// @param world where the elements will live
/// @param path  name of a .npy file; or of an HDF5 file with one dataset; or "file.h5:/group/name" for one dataset of several
/// @param name  of the tensor in messages; if empty, that of the file
/// @throws InvalidArgument on every rank if the file is missing, damaged, holds something else than numbers, or complex numbers
/// for
///         a real T; OutOfMemory if the tensor does not fit
template <class T>
Tensor<T> read_tensor(const World& world, const std::string& path, const std::string& name = "") {
    return Tensor<T>(read_tensor(element_type_of<T>(), world, path, name));
}

/// Writes the full tensor, without its symmetry, as a .npy file in Fortran order; axis d of the array is dimension d. All ranks
/// write their parts. The file appears under its name when it is complete, else not at all. Collective.
/// @throws InvalidArgument on every rank if the file cannot be written, or elements are of another type than float, double and complex
/// ones;
///         OutOfMemory if parts of a symmetric tensor do not fit unpacked
void write_npy(const AnyTensor& tensor, const std::string& path);

}  // namespace arges
