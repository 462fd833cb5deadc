/// Datasets in HDF5 files of other programs.
#pragma once

#include "io/file/hdf5_handle.hpp"
#include "io/file/parallel_file.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace arges::io {

/// Where and what a dataset is.
struct Hdf5Array {
    std::string name;  ///< path in the file
    NumberType type;
    std::vector<std::int64_t> extents;  ///< of the axes; the last varies fastest
    std::int64_t data = -1;             ///< where the elements begin, if they lie in the file one after the other; else -1
};

/// True if a file begins as HDF5 files do, perhaps behind a user block. Local.
bool is_hdf5(const InputFile& file);

/// Finds a dataset by its path in the file, or the only one if `name` is empty. Local.
/// @throws InvalidArgument if the file is damaged, has no such dataset or several, or elements that are not numbers
Hdf5Array find_hdf5_array(const std::string& path, const std::string& name);

/// Paths of all datasets of a file, in the order of names. Local. @throws InvalidArgument if the file is damaged
std::vector<std::string> hdf5_dataset_names(const std::string& path);

/// The number that is stored with a group or dataset as an attribute; nothing if one of them is not there. Local.
/// @param T  std::int64_t or double
/// @throws InvalidArgument if the file is damaged, or the attribute is no such number
template <class T>
std::optional<T> find_hdf5_attribute(const std::string& path, const std::string& object, const std::string& name);

/// The texts of a dataset, of fixed or variable length, in the order of the file. Local. For small datasets.
/// @throws InvalidArgument if the file is damaged, or has no such dataset of texts
std::vector<std::string> hdf5_texts(const std::string& path, const std::string& name);

/// Reads elements of an array: from their place in the file, or through HDF5 where that has them in chunks, perhaps compressed.
class ArrayReader {
public:
    static constexpr std::size_t default_chunk_cache = std::size_t{1} << 26;

    /// Local; a rank that needs HDF5 opens the file by itself. `file` must outlive the reader. @throws InvalidArgument if that fails
    /// @param chunk_cache  bytes that HDF5 may keep of chunks; larger ones that are not compressed are read in parts
    ArrayReader(const InputFile& file, const Hdf5Array& array, std::size_t chunk_cache = default_chunk_cache);
    /// Reads elements [first, first + count) in the order of the file as those of a type, see convert_numbers(). Local.
    /// @throws InvalidArgument if the file is damaged or needs a filter that HDF5 does not have here
    void read(std::int64_t first, std::int64_t count, ElementType type, void* elements);

private:
    void read_by_hdf5(std::int64_t first, std::int64_t count, std::byte* numbers) const;

    const InputFile& file_;
    Hdf5Array array_;
    Hdf5Handle hdf5_, data_, type_;  // where the elements have no place of their own
    std::vector<std::byte> numbers_;
};

}  // namespace arges::io
