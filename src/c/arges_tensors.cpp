// The functions of arges.h that make tensors, and tell what they are.
#include "c/arges_c.hpp"

#include <algorithm>
#include <limits>

using namespace arges::c;
using arges::AnyTensor;
using arges::Storage;

namespace {

arges_status create(const char* function, Storage storage, const arges_world* world, arges_type type, int order, const int64_t* extents,
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
        result.give(AnyTensor(element, storage, own, std::move(lengths), tree, std::move(title)));
    });
}

/// A new tensor from one; check() looks at the other arguments.
template <class Check, class Make>
arges_status derived(const char* function, const arges_tensor* tensor, arges_tensor** place, Check&& check, Make&& make) {
    return guarded(function, [&] {
        const auto& own = given(tensor, "tensor").tensor;
        TensorResult result;
        own.world().agree([&] {
            result = TensorResult(place, "result");
            check(own);
        });
        result.give(make(own));
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

const auto no_check = [](const AnyTensor&) {};

}  // namespace

arges_status arges_tensor_create(const arges_world* world, arges_type type, int order, const int64_t* extents, const char* letters,
                                 const char* symmetry, const char* name, arges_tensor** tensor) {
    return create(__func__, Storage::dense, world, type, order, extents, letters, symmetry, name, tensor);
}

arges_status arges_tensor_create_sparse(const arges_world* world, arges_type type, int order, const int64_t* extents, const char* letters,
                                        const char* symmetry, const char* name, arges_tensor** tensor) {
    return create(__func__, Storage::sparse, world, type, order, extents, letters, symmetry, name, tensor);
}

arges_status arges_tensor_destroy(arges_tensor* tensor) {
    delete tensor;
    return ARGES_OK;
}

arges_status arges_tensor_copy(const arges_tensor* tensor, arges_tensor** copy) {
    return derived(__func__, tensor, copy, no_check, [](const AnyTensor& from) { return from; });
}

arges_status arges_tensor_convert(const arges_tensor* tensor, arges_type type, arges_tensor** result) {
    return derived(
        __func__, tensor, result, [&](const AnyTensor&) { element_type(type); },
        [&](const AnyTensor& from) { return from.converted(element_type(type)); });
}

arges_status arges_tensor_to_dense(const arges_tensor* tensor, arges_tensor** result) {
    return derived(__func__, tensor, result, no_check, [](const AnyTensor& from) { return from.to_dense(); });
}

arges_status arges_tensor_to_sparse(const arges_tensor* tensor, double cutoff, arges_tensor** result) {
    return derived(__func__, tensor, result, no_check, [&](const AnyTensor& from) { return from.to_sparse(cutoff); });
}

arges_status arges_tensor_slice(const arges_tensor* tensor, const int64_t* begin, const int64_t* end, arges_tensor** result) {
    std::vector<std::int64_t> first, behind;
    return derived(
        __func__, tensor, result,
        [&](const AnyTensor& from) {
            first = numbers_of(begin, from.order(), "begin");
            behind = numbers_of(end, from.order(), "end");
        },
        [&](const AnyTensor& from) { return from.slice(first, behind); });
}

arges_status arges_tensor_with_symmetry(const arges_tensor* tensor, const char* letters, const char* symmetry, arges_tensor** result) {
    arges::Symmetry tree;
    return derived(
        __func__, tensor, result, [&](const AnyTensor& from) { tree = symmetry_of(from.order(), letters, symmetry); },
        [&](const AnyTensor& from) { return from.with_symmetry(tree); });
}

arges_status arges_tensor_set_slice(arges_tensor* tensor, const int64_t* begin, const arges_tensor* part) {
    return guarded(__func__, [&] {
        std::vector<std::int64_t> first;
        meeting({tensor, part}).agree([&] {
            first = numbers_of(begin, given(tensor, "tensor").tensor.order(), "begin");
            given(part, "part");
        });
        tensor->tensor.set_slice(first, part->tensor);
    });
}

int arges_tensor_order(const arges_tensor* tensor) { return tensor == nullptr ? -1 : tensor->tensor.order(); }

arges_status arges_tensor_extents(const arges_tensor* tensor, int64_t* extents) {
    return guarded(__func__, [&] {
        const auto& lengths = given(tensor, "tensor").tensor.extents();
        require_array(extents, std::ssize(lengths), "extents");
        std::copy(lengths.begin(), lengths.end(), extents);
    });
}

arges_status arges_tensor_form(const arges_tensor* tensor, arges_type* type, int* is_sparse) {
    return guarded(__func__, [&] {
        const auto& own = given(tensor, "tensor").tensor;
        if (type != nullptr) *type = static_cast<arges_type>(own.element());
        if (is_sparse != nullptr) *is_sparse = own.is_sparse() ? 1 : 0;
    });
}

arges_status arges_tensor_world(const arges_tensor* tensor, arges_world** world) {
    return guarded(__func__, [&] {
        const auto& own = given(tensor, "tensor").tensor.world();
        given(world, "world");
        *world = std::make_unique<arges_world>(arges_world{own}).release();
    });
}

arges_status arges_tensor_size(const arges_tensor* tensor, int64_t* full, int64_t* stored) {
    return guarded(__func__, [&] {
        const auto& own = given(tensor, "tensor").tensor;
        std::int64_t all = 0;
        own.world().agree([&] {
            if (full != nullptr) all = product_of(own.extents());
        });
        if (full != nullptr) *full = all;
        if (stored != nullptr) *stored = own.stored();
    });
}
