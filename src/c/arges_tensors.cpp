// The functions of arges.h that make tensors, and tell what they are.
#include "c/arges_c.hpp"

#include <algorithm>
#include <limits>

using namespace arges::c;
using arges::handles::is_sparse_tensor;

namespace {

arges_status create(const char* function, bool is_sparse, const arges_world* world, arges_type type, int order, const int64_t* extents,
                    const char* letters, const char* symmetry, const char* name, arges_tensor** tensor) {
    return guarded(function, [&] {
        const auto& own = given(world, "world").world;
        TensorResult result;
        auto element = arges::ElementType::float64;
        std::vector<std::int64_t> lengths;
        arges::Symmetry tree;
        std::string title;
        own.agree([&] {
            result = TensorResult(tensor, "tensor");
            element = element_type(type);
            lengths = numbers_of(extents, order, "extents");
            tree = symmetry_of(order, letters, symmetry);
            title = name == nullptr ? "" : name;
        });
        result.give(arges::handles::made_tensor(element, is_sparse, own, std::move(lengths), tree, std::move(title)));
    });
}

/// A new tensor from one; check() looks at the other arguments.
template <class Check, class Make>
arges_status derived(const char* function, const arges_tensor* tensor, arges_tensor** place, Check&& check, Make&& make) {
    return guarded(function, [&] {
        const auto& handle = given(tensor, "tensor").handle;
        TensorResult result;
        handle.world().agree([&] {
            result = TensorResult(place, "result");
            check(handle);
        });
        result.give(make(handle));
    });
}

/// Product of lengths. @throws InvalidArgument if it is too large
std::int64_t product_of(const std::vector<std::int64_t>& lengths) {
    if (std::count(lengths.begin(), lengths.end(), 0) > 0) return 0;
    std::int64_t product = 1;
    for (auto length : lengths) {
        if (product > std::numeric_limits<std::int64_t>::max() / length)
            refuse("the tensor has more than 2^63 - 1 elements; pass null for `full`");
        product *= length;
    }
    return product;
}

const auto no_check = [](const TensorHandle&) {};

}  // namespace

arges_status arges_tensor_create(const arges_world* world, arges_type type, int order, const int64_t* extents, const char* letters,
                                 const char* symmetry, const char* name, arges_tensor** tensor) {
    return create(__func__, false, world, type, order, extents, letters, symmetry, name, tensor);
}

arges_status arges_tensor_create_sparse(const arges_world* world, arges_type type, int order, const int64_t* extents, const char* letters,
                                        const char* symmetry, const char* name, arges_tensor** tensor) {
    return create(__func__, true, world, type, order, extents, letters, symmetry, name, tensor);
}

arges_status arges_tensor_destroy(arges_tensor* tensor) {
    delete tensor;
    return ARGES_OK;
}

arges_status arges_tensor_copy(const arges_tensor* tensor, arges_tensor** copy) {
    return derived(__func__, tensor, copy, no_check, arges::handles::copied);
}

arges_status arges_tensor_convert(const arges_tensor* tensor, arges_type type, arges_tensor** result) {
    return derived(
        __func__, tensor, result, [&](const TensorHandle&) { element_type(type); },
        [&](const TensorHandle& handle) { return arges::handles::converted(handle, element_type(type)); });
}

arges_status arges_tensor_to_dense(const arges_tensor* tensor, arges_tensor** result) {
    return derived(__func__, tensor, result, no_check, arges::handles::to_dense);
}

arges_status arges_tensor_to_sparse(const arges_tensor* tensor, double cutoff, arges_tensor** result) {
    return derived(__func__, tensor, result, no_check,
                   [&](const TensorHandle& handle) { return arges::handles::to_sparse(handle, cutoff); });
}

arges_status arges_tensor_slice(const arges_tensor* tensor, const int64_t* begin, const int64_t* end, arges_tensor** result) {
    std::vector<std::int64_t> first, behind;
    return derived(
        __func__, tensor, result,
        [&](const TensorHandle& handle) {
            first = numbers_of(begin, handle.order(), "begin");
            behind = numbers_of(end, handle.order(), "end");
        },
        [&](const TensorHandle& handle) {
            return handle.visit([&](const auto& from) -> TensorHandle { return from.slice(first, behind); });
        });
}

arges_status arges_tensor_with_symmetry(const arges_tensor* tensor, const char* letters, const char* symmetry, arges_tensor** result) {
    arges::Symmetry tree;
    return derived(
        __func__, tensor, result, [&](const TensorHandle& handle) { tree = symmetry_of(handle.order(), letters, symmetry); },
        [&](const TensorHandle& handle) {
            return handle.visit([&](const auto& from) -> TensorHandle { return from.with_symmetry(tree); });
        });
}

arges_status arges_tensor_set_slice(arges_tensor* tensor, const int64_t* begin, const arges_tensor* part) {
    return guarded(__func__, [&] {
        std::vector<std::int64_t> first;
        meeting({tensor, part}).agree([&] {
            const auto& whole = given(tensor, "tensor").handle;
            given(part, "part");
            first = numbers_of(begin, whole.order(), "begin");
        });
        arges::handles::set_slice(tensor->handle, first, part->handle);
    });
}

int arges_tensor_order(const arges_tensor* tensor) { return tensor == nullptr ? -1 : tensor->handle.order(); }

arges_status arges_tensor_extents(const arges_tensor* tensor, int64_t* extents) {
    return guarded(__func__, [&] {
        const auto& lengths = given(tensor, "tensor").handle.extents();
        require_array(extents, std::ssize(lengths), "extents");
        std::copy(lengths.begin(), lengths.end(), extents);
    });
}

arges_status arges_tensor_form(const arges_tensor* tensor, arges_type* type, int* is_sparse) {
    return guarded(__func__, [&] {
        const auto& handle = given(tensor, "tensor").handle;
        if (type != nullptr) *type = static_cast<arges_type>(handle.element());
        if (is_sparse != nullptr) *is_sparse = handle.is_sparse() ? 1 : 0;
    });
}

arges_status arges_tensor_world(const arges_tensor* tensor, arges_world** world) {
    return guarded(__func__, [&] {
        const auto& own = given(tensor, "tensor").handle.world();
        given(world, "world");
        *world = std::make_unique<arges_world>(arges_world{own}).release();
    });
}

arges_status arges_tensor_size(const arges_tensor* tensor, int64_t* full, int64_t* stored) {
    return guarded(__func__, [&] {
        const auto& handle = given(tensor, "tensor").handle;
        std::int64_t all = 0;
        handle.world().agree([&] {
            if (full != nullptr) all = product_of(handle.extents());
        });
        const auto here = handle.visit([](const auto& own) {
            if constexpr (is_sparse_tensor<decltype(own)>)
                return own.nonzeros();
            else
                return own.packed_size();
        });
        if (full != nullptr) *full = all;
        if (stored != nullptr) *stored = here;
    });
}
