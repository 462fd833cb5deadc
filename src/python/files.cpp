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
    return with_element_type(element, [&]<class T>() -> AnyTensor {
        if constexpr (kernels::has_fractions<T>)
            return read_tensor<T>(world, path);
        else
            throw InvalidArgument(path + ": files are read as float32, float64, complex64 or complex128; convert the tensor then");
    });
}

nb::tuple read_sparse_of(const World& world, const std::string& path, int type, int base, const Extents& lengths, int duplicates) {
    SparseReadOptions options;
    options.base = static_cast<IndexBase>(base);
    options.lengths = lengths;
    options.duplicates = static_cast<Duplicates>(duplicates);
    const auto run = [&]<class T>() {
        auto file = outside_interpreter([&] { return read_sparse<T>(world, path, options); });
        nb::dict report;
        report["form"] = file.report.form;
        report["bytes"] = file.report.bytes;
        report["lines"] = file.report.lines;
        report["index_base"] = file.report.index_base;
        report["entries"] = file.report.entries;
        report["duplicates"] = file.report.duplicates;
        report["nonempty_slices"] = file.report.nonempty_slices;
        return nb::make_tuple(AnyTensor(std::move(file.tensor)), report);
    };
    switch (static_cast<ElementType>(type)) {
    case ElementType::float32: return run.operator()<float>();
    case ElementType::float64: return run.operator()<double>();
    case ElementType::complex128: return run.operator()<std::complex<double>>();
    case ElementType::int64: return run.operator()<std::int64_t>();
    case ElementType::boolean: return run.operator()<bool>();
    default:
        throw InvalidArgument(path + ": sparse files are read as float32, float64, complex128, int64 or bool; convert the tensor then");
    }
}

void write_sparse_of(const AnyTensor& tensor, const std::string& path, int base) {
    with_sparse(tensor, "write_sparse", [&](const auto& own) {
        using T = element_of<decltype(own)>;
        constexpr bool has_files = std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, std::complex<double>> ||
                                   std::is_same_v<T, std::int64_t> || std::is_same_v<T, bool>;
        if constexpr (has_files)
            write_sparse(own, path, static_cast<IndexBase>(base));
        else
            throw InvalidArgument(path + ": sparse files have float32, float64, complex128, int64 or bool, not " +
                                  to_string(tensor.element()) + "; convert the tensor");
    });
}

/// Tensors by name, and values: numbers, texts, lists of numbers.
void save(const World& world, const std::string& path, const std::vector<std::pair<std::string, const AnyTensor*>>& tensors,
          const std::vector<std::pair<std::string, std::variant<std::int64_t, double, std::string, std::vector<double>>>>& values) {
    CheckpointWriter out(world, path);
    for (const auto& [key, tensor] : tensors) {
        const auto& name = key;  // a structured binding cannot be captured
        with_floating(*tensor, "a checkpoint", [&](const auto& own) { out.add(name, own); });
    }
    for (const auto& [name, value] : values) out.set(name, value);
    out.commit();
}

nb::tuple load(const World& world, const std::string& path) {
    const CheckpointReader in(world, path);
    nb::dict tensors, values;
    for (const auto& stored : in.tensors())
        with_element_type(stored.element, [&]<class T>() {
            if constexpr (kernels::has_fractions<T>)
                tensors[stored.name.c_str()] = AnyTensor(outside_interpreter([&] { return in.read<T>(stored.name); }));
        });
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
    module.def(
        "write_npy",
        [](const AnyTensor& tensor, const std::string& path) {
            with_floating(tensor, "write_npy", [&](const auto& own) { write_npy(own, path); });
        },
        nb::call_guard<OutsideInterpreter>());
    module.def("is_tensor_file", &is_tensor_file);
    module.def("read_sparse", &read_sparse_of);
    module.def("write_sparse", &write_sparse_of, nb::call_guard<OutsideInterpreter>());
    module.def("save", &save, nb::call_guard<OutsideInterpreter>());
    module.def("load", &load);
}

}  // namespace arges::python
