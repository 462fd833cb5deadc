/// Writes small HDF5 files for other programs, with room for elements that ranks write themselves.
#pragma once

#include "io/file/hdf5_handle.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace arges::io {

/// The structure of a file of groups, attributes and datasets, written with the HDF5 of one process. Equal data give equal files. All calls
/// are local and throw InvalidArgument where the file cannot be written.
class Hdf5Writer {
public:
    /// Makes the file `temporary`, empty. @param path  its name in messages
    Hdf5Writer(const std::string& path, const std::string& temporary);

    /// A number as an attribute of a group, which is made where it is not there.
    void attribute(const std::string& group, const std::string& name, ElementType type, const void* value);
    /// Likewise.
    template <class T>
    void attribute(const std::string& group, const std::string& name, T value) {
        attribute(group, name, element_type_of<T>(), &value);
    }
    /// A text with the zero at its end, as an attribute of fixed length.
    void attribute(const std::string& group, const std::string& name, const std::string& text);
    /// A dataset of texts of variable length.
    void texts(const std::string& group, const std::string& name, const std::vector<std::string>& texts);
    /// A dataset whose elements lie in the file one after the other; the last extent varies fastest.
    void dataset(const std::string& group, const std::string& name, const std::vector<std::int64_t>& extents, ElementType element,
                 const void* elements);
    /// Likewise.
    template <class T>
    void dataset(const std::string& group, const std::string& name, const std::vector<std::int64_t>& extents,
                 const std::vector<T>& elements) {
        dataset(group, name, extents, element_type_of<T>(), elements.data());
    }
    /// Room for the elements of such a dataset. Returns the number of bytes before its first element.
    std::int64_t room(const std::string& group, const std::string& name, const NumberType& type, const std::vector<std::int64_t>& extents);
    /// Ends the file.
    void close();

private:
    void check(bool is_done) const;
    Hdf5Handle checked(Hdf5Handle handle) const;
    Hdf5Handle group_at(const std::string& name) const;
    void write_attribute(const std::string& group, const std::string& name, hid_t type, const void* value) const;
    Hdf5Handle make_dataset(const std::string& group, const std::string& name, hid_t type, const std::vector<std::int64_t>& extents,
                            bool contiguous) const;

    std::string path_;
    Hdf5Handle file_;
};

}  // namespace arges::io
