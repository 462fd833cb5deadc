// The functions of arges.h for files.
#include "arges/sparse_io.hpp"
#include "arges/tensor_io.hpp"
#include "c/arges_c.hpp"

#include <complex>
#include <type_traits>

using namespace arges::c;

namespace {

template <class T>
inline constexpr bool is_sparse_file_type =
    std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, std::complex<double>> || std::is_same_v<T, std::int64_t> ||
    std::is_same_v<T, bool>;
template <class T>
inline constexpr bool is_dense_file_type = arges::kernels::has_fractions<T>;

constexpr const char* dense_cure = "; use float32, float64, complex64 or complex128, and convert by arges_tensor_convert()";
constexpr const char* sparse_cure = "; use float32, float64, complex128, int64 or bool, and convert by arges_tensor_convert()";

/// A tensor of a file; read<T>(path) reads it where is_known says so of T.
template <class IsKnown, class Read>
arges_status read(const char* function, const arges_world* world, const char* path, arges_type type, arges_tensor** tensor,
                  const char* cure, IsKnown is_known, Read&& read_as) {
    return guarded(function, [&] {
        const auto& own = given(world, "world").world;
        TensorResult result;
        auto element = arges::ElementType::float64;
        std::string file;
        own.agree([&] {
            result = TensorResult(tensor, "tensor");
            file = text_of(path, "path");
            element = element_type(type);
            arges::with_element_type(element, [&]<class T>() {
                if (!is_known.template operator()<T>())
                    refuse("elements of type " + to_string(element) + " are not read from files" + cure);
            });
        });
        arges::with_element_type(element, [&]<class T>() {
            if constexpr (is_known.template operator()<T>()) result.give(read_as.template operator()<T>(own, file));
        });
    });
}

/// A value of a checkpoint.
template <class T>
arges_status read_value(const char* function, const arges_world* world, const char* path, const char* name, T* value) {
    return guarded(function, [&] {
        const auto& own = given(world, "world").world;
        std::string file, own_name;
        own.agree([&] {
            given(value, "value");
            file = text_of(path, "path");
            own_name = text_of(name, "name");
        });
        const arges::CheckpointReader reader(own, file);
        T found{};
        own.agree([&] { found = reader.value<T>(own_name); });
        *value = found;
    });
}

template <class T>
arges_status set_value(const char* function, arges_checkpoint* checkpoint, const char* name, T value) {
    return guarded(function, [&] {
        auto& own = given(checkpoint, "checkpoint");
        std::string own_name;
        own.world.agree([&] { own_name = text_of(name, "name"); });
        own.writer->set(own_name, value);
    });
}

}  // namespace

arges_status arges_read_tensor(const arges_world* world, const char* path, arges_type type, arges_tensor** tensor) {
    return read(
        __func__, world, path, type, tensor, dense_cure, []<class T>() { return is_dense_file_type<T>; },
        []<class T>(const arges::World& own, const std::string& file) -> arges::AnyTensor { return arges::read_tensor<T>(own, file); });
}

arges_status arges_read_sparse(const arges_world* world, const char* path, arges_type type, arges_tensor** tensor) {
    return read(
        __func__, world, path, type, tensor, sparse_cure, []<class T>() { return is_sparse_file_type<T>; },
        []<class T>(const arges::World& own, const std::string& file) -> arges::AnyTensor {
            return arges::read_sparse<T>(own, file).tensor;
        });
}

arges_status arges_write_npy(const arges_tensor* tensor, const char* path) {
    return guarded(__func__, [&] {
        const auto& own = given(tensor, "tensor").tensor;
        std::string file;
        own.world().agree([&] {
            file = text_of(path, "path");
            require_floating(own, "arges_write_npy");
        });
        with_floating(own, "arges_write_npy", [&](const auto& typed) { arges::write_npy(typed, file); });
    });
}

arges_status arges_write_sparse(const arges_tensor* tensor, const char* path) {
    return guarded(__func__, [&] {
        const auto& own = given(tensor, "tensor").tensor;
        std::string file;
        own.world().agree([&] {
            file = text_of(path, "path");
            with_sparse(own, "arges_write_sparse", [&]<class T>(const arges::SparseTensor<T>&) {
                if (!is_sparse_file_type<T>)
                    refuse(own.title() + ": elements of type " + to_string(own.element()) + " are not written to files" + sparse_cure);
            });
        });
        with_sparse(own, "arges_write_sparse", [&]<class T>(const arges::SparseTensor<T>& typed) {
            if constexpr (is_sparse_file_type<T>) arges::write_sparse(typed, file);
        });
    });
}

arges_status arges_checkpoint_create(const arges_world* world, const char* path, arges_checkpoint** checkpoint) {
    return guarded(__func__, [&] {
        const auto& own = given(world, "world").world;
        std::unique_ptr<arges_checkpoint> box;
        std::string file;
        own.agree([&] {
            given(checkpoint, "checkpoint");
            file = text_of(path, "path");
            box = std::make_unique<arges_checkpoint>(own);
        });
        box->writer.emplace(own, file);
        *checkpoint = box.release();
    });
}

arges_status arges_checkpoint_add(arges_checkpoint* checkpoint, const char* name, const arges_tensor* tensor) {
    return guarded(__func__, [&] {
        auto& own = given(checkpoint, "checkpoint");
        std::string own_name;
        own.world.agree([&] {
            own_name = text_of(name, "name");
            require_floating(given(tensor, "tensor").tensor, "arges_checkpoint_add");
        });
        with_floating(tensor->tensor, "arges_checkpoint_add", [&](const auto& kept) { own.writer->add(own_name, kept); });
    });
}

arges_status arges_checkpoint_set_int64(arges_checkpoint* checkpoint, const char* name, int64_t value) {
    return set_value(__func__, checkpoint, name, std::int64_t{value});
}

arges_status arges_checkpoint_set_float64(arges_checkpoint* checkpoint, const char* name, double value) {
    return set_value(__func__, checkpoint, name, value);
}

arges_status arges_checkpoint_commit(arges_checkpoint* checkpoint) {
    return guarded(__func__, [&] { given(checkpoint, "checkpoint").writer->commit(); });
}

arges_status arges_checkpoint_destroy(arges_checkpoint* checkpoint) {
    delete checkpoint;
    return ARGES_OK;
}

arges_status arges_checkpoint_read(const arges_world* world, const char* path, const char* name, arges_tensor** tensor) {
    return guarded(__func__, [&] {
        const auto& own = given(world, "world").world;
        TensorResult result;
        std::string file, own_name;
        own.agree([&] {
            result = TensorResult(tensor, "tensor");
            file = text_of(path, "path");
            own_name = text_of(name, "name");
        });
        const arges::CheckpointReader reader(own, file);
        auto element = arges::ElementType::float64;
        own.agree([&] { element = reader.tensor(own_name).element; });
        arges::with_element_type(element, [&]<class T>() {
            if constexpr (is_dense_file_type<T>) result.give(reader.read<T>(own_name));
        });
    });
}

arges_status arges_checkpoint_read_int64(const arges_world* world, const char* path, const char* name, int64_t* value) {
    return read_value<std::int64_t>(__func__, world, path, name, value);
}

arges_status arges_checkpoint_read_float64(const arges_world* world, const char* path, const char* name, double* value) {
    return read_value<double>(__func__, world, path, name, value);
}
