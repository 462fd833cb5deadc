// Writes checkpoints: HDF5 makes the structure on all ranks, which agree after each of its calls,
// then every rank writes its slabs in place.
#include "arges/checkpoint.hpp"

#include "arges/error.hpp"
#include "base/math.hpp"
#include "base/text.hpp"
#include "comm/collective_call.hpp"
#include "comm/values.hpp"
#include "interface/dense/tensor_state.hpp"
#include "interface/world/call_arguments.hpp"
#include "interface/world/world_state.hpp"
#include "io/checkpoint/checkpoint_contents.hpp"
#include "io/dense/slab_exchange.hpp"
#include "io/dense/tensor_files.hpp"
#include "io/file/checksum.hpp"
#include "io/file/hdf5_handle.hpp"
#include "io/file/parallel_file.hpp"

#include <algorithm>
#include <functional>

namespace arges {

using namespace io;

namespace {

constexpr char cure[] = "check that the folder may be written and has room";

Hdf5Handle simple_space(std::int64_t length) {
    const auto count = static_cast<hsize_t>(length);
    return {H5Screate_simple(1, &count, nullptr), H5Sclose};
}

/// Properties of an object that does not keep the time when it was made, so that equal checkpoints are equal files.
Hdf5Handle without_time(hid_t kind) {
    Hdf5Handle creation(H5Pcreate(kind), H5Pclose);
    H5Pset_obj_track_times(creation.id(), false);
    return creation;
}

Hdf5Handle text_type(const std::string& text) {
    Hdf5Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
    H5Tset_size(type.id(), std::max<std::size_t>(1, text.size()));
    H5Tset_strpad(type.id(), H5T_STR_NULLPAD);
    H5Tset_cset(type.id(), H5T_CSET_UTF8);
    return type;
}

}  // namespace

/// The file under way. Members that call HDF5 are collective, and every rank gives the same arguments. The ranks agree on each
/// call of HDF5 that may write: one that failed must not leave others in the next.
struct CheckpointWriter::State {
    State(const World& where, const std::string& path);

    void check(bool is_done) const {
        if (!is_done) throw_hdf5(path, "the checkpoint cannot be written", cure);
    }
    /// What `make` makes, if it does on all ranks.
    Hdf5Handle made(Hdf5Handle::Close closer, const std::function<hid_t()>& make) const {
        Hdf5Handle handle;
        comm.agree([&] {
            handle = Hdf5Handle(make(), closer);
            check(static_cast<bool>(handle));
        });
        return handle;
    }
    Hdf5Handle group(const char* name) const {
        const auto creation = without_time(H5P_GROUP_CREATE);
        return made(H5Gclose, [&] { return H5Gcreate2(file.id(), name, link.id(), creation.id(), H5P_DEFAULT); });
    }
    /// Sees that the disk has room for so many bytes more: HDF5 may end the program later if it cannot close a file properly.
    void reserve(std::int64_t bytes) {
        reserved += bytes;
        comm.agree([&] {
            if (comm.rank() == 0) output.reserve(reserved);
        });
    }
    void attribute(const Hdf5Handle& object, const char* name, const Hdf5Handle& type, const Hdf5Handle& space, const void* data) const;
    void number(const Hdf5Handle& object, const char* name, std::int64_t value) const;
    void text(const Hdf5Handle& object, const char* name, const std::string& value) const;
    /// A dataset with its place in the file, and nothing in it.
    Hdf5Handle dataset(const Hdf5Handle& parent, const std::string& name, const Hdf5Handle& type, const Hdf5Handle& space) const;
    void write_slab(const Hdf5Handle& data, const Hdf5Handle& type, std::int64_t first, const void* values, std::int64_t count) const;
    void write_value(const std::string& name, const CheckpointValue& value) const;
    /// Throws unless a name can be given to a new tensor or value. Collective.
    void check_name(const std::string& name, bool is_used) const;
    void finish();
    void seal();

    static constexpr std::int64_t structure_bytes = 1 << 14;  // more than HDF5 takes up for a file, or for a dataset and its name
    World world;
    const Communicator& comm;
    std::string path;
    OutputFile output;
    Hdf5Handle file, tensors, values, link;
    CheckpointContents contents;
    std::int64_t reserved = 0;
    bool is_open = true;
};

CheckpointWriter::State::State(const World& where, const std::string& name)
    : world(where), comm(communicator_of(where, "CheckpointWriter")), path(name), output(comm, name) {
    reserve(structure_bytes);
    file = made(H5Fclose, [&] {
        const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
        // This version of the format has checksums of its own structures.
        H5Pset_libver_bounds(access.id(), H5F_LIBVER_V18, H5F_LIBVER_V18);
        check(H5Pset_fapl_mpio(access.id(), comm.raw(), MPI_INFO_NULL) >= 0);
        H5Pset_coll_metadata_write(access.id(), true);
        H5Pset_all_coll_metadata_ops(access.id(), true);
        const auto creation = without_time(H5P_FILE_CREATE);
        return H5Fcreate(output.temporary().c_str(), H5F_ACC_TRUNC, creation.id(), access.id());
    });
    reserve(0);  // HDF5 has made the file empty
    link = Hdf5Handle(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
    H5Pset_char_encoding(link.id(), H5T_CSET_UTF8);
    tensors = group("tensors");
    values = group("values");
}

void CheckpointWriter::State::attribute(const Hdf5Handle& object, const char* name, const Hdf5Handle& type, const Hdf5Handle& space,
                                        const void* data) const {
    const auto held = made(H5Aclose, [&] { return H5Acreate2(object.id(), name, type.id(), space.id(), H5P_DEFAULT, H5P_DEFAULT); });
    const char nothing = 0;  // HDF5 refuses a null pointer to no data
    comm.agree([&] { check(H5Awrite(held.id(), type.id(), data == nullptr ? &nothing : data) >= 0); });
}

void CheckpointWriter::State::number(const Hdf5Handle& object, const char* name, std::int64_t value) const {
    const Hdf5Handle type(H5Tcopy(H5T_STD_I64LE), H5Tclose), space(H5Screate(H5S_SCALAR), H5Sclose);
    attribute(object, name, type, space, &value);
}

void CheckpointWriter::State::text(const Hdf5Handle& object, const char* name, const std::string& value) const {
    const Hdf5Handle space(H5Screate(H5S_SCALAR), H5Sclose);
    attribute(object, name, text_type(value), space, value.c_str());
}

Hdf5Handle CheckpointWriter::State::dataset(const Hdf5Handle& parent, const std::string& name, const Hdf5Handle& type,
                                            const Hdf5Handle& space) const {
    const auto creation = without_time(H5P_DATASET_CREATE);
    H5Pset_layout(creation.id(), H5D_CONTIGUOUS);
    H5Pset_alloc_time(creation.id(), H5D_ALLOC_TIME_EARLY);
    H5Pset_fill_time(creation.id(), H5D_FILL_TIME_NEVER);
    return made(H5Dclose,
                [&] { return H5Dcreate2(parent.id(), name.c_str(), type.id(), space.id(), link.id(), creation.id(), H5P_DEFAULT); });
}

void CheckpointWriter::State::write_slab(const Hdf5Handle& data, const Hdf5Handle& type, std::int64_t first, const void* values_here,
                                         std::int64_t count) const {
    const Hdf5Handle there(H5Dget_space(data.id()), H5Sclose), here = simple_space(std::max<std::int64_t>(1, count));
    const auto start = static_cast<hsize_t>(first), length = static_cast<hsize_t>(count);
    if (count > 0) {
        H5Sselect_hyperslab(there.id(), H5S_SELECT_SET, &start, nullptr, &length, nullptr);
    } else {
        H5Sselect_none(there.id());
        H5Sselect_none(here.id());
    }
    const Hdf5Handle transfer(H5Pcreate(H5P_DATASET_XFER), H5Pclose);
    H5Pset_dxpl_mpio(transfer.id(), H5FD_MPIO_COLLECTIVE);
    check(H5Dwrite(data.id(), type.id(), here.id(), there.id(), transfer.id(), values_here) >= 0);
}

void CheckpointWriter::State::write_value(const std::string& name, const CheckpointValue& value) const {
    const Hdf5Handle scalar(H5Screate(H5S_SCALAR), H5Sclose);
    const auto write = [&](const Hdf5Handle& type, const Hdf5Handle& space, const void* data) {
        const auto data_set = dataset(values, name, type, space);
        if (H5Sget_simple_extent_npoints(space.id()) == 0) return;  // it has no place in the file
        const Hdf5Handle transfer(H5Pcreate(H5P_DATASET_XFER), H5Pclose), here(H5Scopy(space.id()), H5Sclose);
        H5Pset_dxpl_mpio(transfer.id(), H5FD_MPIO_COLLECTIVE);
        if (comm.rank() != 0) H5Sselect_none(here.id());
        comm.agree([&] { check(H5Dwrite(data_set.id(), type.id(), here.id(), here.id(), transfer.id(), data) >= 0); });
    };
    if (const auto* whole = std::get_if<std::int64_t>(&value))
        write({H5Tcopy(H5T_STD_I64LE), H5Tclose}, scalar, whole);
    else if (const auto* real = std::get_if<double>(&value))
        write(hdf5_type({'f', 8}), scalar, real);
    else if (const auto* words = std::get_if<std::string>(&value))
        write(text_type(*words), scalar, words->c_str());
    else if (const auto* list = std::get_if<std::vector<double>>(&value))
        write(hdf5_type({'f', 8}), simple_space(std::ssize(*list)), list->data());
}

void CheckpointWriter::State::check_name(const std::string& name, bool is_used) const {
    comm.agree([&] {
        if (!is_open) throw InvalidArgument(path + ": the checkpoint is complete; nothing can be added, make another one");
        if (name.empty() || name == "." || name.find('/') != std::string::npos || name.find('\0') != std::string::npos)
            throw InvalidArgument(path + ": \"" + name +
                                  "\" cannot be a name in a checkpoint; it must not be empty, \".\", or contain '/'");
        if (is_used) throw InvalidArgument(path + ": the checkpoint has \"" + name + "\" already; give another name");
    });
}

void CheckpointWriter::State::finish() {
    Packed packed;
    packed(contents);
    reserve(structure_bytes * static_cast<std::int64_t>(1 + contents.values.size()) + std::ssize(packed.bytes()));
    for (const auto& [name, value] : contents.values) write_value(name, value);
    auto root = made(H5Gclose, [&] { return H5Gopen2(file.id(), "/", H5P_DEFAULT); });
    text(root, "format", CheckpointContents::format);
    number(root, "version", CheckpointContents::version);
    comm.agree([&] { check(H5Fflush(file.id(), H5F_SCOPE_GLOBAL) >= 0); });
    comm.agree([&] { check(root.close() && tensors.close() && values.close() && file.close()); });
    seal();
    output.commit();
}

void CheckpointWriter::State::seal() {
    const InputFile written(comm, output.temporary());
    std::vector<ElementRange> elements;
    for (const auto& [name, tensor] : contents.tensors)
        elements.push_back({tensor.offset, tensor.shape.packed_size * number_type_of(tensor.shape.element).bytes});
    comm.agree([&] {
        if (comm.rank() != 0) return;
        const auto end = checkpoint_seal(written, elements);
        output.write(written.size(), end.data(), end.size() * sizeof(end.front()));
    });
}

CheckpointWriter::CheckpointWriter(const World& world, const std::string& path) {
    const CollectiveCall call(ranks_of(world), "CheckpointWriter", path);
    if (path.empty()) throw InvalidArgument("CheckpointWriter: the path is empty; name the file to write");
    const QuietHdf5 quiet;
    state_ = std::make_unique<State>(world, path);
}

CheckpointWriter::~CheckpointWriter() {
    const QuietHdf5 quiet;
    state_.reset();
}

void CheckpointWriter::add(const std::string& name, const AnyTensor& tensor) {
    const CollectiveCall call(ranks_of(state_->world), "CheckpointWriter::add", tensor, name);
    const QuietHdf5 quiet;
    auto& s = *state_;
    s.check_name(name, s.contents.tensors.count(name) > 0);
    s.comm.agree([&] {
        if (!(state_of(tensor, "CheckpointWriter::add").world_handle == s.world))
            throw InvalidArgument(s.path + ": tensor \"" + name + "\" is on another world than the writer; use transfer()");
        require_floating(tensor.kernels(), s.path);
    });
    const auto& elements = state_of(tensor, "CheckpointWriter::add");
    StoredTensor stored;
    stored.shape = {name, *element_type_of(*elements.kernels), tensor.extents(), tensor.symmetry(), tensor.stored()};
    const auto type = hdf5_type(number_type_of(stored.shape.element));
    const auto bytes = checked_product(stored.shape.packed_size, elements.kernels->size);
    s.reserve(bytes + State::structure_bytes + std::ssize(name));
    const auto data = s.dataset(s.tensors, name, type, simple_space(stored.shape.packed_size));
    RunningChecksum sum;
    if (const auto offset = H5Dget_offset(data.id()); offset != HADDR_UNDEF) stored.offset = static_cast<std::int64_t>(offset);
    SlabExchange(SlotOrder::first_fastest).store(elements, [&](const Slab& slab) {
        sum.add(slab.elements, slab.bytes);
        s.write_slab(data, type, slab.first, slab.elements, slab.count);
    });
    stored.checksum = sum.of_all(s.comm);
    s.attribute(data, "extents", {H5Tcopy(H5T_STD_I64LE), H5Tclose}, simple_space(tensor.order()), stored.shape.extents.data());
    s.text(data, "symmetry", symmetry_text(stored.shape.symmetry));
    s.number(data, "checksum", stored.checksum);
    s.contents.tensors[name] = stored;
}

void CheckpointWriter::set(const std::string& name, const CheckpointValue& value) {
    const CollectiveCall call(ranks_of(state_->world), "CheckpointWriter::set");
    auto& s = *state_;
    s.check_name(name, s.contents.values.count(name) > 0);
    const auto of_first = from_first_rank(s.comm, [&] { return std::map<std::string, CheckpointValue>{{name, value}}; });
    const auto& [first_name, first_value] = *of_first.begin();
    s.comm.agree([&, &first_name = first_name, &first_value = first_value] {
        const auto* text = std::get_if<std::string>(&first_value);
        if (first_name != name)
            throw InvalidArgument(s.path + ": the ranks give different names to one value, \"" + name + "\" and \"" + first_name +
                                  "\"; give the same");
        if (text != nullptr && text->find('\0') != std::string::npos)
            throw InvalidArgument(s.path + ": the text \"" + name + "\" has a zero character in it; store numbers as a vector");
    });
    s.contents.values[name] = first_value;
}

void CheckpointWriter::commit() {
    const CollectiveCall call(ranks_of(state_->world), "CheckpointWriter::commit");
    const QuietHdf5 quiet;
    auto& s = *state_;
    s.comm.agree([&] {
        if (!s.is_open) throw InvalidArgument(s.path + ": commit() was called already; make another CheckpointWriter");
        s.is_open = false;
    });
    s.finish();
}

}  // namespace arges
