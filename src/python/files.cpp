// Files: dense and sparse tensors, checkpoints.
#include "python/bindings.hpp"

#include "arges/checkpoint.hpp"
#include "arges/sparse_io.hpp"
#include "arges/tensor_io.hpp"

namespace arges::python {

namespace {

/// The type that holds the numbers of a file: one of those that files may have, else float64.
ElementType type_in_file(const TensorFileInfo& info) {
    for (auto type : {ElementType::float32, ElementType::complex64, ElementType::complex128})
        if (info.element == to_string(type)) return type;
    return info.is_complex ? ElementType::complex128 : ElementType::float64;
}

AnyTensor read_tensor_of(const World& world, const std::string& path, std::optional<int> type) {
    const auto element = type ? static_cast<ElementType>(*type) : type_in_file(tensor_file_info(world, path));
    if (element >= ElementType::int16)
        throw InvalidArgument(path + ": files are read as float32, float64, complex64 or complex128; convert the tensor then");
    return read_tensor(element, world, path);
}

/// Refuses types that sparse files do not have.
void require_sparse_type(ElementType type, const std::string& message) {
    if (type == ElementType::complex64 || type == ElementType::int16 || type == ElementType::int32) throw InvalidArgument(message);
}

nb::tuple read_sparse_of(const World& world, const std::string& path, int type, int base, const Extents& lengths, int duplicates) {
    SparseReadOptions options;
    options.base = static_cast<IndexBase>(base);
    options.lengths = lengths;
    options.duplicates = static_cast<Duplicates>(duplicates);
    const auto element = static_cast<ElementType>(type);
    require_sparse_type(element, path + ": sparse files are read as float32, float64, complex128, int64 or bool; convert the tensor then");
    ReadReport found;
    auto tensor = outside_interpreter([&] { return read_sparse(element, world, path, options, found); });
    return nb::make_tuple(std::move(tensor),
                          named("form", found.form, "bytes", found.bytes, "lines", found.lines, "index_base", found.index_base, "entries",
                                found.entries, "duplicates", found.duplicates, "nonempty_slices", found.nonempty_slices));
}

void write_sparse_of(const AnyTensor& tensor, const std::string& path, int base) {
    require_sparse_type(tensor.element(), path + ": sparse files have float32, float64, complex128, int64 or bool, not " +
                                              to_string(tensor.element()) + "; convert the tensor");
    write_sparse(tensor, path, static_cast<IndexBase>(base));
}

/// Tensors by name, and values: numbers, texts, lists of numbers.
void save(const World& world, const std::string& path, const std::vector<std::pair<std::string, const AnyTensor*>>& tensors,
          const std::vector<std::pair<std::string, std::variant<std::int64_t, double, std::string, std::vector<double>>>>& values) {
    CheckpointWriter out(world, path);
    for (const auto& [name, tensor] : tensors) out.add(name, *tensor);
    for (const auto& [name, value] : values) out.set(name, value);
    out.commit();
}

nb::tuple load(const World& world, const std::string& path) {
    const CheckpointReader in(world, path);
    nb::dict tensors, values;
    for (const auto& stored : in.tensors())
        tensors[stored.name.c_str()] = outside_interpreter([&] { return in.read(stored.element, stored.name); });
    const auto try_as = [&]<class V>(const std::string& name) {
        try {
            values[name.c_str()] = in.value<V>(name);
            return true;
        } catch (const InvalidArgument&) {
            return false;
        }
    };
    for (const auto& name : in.value_names())
        static_cast<void>(try_as.operator()<std::int64_t>(name) || try_as.operator()<double>(name) ||
                          try_as.operator()<std::string>(name) || try_as.operator()<std::vector<double>>(name));
    return nb::make_tuple(tensors, values);
}

}  // namespace

void bind_files(nb::module_& module) {
    module.def("read_tensor", &read_tensor_of, nb::arg("world"), nb::arg("path"), nb::arg("type").none(),
               nb::call_guard<OutsideInterpreter>());
    module.def("write_npy", &write_npy, nb::call_guard<OutsideInterpreter>());
    module.def("is_tensor_file", &is_tensor_file);
    module.def("read_sparse", &read_sparse_of);
    module.def("write_sparse", &write_sparse_of, nb::call_guard<OutsideInterpreter>());
    module.def("save", &save, nb::call_guard<OutsideInterpreter>());
    module.def("load", &load);
}

}  // namespace arges::python
