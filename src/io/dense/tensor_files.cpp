// Dense tensors from files of other programs.
#include "io/dense/tensor_files.hpp"
#include "arges/checkpoint.hpp"
#include "arges/error.hpp"
#include "arges/tensor_io.hpp"
#include "base/text.hpp"
#include "comm/collective_call.hpp"
#include "comm/values.hpp"
#include "interface/dense/tensor_state.hpp"
#include "interface/world/world_state.hpp"
#include "io/checkpoint/checkpoint_contents.hpp"
#include "io/dense/slab_exchange.hpp"
#include "io/file/hdf5_dataset.hpp"
#include "io/file/npy_array.hpp"

#include <filesystem>
#include <optional>

namespace arges {

using namespace io;

namespace {

enum class Form { npy, hdf5, checkpoint, other };

/// A file name and the dataset that it may end in.
struct FilePath {
    std::string file, dataset;
};

/// A name with ":/" is split there, unless there is a file of the whole name on rank 0. Collective.
FilePath split(const Communicator& comm, const std::string& path) {
    const auto colon = path.find(":/");
    if (colon == std::string::npos) return {path, ""};
    std::error_code ignored;
    if (from_first_rank(comm, [&] { return std::filesystem::exists(path, ignored); })) return {path, ""};
    return {path.substr(0, colon), path.substr(colon + 1)};
}

/// What rank 0 has found in a file: where and what the numbers are.
struct Description {
    Form form = Form::other;
    Hdf5Array array;
    bool is_fortran_order = false;

    void parts(Packed& packed) { packed(form, array.name, array.type, array.extents, array.data, is_fortran_order); }
};

/// Looks into a file. Local.
Description described(const InputFile& file, const std::string& dataset) {
    Description found;
    if (is_npy(file)) {
        if (!dataset.empty()) throw InvalidArgument(file.path() + ": a .npy file has no dataset " + dataset + "; leave it out");
        const auto header = read_npy_array_header(file);
        return {Form::npy, {"", header.type, header.extents, header.data}, header.is_fortran_order};
    }
    if (!is_hdf5(file)) return found;
    found.form = has_seal(file) ? Form::checkpoint : Form::hdf5;
    found.array.name = dataset;
    if (found.form == Form::hdf5) found.array = find_hdf5_array(file.path(), dataset);
    return found;
}

/// What rank 0 sees in a file, on all ranks. Collective.
Description described_for_all(const InputFile& file, const std::string& dataset) {
    auto found = from_first_rank(file.comm(), [&] { return described(file, dataset); });
    if (found.form == Form::other)
        throw InvalidArgument(file.path() + ": this is neither a .npy nor an HDF5 file; save the array in one of these forms");
    return found;
}

/// The tensor that a path to a checkpoint means: "/tensors/T2", or the only one.
const CheckpointTensor& chosen(const CheckpointReader& reader, const FilePath& path) {
    constexpr std::string_view group = "/tensors/";
    if (path.dataset.starts_with(group)) return reader.tensor(path.dataset.substr(group.size()));
    if (!path.dataset.empty())
        throw InvalidArgument(path.file + ": " + path.dataset + " is no tensor of the checkpoint; name one, for example " + path.file +
                              ":/tensors/NAME");
    if (reader.tensors().size() != 1)
        throw InvalidArgument(path.file + ": the checkpoint has " + std::to_string(reader.tensors().size()) +
                              " tensors; name one of them, for example " + path.file + ":/tensors/NAME");
    return reader.tensors().front();
}

/// Memory for slabs and for numbers as they are in the file.
std::int64_t buffer_bytes(const Description& found, std::int64_t ranks, std::int64_t element_bytes, std::int64_t slab_bytes) {
    std::int64_t elements = 1;
    for (auto n : found.array.extents) elements *= n;
    const auto numbers = std::min(std::max<std::int64_t>(1, slab_bytes / element_bytes), (elements + ranks - 1) / ranks);
    return SlabExchange::memory(elements, ranks, found.is_fortran_order, element_bytes, slab_bytes) + numbers * found.array.type.bytes;
}

/// Reads an array that is stored in C or Fortran order as a tensor without symmetry. Collective.
std::shared_ptr<TensorState> read_array(ElementType type, const World& world, const InputFile& file, const Description& found,
                                        const std::string& name) {
    const auto& kernels = element_kernels(type);
    if (found.array.type.is_complex() && !kernels.is_complex)
        throw InvalidArgument(file.path() + ": the array is of " + found.array.type.name() +
                              ", but the tensor is real; read it as a tensor of complex numbers, or save its real part");
    const auto tensor = new_tensor(world.state()->kernels(kernels), world, found.array.extents, {}, name);
    std::optional<ArrayReader> reader;
    file.comm().agree([&] { reader.emplace(file, found.array); });
    const auto slab_bytes = SlabExchange::slab_bytes_within(tensor->world->least_free_bytes());
    const SlabExchange slabs(found.is_fortran_order ? SlotOrder::first_fastest : SlotOrder::last_fastest, slab_bytes);
    const auto needed = buffer_bytes(found, world.size(), kernels.size, slab_bytes);
    if (const auto free = tensor->world->least_free_bytes(); needed > free)
        throw OutOfMemory(file.path() + ": to read the array takes " + std::to_string(needed) +
                          " bytes on a rank beside the tensor, but the memory limit leaves " + std::to_string(free) +
                          "; use more ranks or raise the limit (--memory, ARGES_MEMORY_LIMIT)");
    slabs.load(*tensor, [&](const Slab& slab) { reader->read(slab.first, slab.count, type, slab.elements); });
    return tensor;
}

}  // namespace

bool is_tensor_file(const World& world, const std::string& path) {
    const CollectiveCall call(ranks_of(world), "is_tensor_file", path);
    const auto& comm = communicator_of(world, path);
    const auto where = split(comm, path);
    const InputFile file(comm, where.file);
    bool is_one = !where.dataset.empty();
    for (const char* end : {".npy", ".h5", ".hdf5"}) is_one |= where.file.ends_with(end);  // what is wrong with it is said by its reader
    comm.agree([&] { is_one |= is_npy(file) || is_hdf5(file); });
    return is_one;
}

void io::require_floating(const ElementKernels& kernels, const std::string& path) {
    const auto type = element_type_of(kernels);
    if (!type || *type > ElementType::complex128)
        throw InvalidArgument(path + ": files of dense tensors have float32, float64, complex64 or complex128, not " +
                              (type ? to_string(*type) : readable_type(kernels.name)) + "; convert the tensor");
}

std::int64_t io::tensor_reading_memory(const World& world, const std::string& path, std::int64_t element_bytes, std::int64_t free) {
    const QuietHdf5 quiet;
    const auto& comm = communicator_of(world, path);
    const auto where = split(comm, path);
    const auto found = described_for_all(InputFile(comm, where.file), where.dataset);
    const auto slab_bytes = found.form == Form::checkpoint ? SlabExchange::default_slab_bytes : SlabExchange::slab_bytes_within(free);
    return buffer_bytes(found, world.size(), element_bytes, slab_bytes);
}

TensorFileInfo tensor_file_info(const World& world, const std::string& path) {
    const CollectiveCall call(ranks_of(world), "tensor_file_info", path);
    const QuietHdf5 quiet;
    const auto where = split(communicator_of(world, path), path);
    const InputFile file(communicator_of(world, path), where.file);
    const auto found = described_for_all(file, where.dataset);
    if (found.form != Form::checkpoint) {
        const auto& array = found.array;
        return {found.form == Form::npy ? ".npy" : "HDF5", array.name, array.type.name(), array.extents, array.type.is_complex()};
    }
    const CheckpointReader reader(world, where.file);
    const auto& tensor = chosen(reader, where);
    return {"checkpoint", "/tensors/" + tensor.name, to_string(tensor.element), tensor.extents,
            number_type_of(tensor.element).is_complex()};
}

AnyTensor read_tensor(ElementType type, const World& world, const std::string& path, const std::string& name) {
    const CollectiveCall call(ranks_of(world), "read_tensor", path);
    require_floating(element_kernels(type), path);
    const QuietHdf5 quiet;
    const auto where = split(communicator_of(world, path), path);
    const InputFile file(communicator_of(world, path), where.file);
    const auto found = described_for_all(file, where.dataset);
    const auto title = name.empty() ? std::filesystem::path(where.file).stem().string() : name;
    if (found.form != Form::checkpoint) return AnyTensor(read_array(type, world, file, found, title));
    const CheckpointReader reader(world, where.file);
    auto tensor = reader.read(type, chosen(reader, where).name);
    tensor.set_name(title);
    return tensor;
}

}  // namespace arges
