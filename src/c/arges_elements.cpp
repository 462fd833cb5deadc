// The functions of arges.h for the elements of tensors.
#include "c/arges_c.hpp"

#include <algorithm>
#include <cstring>

using namespace arges::c;
using arges::AnyTensor;
using arges::ElementType;

namespace {

void check_pairs(std::int64_t count, const std::int64_t* keys, const void* values) {
    require_array(keys, count, "keys");
    require_array(values, count, "values");
}

/// @throws InvalidArgument for bool
void require_negatives(const AnyTensor& tensor, const char* what) {
    if (tensor.element() == ElementType::boolean)
        refuse(tensor.title() + ": " + what + " of elements of type bool; convert the tensor by arges_tensor_convert()");
}

/// Writes a number as an element of a tensor.
void give(const AnyTensor& tensor, const arges::Number& number, void* to) {
    const auto element = element_from(number, tensor.element());
    std::memcpy(to, element.data(), element.size());
}

}  // namespace

arges_status arges_tensor_fill(arges_tensor* tensor, const void* value) {
    return guarded(__func__, [&] {
        auto& own = given(tensor, "tensor").tensor;
        own.world().agree([&] { require_given(value, "value"); });
        own.fill(number_at(own.element(), value, 0));
    });
}

arges_status arges_tensor_fill_random(arges_tensor* tensor, uint64_t seed, double low, double high) {
    return guarded(__func__, [&] {
        auto& own = given(tensor, "tensor").tensor;
        own.world().agree([&] { require_floating(own, "arges_tensor_fill_random"); });
        own.fill_random(seed, low, high);
    });
}

arges_status arges_tensor_write(arges_tensor* tensor, int64_t count, const int64_t* keys, const void* values, arges_duplicates duplicates) {
    return guarded(__func__, [&] {
        auto& own = given(tensor, "tensor").tensor;
        auto policy = arges::Duplicates::refuse;
        own.world().agree([&] {
            check_pairs(count, keys, values);
            policy = choice<arges::Duplicates>(duplicates, ARGES_KEEP_FIRST, "duplicates");
        });
        own.write_pairs({keys, static_cast<std::size_t>(count)}, values, count, policy);
    });
}

arges_status arges_tensor_accumulate(arges_tensor* tensor, int64_t count, const int64_t* keys, const void* values, const void* alpha,
                                     const void* beta) {
    return guarded(__func__, [&] {
        auto& own = given(tensor, "tensor").tensor;
        own.world().agree([&] { check_pairs(count, keys, values); });
        own.accumulate_pairs({keys, static_cast<std::size_t>(count)}, values, count, alpha, beta);
    });
}

arges_status arges_tensor_read(const arges_tensor* tensor, int64_t count, const int64_t* keys, void* values) {
    return guarded(__func__, [&] {
        const auto& own = given(tensor, "tensor").tensor;
        own.world().agree([&] { check_pairs(count, keys, values); });
        own.read_pairs({keys, static_cast<std::size_t>(count)}, [&](std::int64_t) { return values; });
    });
}

arges_status arges_tensor_local_pairs(const arges_tensor* tensor, int64_t* count, int64_t** keys, void** values) {
    return guarded(__func__, [&] {
        const auto& own = given(tensor, "tensor").tensor;
        given(count, "count"), given(keys, "keys"), given(values, "values");
        if (!own.has_keys()) refuse(own.title() + " has elements beyond 64-bit keys; make slices of it with arges_tensor_slice()");
        FreeArray<std::byte> own_values = free_array<std::byte>(0);
        const auto found = own.pairs_here([&](std::int64_t number) {
            own_values = free_array<std::byte>(number * arges::element_kernels(own.element()).size);
            return own_values.get();
        });
        auto own_keys = free_array<std::int64_t>(std::ssize(found));
        std::copy(found.begin(), found.end(), own_keys.get());
        *count = std::ssize(found);
        *keys = own_keys.release();
        *values = own_values.release();
    });
}

arges_status arges_tensor_gather(const arges_tensor* tensor, void* elements) {
    return guarded(__func__, [&] {
        const auto& own = given(tensor, "tensor").tensor;
        own.world().agree([&] {
            state_of(own, "arges_tensor_gather");
            require_array(elements, own.size(), "elements");
        });
        own.gather_all([&](std::int64_t) { return elements; });
    });
}

arges_status arges_tensor_set_array(arges_tensor* tensor, const void* elements, const int64_t* strides) {
    return guarded(__func__, [&] {
        auto& own = given(tensor, "tensor").tensor;
        std::vector<std::int64_t> steps;
        own.world().agree([&] {
            state_of(own, "arges_tensor_set_array");
            if (strides != nullptr) {
                steps = numbers_of(strides, own.order(), "strides");
            } else {
                std::int64_t step = 1;
                for (auto length : own.extents()) {
                    steps.push_back(step);
                    step *= length;
                }
            }
        });
        own.write_array(elements, steps);
    });
}

arges_status arges_tensor_sum(const arges_tensor* tensor, void* sum) {
    return guarded(__func__, [&] {
        const auto& own = given(tensor, "tensor").tensor;
        own.world().agree([&] { require_given(sum, "sum"); });
        give(own, own.sum(), sum);
    });
}

arges_status arges_tensor_norm(const arges_tensor* tensor, double* norm) {
    return guarded(__func__, [&] {
        const auto& own = given(tensor, "tensor").tensor;
        own.world().agree([&] {
            given(norm, "norm");
            require_negatives(own, "the norm");
        });
        *norm = own.norm();
    });
}

arges_status arges_tensor_norm_max(const arges_tensor* tensor, double* norm) {
    return guarded(__func__, [&] {
        const auto& own = given(tensor, "tensor").tensor;
        own.world().agree([&] {
            given(norm, "norm");
            state_of(own, "arges_tensor_norm_max");
            require_negatives(own, "the largest magnitude");
        });
        *norm = own.norm_max();
    });
}

arges_status arges_tensor_dot(const arges_tensor* a, const arges_tensor* b, void* result) {
    return guarded(__func__, [&] {
        meeting({a, b}).agree([&] {
            const auto& first = given(a, "a").tensor;
            const auto& second = given(b, "b").tensor;
            require_given(result, "result");
            state_of(first, "arges_tensor_dot");
            state_of(second, "arges_tensor_dot");
            require_negatives(first, "the scalar product");
            if (first.element() != second.element())
                refuse("elements of types " + to_string(first.element()) + " and " + to_string(second.element()) +
                       "; convert one of the tensors by arges_tensor_convert()");
        });
        give(a->tensor, a->tensor.dot(b->tensor), result);
    });
}
