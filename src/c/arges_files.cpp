// The functions of arges.h for files.
#include "arges/sparse_io.hpp"
#include "arges/tensor_io.hpp"
#include "c/arges_c.hpp"

using namespace arges::c;
using arges::ElementType;

namespace {

constexpr const char* dense_cure = "; use float32, float64, complex64 or complex128, and convert by arges_tensor_convert()";
constexpr const char* sparse_cure = "; use float32, float64, complex128, int64 or bool, and convert by arges_tensor_convert()";

bool is_dense_file_type(ElementType type) { return type < ElementType::int16; }
bool is_sparse_file_type(ElementType type) {
    return type != ElementType::complex64 && type != ElementType::int16 && type != ElementType::int32;
}

/// A tensor of a file; `read(world, path, type)` reads it where is_known(type) says so.
template <class Read>
arges_status read(const char* function, const arges_world* world, const char* path, arges_type type, arges_tensor** tensor,
                  const char* cure, bool (*is_known)(ElementType), Read&& read_as) {
    return guarded(function, [&] {
        const auto& own = given(world, "world").world;
        TensorResult result;
        auto element = ElementType::float64;
        std::string file;
        own.agree([&] {
            result = TensorResult(tensor, "tensor");
            file = text_of(path, "path");
            element = element_type(type);
            if (!is_known(element)) refuse("elements of type " + to_string(element) + " are not read from files" + cure);
        });
        result.give(read_as(element, own, file));
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
        __func__, world, path, type, tensor, dense_cure, is_dense_file_type,
        [](ElementType element, const arges::World& own, const std::string& file) { return arges::read_tensor(element, own, file); });
}

arges_status arges_read_sparse(const arges_world* world, const char* path, arges_type type, arges_tensor** tensor) {
    return read(__func__, world, path, type, tensor, sparse_cure, is_sparse_file_type,
                [](ElementType element, const arges::World& own, const std::string& file) {
                    arges::ReadReport report;
                    return arges::read_sparse(element, own, file, {}, report);
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
        arges::write_npy(own, file);
    });
}

arges_status arges_write_sparse(const arges_tensor* tensor, const char* path) {
    return guarded(__func__, [&] {
        const auto& own = given(tensor, "tensor").tensor;
        std::string file;
        own.world().agree([&] {
            file = text_of(path, "path");
            sparse_state_of(own, "arges_write_sparse");
            if (!is_sparse_file_type(own.element()))
                refuse(own.title() + ": elements of type " + to_string(own.element()) + " are not written to files" + sparse_cure);
        });
        arges::write_sparse(own, file);
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
        own.writer->add(own_name, tensor->tensor);
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
        result.give(reader.read(element, own_name));
    });
}

arges_status arges_checkpoint_read_int64(const arges_world* world, const char* path, const char* name, int64_t* value) {
    return read_value<std::int64_t>(__func__, world, path, name, value);
}

arges_status arges_checkpoint_read_float64(const arges_world* world, const char* path, const char* name, double* value) {
    return read_value<double>(__func__, world, path, name, value);
}
