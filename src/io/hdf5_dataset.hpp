/// Datasets in HDF5 files of other programs.
#pragma once

#include "io/hdf5_handle.hpp"
#include "io/parallel_file.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace arges::io {

/// Where and what a dataset is.
struct Hdf5Array {
    std::string name;                   ///< path in the file
    NumberType type;
    std::vector<std::int64_t> extents;  ///< of the axes; the last varies fastest
    std::int64_t data = -1;             ///< where the elements begin, if they lie in the file one after the other; else -1
};

/// True if a file begins as HDF5 files do, perhaps behind a user block. Local.
bool is_hdf5(const InputFile& file);

/// Finds a dataset by its path in the file, or the only one if `name` is empty. Local.
/// @throws InvalidArgument if the file is damaged, has no such dataset or several, or elements that are not numbers
Hdf5Array find_hdf5_array(const std::string& path, const std::string& name);

/// A dataset that is read by HDF5 because it is in chunks, perhaps compressed, or has no place of its own.
class Hdf5Reader {
public:
    /// Local; each rank opens the file by itself. @throws InvalidArgument if that fails
    Hdf5Reader(const std::string& path, const Hdf5Array& array);
    /// Reads elements [first, first + count) in the order of the file, in the file's type. Local.
    /// @throws InvalidArgument if the file is damaged or needs a filter that HDF5 does not have here
    void read(std::int64_t first, std::int64_t count, std::byte* numbers) const;

private:
    std::string path_;
    Hdf5Array array_;
    Hdf5Handle file_, data_, type_;
};

}  // namespace arges::io
