#include "io/file/hdf5_dataset.hpp"

#include "arges/error.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <type_traits>

namespace arges::io {

namespace {

constexpr char copy_again[] = "copy or make the file again";

Hdf5Handle opened(const std::string& path) {
    auto file = open_hdf5(path);
    if (!file) throw_hdf5(path, "the HDF5 file is truncated or damaged", copy_again);
    return file;
}

/// Paths of all datasets, in the order of names.
std::vector<std::string> dataset_names(const std::string& path, const Hdf5Handle& file) {
    std::vector<std::string> names;
    const auto note = [](hid_t, const char* name, const H5O_info_t* info, void* list) {
        if (info->type == H5O_TYPE_DATASET) static_cast<std::vector<std::string>*>(list)->push_back(std::string("/") + name);
        return herr_t{0};
    };
    if (H5Ovisit2(file.id(), H5_INDEX_NAME, H5_ITER_INC, note, &names, H5O_INFO_BASIC) < 0)
        throw_hdf5(path, "the names in the HDF5 file cannot be read", copy_again);
    return names;
}

std::string first_of(const std::vector<std::string>& names) {
    constexpr std::size_t most = 8;
    return joined(std::span(names).first(std::min(most, names.size()))) + (names.size() > most ? ", ..." : "");
}

std::string the_only_name(const std::string& path, const Hdf5Handle& file) {
    const auto names = dataset_names(path, file);
    if (names.empty()) throw InvalidArgument(path + ": there is no dataset in the HDF5 file; check how it was made");
    if (names.size() > 1)
        throw InvalidArgument(path + ": there are " + std::to_string(names.size()) + " datasets in the HDF5 file (" + first_of(names) +
                              "); name one, for example " + path + ":" + names.front());
    return names.front();
}

Hdf5Handle open_dataset(const std::string& path, const Hdf5Handle& file, const std::string& name, std::size_t chunk_cache) {
    const Hdf5Handle access(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose);
    H5Pset_chunk_cache(access.id(), H5D_CHUNK_CACHE_NSLOTS_DEFAULT, chunk_cache, H5D_CHUNK_CACHE_W0_DEFAULT);
    Hdf5Handle data(H5Dopen2(file.id(), name.c_str(), access.id()), H5Dclose);
    if (!data) {
        const auto names = dataset_names(path, file);
        throw_hdf5(path, "there is no dataset " + name, names.empty() ? "the file has none" : "the file has " + first_of(names));
    }
    return data;
}

/// Begin and length along each axis.
struct Block {
    std::vector<hsize_t> start, length;
    std::int64_t count = 0;
};

/// The largest block that begins at element `first` and lies in [first, end): some of one axis, all of those behind it.
Block next_block(const std::vector<std::int64_t>& extents, std::int64_t first, std::int64_t end) {
    Block block;
    std::int64_t stride = 1;
    for (auto n : extents) stride *= n;
    auto rest = first;
    for (auto n : extents) {
        stride /= n;
        const auto index = rest / stride;
        rest %= stride;
        block.start.push_back(static_cast<hsize_t>(index));
        block.length.push_back(1);
        if (rest != 0 || end - first < stride) continue;
        const auto steps = std::min(n - index, (end - first) / stride);
        block.length.back() = static_cast<hsize_t>(steps);
        block.count = steps * stride;
        break;
    }
    for (auto d = block.start.size(); d < extents.size(); ++d) {
        block.start.push_back(0);
        block.length.push_back(static_cast<hsize_t>(extents[d]));
    }
    return block;
}

}  // namespace

bool is_hdf5(const InputFile& file) {
    constexpr char signature[] = "\x89HDF\r\n\x1a\n";
    char here[8];
    for (std::int64_t at = 0; at < file.size(); at = at == 0 ? 512 : 2 * at)
        if (file.read(at, here, sizeof here) == sizeof here && std::memcmp(here, signature, sizeof here) == 0) return true;
    return false;
}

Hdf5Array find_hdf5_array(const std::string& path, const std::string& name) {
    const auto file = opened(path);
    Hdf5Array array;
    array.name = name.empty() ? the_only_name(path, file) : name;
    const auto data = open_dataset(path, file, array.name, ArrayReader::default_chunk_cache);
    const Hdf5Handle type(H5Dget_type(data.id()), H5Tclose);
    const auto number_type = number_type_of(type.id());
    const auto extents = hdf5_extents({H5Dget_space(data.id()), H5Sclose});
    if (!number_type || !extents)
        throw_hdf5(path, "the elements of dataset " + array.name + " are not numbers that can be read",
                   "store float32, float64, integers, or complex numbers with the parts r and i (or real and imag)");
    array.type = *number_type;
    array.extents = *extents;
    const auto offset = H5Dget_offset(data.id());
    if (offset != HADDR_UNDEF) array.data = offset;
    return array;
}

std::vector<std::string> hdf5_dataset_names(const std::string& path) { return dataset_names(path, opened(path)); }

std::vector<std::string> hdf5_texts(const std::string& path, const std::string& name) {
    const auto file = opened(path);
    const auto data = open_dataset(path, file, name, 0);
    const Hdf5Handle type(H5Dget_type(data.id()), H5Tclose), space(H5Dget_space(data.id()), H5Sclose);
    const auto count = H5Sget_simple_extent_npoints(space.id());
    const auto fail = [&] { throw_hdf5(path, "the elements of dataset " + name + " are not texts that can be read", copy_again); };
    if (H5Tget_class(type.id()) != H5T_STRING || count < 0) fail();
    std::vector<std::string> result;
    if (H5Tis_variable_str(type.id()) > 0) {
        std::vector<char*> texts(count, nullptr);
        if (H5Dread(data.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, texts.data()) < 0) fail();
        for (const char* text : texts) result.emplace_back(text == nullptr ? "" : text);
        H5Dvlen_reclaim(type.id(), space.id(), H5P_DEFAULT, texts.data());
        return result;
    }
    const auto length = H5Tget_size(type.id());
    std::string texts(static_cast<std::size_t>(count) * length, '\0');
    if (H5Dread(data.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, texts.data()) < 0) fail();
    for (std::int64_t i = 0; i < count; ++i) {
        const auto text = texts.substr(i * length, length);
        result.push_back(text.substr(0, text.find('\0')));
    }
    return result;
}

template <class T>
std::optional<T> find_hdf5_attribute(const std::string& path, const std::string& object, const std::string& name) {
    const auto file = opened(path);
    if (H5Lexists(file.id(), object.c_str(), H5P_DEFAULT) <= 0 ||
        H5Aexists_by_name(file.id(), object.c_str(), name.c_str(), H5P_DEFAULT) <= 0)
        return std::nullopt;
    const Hdf5Handle held(H5Aopen_by_name(file.id(), object.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
    const Hdf5Handle type(H5Aget_type(held.id()), H5Tclose), space(H5Aget_space(held.id()), H5Sclose);
    const auto kind = H5Tget_class(type.id());
    constexpr bool is_integer = std::is_integral_v<T>;
    T value{};
    if ((kind != H5T_INTEGER && (is_integer || kind != H5T_FLOAT)) || H5Sget_simple_extent_npoints(space.id()) != 1 ||
        H5Aread(held.id(), is_integer ? H5T_NATIVE_INT64 : H5T_NATIVE_DOUBLE, &value) < 0)
        throw_hdf5(path, "attribute " + name + " of " + object + " is not one " + (is_integer ? "integer" : "real number"), copy_again);
    return value;
}
template std::optional<std::int64_t> find_hdf5_attribute(const std::string&, const std::string&, const std::string&);
template std::optional<double> find_hdf5_attribute(const std::string&, const std::string&, const std::string&);

ArrayReader::ArrayReader(const InputFile& file, const Hdf5Array& array, std::size_t chunk_cache) : file_(file), array_(array) {
    if (array.data >= 0) return;
    hdf5_ = opened(file.path());
    data_ = open_dataset(file.path(), hdf5_, array.name, chunk_cache);
    type_ = {H5Dget_type(data_.id()), H5Tclose};  // bytes as they are, whatever the parts of complex numbers are called
}

void ArrayReader::read(std::int64_t first, std::int64_t count, ElementType type, void* elements) {
    if (count == 0) return;
    numbers_.resize(count * array_.type.bytes);
    if (array_.data >= 0)
        file_.read_exactly(array_.data + first * array_.type.bytes, numbers_.data(), numbers_.size());
    else
        read_by_hdf5(first, count, numbers_.data());
    convert_numbers(array_.type, numbers_.data(), count, type, elements);
}

void ArrayReader::read_by_hdf5(std::int64_t first, std::int64_t count, std::byte* numbers) const {
    for (auto end = first + count; first < end;) {
        const Hdf5Handle there(H5Dget_space(data_.id()), H5Sclose);
        hsize_t length = 1;
        if (!array_.extents.empty()) {
            const auto block = next_block(array_.extents, first, end);
            H5Sselect_hyperslab(there.id(), H5S_SELECT_SET, block.start.data(), nullptr, block.length.data(), nullptr);
            length = static_cast<hsize_t>(block.count);
        }
        const Hdf5Handle here(H5Screate_simple(1, &length, nullptr), H5Sclose);
        if (H5Dread(data_.id(), type_.id(), here.id(), there.id(), H5P_DEFAULT, numbers) < 0)
            throw_hdf5(file_.path(), "dataset " + array_.name + " cannot be read",
                       "check that HDF5 has the filters it was stored with, or copy it again");
        first += static_cast<std::int64_t>(length);
        numbers += length * static_cast<hsize_t>(array_.type.bytes);
    }
}

}  // namespace arges::io
