// Reads what is in a checkpoint, without elements.
#include "arges/error.hpp"
#include "io/checkpoint/checkpoint_contents.hpp"
#include "io/dense/tensor_files.hpp"
#include "io/file/hdf5_handle.hpp"
#include "io/file/parallel_file.hpp"
#include "symmetry/packed_node.hpp"

#include <algorithm>

namespace arges::io {

namespace {

constexpr char damaged[] = "use an older checkpoint, or copy the file again";

/// Reads parts of one file. What fails, fails because the file is damaged.
class ContentsReader {
public:
    explicit ContentsReader(const InputFile& file) : path_(file.path()), bytes_(file.size()) {}

    CheckpointContents read();

private:
    [[noreturn]] void fail(const std::string& what) const { throw_hdf5(path_, what, damaged); }
    /// Checks a handle that was made for something of that name.
    Hdf5Handle checked(Hdf5Handle handle, const std::string& what) const {
        if (!handle) fail("there is no " + what + ", so the checkpoint is damaged");
        return handle;
    }
    void check(bool is_right, const std::string& what) const {
        if (!is_right) fail(what + " is wrong, so the checkpoint is damaged");
    }
    Hdf5Handle attribute(const Hdf5Handle& object, const char* name) const {
        return checked({H5Aopen(object.id(), name, H5P_DEFAULT), H5Aclose}, "attribute " + std::string(name));
    }
    /// An attribute of so many dimensions, 0 or 1.
    std::vector<std::int64_t> numbers(const Hdf5Handle& object, const char* name, std::size_t dimensions) const;
    std::string text(const Hdf5Handle& object, const char* name) const;
    std::vector<std::string> names(const Hdf5Handle& group) const;
    StoredTensor tensor(const Hdf5Handle& group, const std::string& name) const;
    CheckpointValue value(const Hdf5Handle& group, const std::string& name) const;
    /// Bytes of a text of fixed length, within the file.
    std::size_t text_bytes(const Hdf5Handle& type) const {
        const auto bytes = H5Tget_class(type.id()) == H5T_STRING && H5Tis_variable_str(type.id()) == 0 ? H5Tget_size(type.id()) : 0;
        check(bytes > 0 && static_cast<std::int64_t>(bytes) <= bytes_, "a text");
        return bytes;
    }

    std::string path_;
    std::int64_t bytes_;
};

/// Cuts off the zeros that fill up a text.
std::string unfilled(std::string text) {
    text.resize(std::min(text.size(), text.find('\0')));
    return text;
}

std::vector<std::int64_t> ContentsReader::numbers(const Hdf5Handle& object, const char* name, std::size_t dimensions) const {
    const auto held = attribute(object, name);
    const auto length = hdf5_extents(Hdf5Handle(H5Aget_space(held.id()), H5Sclose));
    check(length && length->size() == dimensions && (dimensions == 0 || length->front() <= bytes_), "attribute " + std::string(name));
    std::vector<std::int64_t> result(dimensions == 0 ? 1 : length->front());
    check(result.empty() || H5Aread(held.id(), H5T_NATIVE_INT64, result.data()) >= 0, "attribute " + std::string(name));
    return result;
}

std::string ContentsReader::text(const Hdf5Handle& object, const char* name) const {
    const auto held = attribute(object, name);
    const Hdf5Handle type(H5Aget_type(held.id()), H5Tclose), space(H5Aget_space(held.id()), H5Sclose);
    std::string result(text_bytes(type), '\0');
    check(H5Sget_simple_extent_npoints(space.id()) == 1 && H5Aread(held.id(), type.id(), result.data()) >= 0,
          "attribute " + std::string(name));
    return unfilled(result);
}

std::vector<std::string> ContentsReader::names(const Hdf5Handle& group) const {
    H5G_info_t info{};
    check(H5Gget_info(group.id(), &info) >= 0, "a group");
    std::vector<std::string> result;
    for (hsize_t i = 0; i < info.nlinks; ++i) {
        const auto by_name = [&](char* text, std::size_t bytes) {
            return H5Lget_name_by_idx(group.id(), ".", H5_INDEX_NAME, H5_ITER_INC, i, text, bytes, H5P_DEFAULT);
        };
        const auto length = by_name(nullptr, 0);
        check(length > 0 && length <= bytes_, "a name");
        std::string name(length, '\0');
        check(by_name(name.data(), name.size() + 1) == length, "a name");
        result.push_back(name);
    }
    return result;
}

StoredTensor ContentsReader::tensor(const Hdf5Handle& group, const std::string& name) const {
    const auto data = checked({H5Dopen2(group.id(), name.c_str(), H5P_DEFAULT), H5Dclose}, "dataset of tensor \"" + name + "\"");
    const auto title = "tensor \"" + name + "\"";
    StoredTensor result;
    auto& shape = result.shape;
    shape.name = name;
    shape.extents = numbers(data, "extents", 1);
    result.checksum = numbers(data, "checksum", 0)[0];
    const Hdf5Handle type(H5Dget_type(data.id()), H5Tclose);
    const auto number_type = number_type_of(type.id());
    check(number_type.has_value(), title);
    bool is_known = false;
    for (auto element : {ElementType::float32, ElementType::float64, ElementType::complex64, ElementType::complex128})
        if (number_type_of(element) == *number_type) shape.element = element, is_known = true;
    check(is_known, "the type of " + title);
    std::int64_t packed = 1;
    try {
        shape.symmetry = symmetry_of_text(text(data, "symmetry"), shape.extents.size());
        for (const auto& slot : shape.symmetry.slots()) packed *= PackedNode(slot, shape.extents, false).size();
    } catch (const InvalidArgument& error) {
        fail(title + ": " + error.what());
    }
    const auto length = hdf5_extents(Hdf5Handle(H5Dget_space(data.id()), H5Sclose));
    check(length == std::vector<std::int64_t>{packed}, "the length of " + title);
    shape.packed_size = packed;
    if (packed == 0) return result;
    const auto offset = H5Dget_offset(data.id());
    check(offset != HADDR_UNDEF && packed <= (bytes_ - static_cast<std::int64_t>(offset)) / number_type->bytes, "the place of " + title);
    result.offset = offset;
    return result;
}

CheckpointValue ContentsReader::value(const Hdf5Handle& group, const std::string& name) const {
    const auto title = "value \"" + name + "\"";
    const auto data = checked({H5Dopen2(group.id(), name.c_str(), H5P_DEFAULT), H5Dclose}, title);
    const Hdf5Handle type(H5Dget_type(data.id()), H5Tclose), space(H5Dget_space(data.id()), H5Sclose);
    const auto length = hdf5_extents(space);
    check(length && length->size() <= 1, title);
    const auto read = [&](hid_t memory, void* to) { check(H5Dread(data.id(), memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, to) >= 0, title); };
    if (length->size() == 1) {
        check(H5Tget_class(type.id()) == H5T_FLOAT && length->front() <= bytes_, title);
        std::vector<double> result(length->front());
        if (!result.empty()) read(H5T_NATIVE_DOUBLE, result.data());
        return result;
    }
    if (H5Tget_class(type.id()) == H5T_STRING) {
        std::string result(text_bytes(type), '\0');
        read(type.id(), result.data());
        return unfilled(result);
    }
    if (H5Tget_class(type.id()) == H5T_INTEGER) {
        std::int64_t result = 0;
        read(H5T_NATIVE_INT64, &result);
        return result;
    }
    double result = 0;
    read(H5T_NATIVE_DOUBLE, &result);
    return result;
}

CheckpointContents ContentsReader::read() {
    const auto file = open_hdf5(path_);
    if (!file) fail("HDF5 cannot open the checkpoint");
    const Hdf5Handle root(H5Gopen2(file.id(), "/", H5P_DEFAULT), H5Gclose);
    if (!root || H5Aexists(root.id(), "format") <= 0 || text(root, "format") != CheckpointContents::format)
        fail("the HDF5 file is no checkpoint");
    if (const auto version = numbers(root, "version", 0)[0]; version != CheckpointContents::version)
        throw InvalidArgument(path_ + ": a checkpoint of version " + std::to_string(version) + ", but only version " +
                              std::to_string(CheckpointContents::version) + " is known here; use the Arges that wrote it");
    CheckpointContents contents;
    const auto tensors = checked({H5Gopen2(file.id(), "tensors", H5P_DEFAULT), H5Gclose}, "group of tensors");
    for (const auto& name : names(tensors)) contents.tensors[name] = tensor(tensors, name);
    const auto values = checked({H5Gopen2(file.id(), "values", H5P_DEFAULT), H5Gclose}, "group of values");
    for (const auto& name : names(values)) contents.values[name] = value(values, name);
    return contents;
}

}  // namespace

CheckpointContents read_contents(const InputFile& file) {
    verify_seal(file);
    return ContentsReader(file).read();
}

}  // namespace arges::io
