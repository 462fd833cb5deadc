#include "io/file/hdf5_writer.hpp"

namespace arges::io {

namespace {

Hdf5Handle text_type(std::size_t length) {
    Hdf5Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
    H5Tset_size(type.id(), length);
    return type;
}

}  // namespace

Hdf5Writer::Hdf5Writer(const std::string& path, const std::string& temporary) : path_(path) {
    const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    H5Pset_file_locking(access.id(), false, true);  // the file is locked already, see OutputFile
    file_ = checked({H5Fcreate(temporary.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.id()), H5Fclose});
}

void Hdf5Writer::check(bool is_done) const {
    if (!is_done) throw_hdf5(path_, "the file cannot be written", "check that the folder may be written and has room");
}

Hdf5Handle Hdf5Writer::checked(Hdf5Handle handle) const {
    check(static_cast<bool>(handle));
    return handle;
}

Hdf5Handle Hdf5Writer::group_at(const std::string& name) const {
    if (H5Lexists(file_.id(), name.c_str(), H5P_DEFAULT) > 0) return checked({H5Gopen2(file_.id(), name.c_str(), H5P_DEFAULT), H5Gclose});
    return checked({H5Gcreate2(file_.id(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose});
}

void Hdf5Writer::write_attribute(const std::string& group, const std::string& name, hid_t type, const void* value) const {
    const auto place = group_at(group);
    const Hdf5Handle space(H5Screate(H5S_SCALAR), H5Sclose);
    const auto held = checked({H5Acreate2(place.id(), name.c_str(), type, space.id(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose});
    check(H5Awrite(held.id(), type, value) >= 0);
}

Hdf5Handle Hdf5Writer::make_dataset(const std::string& group, const std::string& name, hid_t type, const std::vector<std::int64_t>& extents,
                                    bool contiguous) const {
    const auto place = group_at(group);
    const std::vector<hsize_t> lengths(extents.begin(), extents.end());
    const Hdf5Handle space(H5Screate_simple(static_cast<int>(lengths.size()), lengths.data(), nullptr), H5Sclose);
    const Hdf5Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    if (contiguous) {
        H5Pset_layout(creation.id(), H5D_CONTIGUOUS);
        H5Pset_alloc_time(creation.id(), H5D_ALLOC_TIME_EARLY);
        H5Pset_fill_time(creation.id(), H5D_FILL_TIME_NEVER);
    }
    H5Pset_obj_track_times(creation.id(), false);
    return checked({H5Dcreate2(place.id(), name.c_str(), type, space.id(), H5P_DEFAULT, creation.id(), H5P_DEFAULT), H5Dclose});
}

void Hdf5Writer::attribute(const std::string& group, const std::string& name, ElementType type, const void* value) {
    write_attribute(group, name, hdf5_type(number_type_of(type)).id(), value);
}

void Hdf5Writer::attribute(const std::string& group, const std::string& name, const std::string& text) {
    write_attribute(group, name, text_type(text.size() + 1).id(), text.c_str());
}

void Hdf5Writer::texts(const std::string& group, const std::string& name, const std::vector<std::string>& texts) {
    std::vector<const char*> pointers;
    for (const auto& text : texts) pointers.push_back(text.c_str());
    const auto type = text_type(H5T_VARIABLE);
    const auto held = make_dataset(group, name, type.id(), {std::ssize(texts)}, false);
    check(H5Dwrite(held.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, pointers.data()) >= 0);
}

void Hdf5Writer::dataset(const std::string& group, const std::string& name, const std::vector<std::int64_t>& extents, ElementType element,
                         const void* elements) {
    const auto type = hdf5_type(number_type_of(element));
    const auto held = make_dataset(group, name, type.id(), extents, true);
    check(H5Dwrite(held.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, elements) >= 0);
}

std::int64_t Hdf5Writer::room(const std::string& group, const std::string& name, const NumberType& type,
                              const std::vector<std::int64_t>& extents) {
    const auto held = make_dataset(group, name, hdf5_type(type).id(), extents, true);
    return H5Dget_offset(held.id());
}

void Hdf5Writer::close() { check(file_.close()); }

}  // namespace arges::io
