/// Owned identifiers of HDF5, its errors as exceptions, and its types of numbers.
#pragma once

#include "io/file/number_type.hpp"

#include <hdf5.h>

#include <optional>
#include <string>
#include <utility>

namespace arges::io {

/// HDF5 prints no errors while one of these lives.
class QuietHdf5 {
public:
    QuietHdf5();
    ~QuietHdf5();
    QuietHdf5(const QuietHdf5&) = delete;
    QuietHdf5& operator=(const QuietHdf5&) = delete;

private:
    H5E_auto2_t print_ = nullptr;
    void* data_ = nullptr;
};

/// Throws InvalidArgument "path: what (the reason that HDF5 gives last); cure".
[[noreturn]] void throw_hdf5(const std::string& path, const std::string& what, const std::string& cure);

/// An identifier that is closed at the end.
class Hdf5Handle {
public:
    using Close = herr_t (*)(hid_t);

    Hdf5Handle() = default;
    Hdf5Handle(hid_t id, Close closer) : id_(id), close_(closer) {}
    Hdf5Handle(Hdf5Handle&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)), close_(other.close_) {}
    Hdf5Handle& operator=(Hdf5Handle&& other) noexcept {
        std::swap(id_, other.id_);
        std::swap(close_, other.close_);
        return *this;
    }
    ~Hdf5Handle() { close(); }

    hid_t id() const { return id_; }
    /// False where the call that should have made it failed.
    explicit operator bool() const { return id_ >= 0; }
    /// Closes now. Returns false if HDF5 reports an error.
    bool close() {
        const auto id = std::exchange(id_, H5I_INVALID_HID);
        return id < 0 || close_(id) >= 0;
    }

private:
    hid_t id_ = H5I_INVALID_HID;
    Close close_ = nullptr;
};

/// Length of an attribute, dataset or other dataspace: the extents; nothing for one without elements by kind (null).
std::optional<std::vector<std::int64_t>> hdf5_extents(const Hdf5Handle& space);

/// The type of HDF5 for numbers; complex numbers have the parts r and i, as in h5py.
Hdf5Handle hdf5_type(const NumberType& type);
/// What a type of a file is; nothing if it is no type of number that can be read.
std::optional<NumberType> number_type_of(hid_t type);

/// Opens a file for reading by this process alone. Local; without an error, check the result.
Hdf5Handle open_hdf5(const std::string& path);

}  // namespace arges::io
