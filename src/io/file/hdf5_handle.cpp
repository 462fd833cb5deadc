#include "io/file/hdf5_handle.hpp"

#include "arges/error.hpp"

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <string_view>

namespace arges::io {

QuietHdf5::QuietHdf5() {
    H5Eget_auto2(H5E_DEFAULT, &print_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}
QuietHdf5::~QuietHdf5() { H5Eset_auto2(H5E_DEFAULT, print_, data_); }

void throw_hdf5(const std::string& path, const std::string& what, const std::string& cure) {
    std::string reason;
    const auto take_first = [](unsigned, const H5E_error2_t* error, void* text) {
        auto& first = *static_cast<std::string*>(text);
        if (first.empty() && error->desc != nullptr) first = error->desc;
        return herr_t{0};
    };
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_first, &reason);
    H5Eclear2(H5E_DEFAULT);
    throw InvalidArgument(path + ": " + what + (reason.empty() ? "" : " (HDF5: " + reason + ")") + "; " + cure);
}

std::optional<std::vector<std::int64_t>> hdf5_extents(const Hdf5Handle& space) {
    if (H5Sget_simple_extent_type(space.id()) == H5S_NULL) return std::nullopt;
    const int order = H5Sget_simple_extent_ndims(space.id());
    if (order < 0) return std::nullopt;
    std::vector<hsize_t> lengths(order);
    H5Sget_simple_extent_dims(space.id(), lengths.data(), nullptr);
    return std::vector<std::int64_t>(lengths.begin(), lengths.end());
}

namespace {

hid_t real_type(int bytes, bool is_swapped) {
    if (bytes == 4) return is_swapped ? H5T_IEEE_F32BE : H5T_IEEE_F32LE;
    return is_swapped ? H5T_IEEE_F64BE : H5T_IEEE_F64LE;
}

std::optional<NumberType> integer_type_of(hid_t type) {
    const auto bytes = H5Tget_size(type);
    if ((bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8) || H5Tget_precision(type) != 8 * bytes) return std::nullopt;
    return NumberType{H5Tget_sign(type) == H5T_SGN_NONE ? 'u' : 'i', static_cast<int>(bytes), H5Tget_order(type) == H5T_ORDER_BE};
}

std::optional<NumberType> real_type_of(hid_t type) {
    for (int bytes : {4, 8})
        for (bool is_swapped : {false, true})
            if (H5Tequal(type, real_type(bytes, is_swapped)) > 0) return NumberType{'f', bytes, is_swapped};
    return std::nullopt;
}

bool has_member(hid_t type, unsigned number, std::initializer_list<std::string_view> names, std::size_t offset) {
    char* const found = H5Tget_member_name(type, number);
    const bool result = found != nullptr && std::find(names.begin(), names.end(), std::string_view(found)) != names.end() &&
                        H5Tget_member_offset(type, number) == offset;
    H5free_memory(found);
    return result;
}

/// A compound of two real numbers called r and i, or as other programs call them.
std::optional<NumberType> complex_type_of(hid_t type) {
    if (H5Tget_nmembers(type) != 2) return std::nullopt;
    const Hdf5Handle first(H5Tget_member_type(type, 0), H5Tclose), second(H5Tget_member_type(type, 1), H5Tclose);
    const auto part = real_type_of(first.id());
    if (!part || real_type_of(second.id()) != part) return std::nullopt;
    const std::size_t bytes = part->bytes;
    if (H5Tget_size(type) != 2 * bytes || !has_member(type, 0, {"r", "re", "real", "Real"}, 0) ||
        !has_member(type, 1, {"i", "im", "imag", "imaginary", "Imag"}, bytes))
        return std::nullopt;
    return NumberType{'c', 2 * part->bytes, part->is_swapped};
}

}  // namespace

Hdf5Handle hdf5_type(const NumberType& type) {
    if (type.kind == 'i' || type.kind == 'u') {
        Hdf5Handle result(H5Tcopy(type.kind == 'u' ? H5T_STD_U64LE : H5T_STD_I64LE), H5Tclose);
        H5Tset_size(result.id(), static_cast<std::size_t>(type.bytes));
        H5Tset_order(result.id(), type.is_swapped ? H5T_ORDER_BE : H5T_ORDER_LE);
        return result;
    }
    if (!type.is_complex()) return {H5Tcopy(real_type(type.bytes, type.is_swapped)), H5Tclose};
    const std::size_t part = type.bytes / 2;
    Hdf5Handle result(H5Tcreate(H5T_COMPOUND, 2 * part), H5Tclose);
    H5Tinsert(result.id(), "r", 0, real_type(type.bytes / 2, type.is_swapped));
    H5Tinsert(result.id(), "i", part, real_type(type.bytes / 2, type.is_swapped));
    return result;
}

std::optional<NumberType> number_type_of(hid_t type) {
    switch (H5Tget_class(type)) {
    case H5T_FLOAT: return real_type_of(type);
    case H5T_INTEGER: return integer_type_of(type);
    case H5T_COMPOUND: return complex_type_of(type);
    default: return std::nullopt;
    }
}

Hdf5Handle open_hdf5(const std::string& path) {
    const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    // A finished file does not change, and some file systems of clusters have no locks.
    H5Pset_file_locking(access.id(), false, true);
    return {H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.id()), H5Fclose};
}

}  // namespace arges::io
