// The functions of arges.h for the elements of tensors.
#include "c/arges_c.hpp"

#include <algorithm>
#include <complex>
#include <cstring>
#include <span>

using namespace arges::c;
using arges::handles::element_of;
using arges::handles::is_sparse_tensor;

namespace {

/// A tensor, or a sparse one, whose elements are written to the caller's memory as they come.
template <class Tensor>
class Direct : public Tensor {
public:
    explicit Direct(const Tensor& tensor) : Tensor(tensor.state()) {}

    void read_into(std::span<const std::int64_t> keys, void* values) const {
        this->read_pairs(keys, [&](std::int64_t) { return values; });
    }
    void gather_into(void* elements) const {
        this->gather_all([&](std::int64_t) { return elements; });
    }
};

template <class T>
std::span<const T> values_of(const void* values, std::int64_t count) {
    return {static_cast<const T*>(values), static_cast<std::size_t>(count)};
}

void check_pairs(std::int64_t count, const std::int64_t* keys, const void* values) {
    require_array(keys, count, "keys");
    require_array(values, count, "values");
}

void require_dense(const TensorHandle& tensor, const char* what) {
    tensor.visit_dense(what, [](const auto&) {});
}

/// @throws InvalidArgument for bool
void require_negatives(const TensorHandle& tensor, const char* what) {
    if (tensor.element() == arges::ElementType::boolean)
        refuse(tensor.title() + ": " + what + " of elements of type bool; convert the tensor by arges_tensor_convert()");
}

/// f(tensor) where elements have negatives, which require_negatives() has seen to.
template <class F>
void with_negatives(const TensorHandle& tensor, F&& f) {
    tensor.visit([&](const auto& own) {
        if constexpr (arges::kernels::has_negative<element_of<decltype(own)>>) f(own);
    });
}

/// The sum as an element.
template <class Tensor>
element_of<Tensor> sum_of(const Tensor& tensor) {
    using T = element_of<Tensor>;
    if constexpr (arges::kernels::has_negative<T> && (!is_sparse_tensor<Tensor> || !std::is_integral_v<T>))
        return static_cast<T>(tensor.sum());
    else
        return static_cast<arges::Expression<T>>(tensor[arges::handles::all_labels(tensor.order())]);
}

/// A function of two dense tensors of one type.
template <class F>
void with_two(const arges_tensor* a, const arges_tensor* b, F&& f) {
    a->handle.visit_dense("dot", [&]<class Tensor>(const Tensor& first) {
        b->handle.visit_dense("dot", [&]<class Other>(const Other& second) {
            if constexpr (std::is_same_v<Tensor, Other>) f(first, second);
        });
    });
}

}  // namespace

arges_status arges_tensor_fill(arges_tensor* tensor, const void* value) {
    return guarded(__func__, [&] {
        auto& handle = given(tensor, "tensor").handle;
        handle.world().agree([&] { require_given(value, "value"); });
        handle.visit([&](auto& own) { own.fill(element_at<element_of<decltype(own)>>(value)); });
    });
}

arges_status arges_tensor_fill_random(arges_tensor* tensor, uint64_t seed, double low, double high) {
    return guarded(__func__, [&] {
        auto& handle = given(tensor, "tensor").handle;
        handle.world().agree([&] { require_floating(handle, "arges_tensor_fill_random"); });
        handle.visit([&](auto& own) {
            using T = element_of<decltype(own)>;
            using Real = arges::real_of<T>;
            if constexpr (arges::kernels::has_fractions<T> && !is_sparse_tensor<decltype(own)>)
                own.fill_random(seed, static_cast<Real>(low), static_cast<Real>(high));
        });
    });
}

arges_status arges_tensor_write(arges_tensor* tensor, int64_t count, const int64_t* keys, const void* values, arges_duplicates duplicates) {
    return guarded(__func__, [&] {
        auto& handle = given(tensor, "tensor").handle;
        auto policy = arges::Duplicates::refuse;
        handle.world().agree([&] {
            check_pairs(count, keys, values);
            policy = choice<arges::Duplicates>(duplicates, ARGES_KEEP_FIRST, "duplicates");
        });
        const std::span own_keys(keys, count);
        handle.visit([&](auto& own) {
            const auto own_values = values_of<element_of<decltype(own)>>(values, count);
            if constexpr (is_sparse_tensor<decltype(own)>)
                own.write(own_keys, own_values, policy);
            else
                own.write(own_keys, own_values);
        });
    });
}

arges_status arges_tensor_accumulate(arges_tensor* tensor, int64_t count, const int64_t* keys, const void* values, const void* alpha,
                                     const void* beta) {
    return guarded(__func__, [&] {
        auto& handle = given(tensor, "tensor").handle;
        handle.world().agree([&] { check_pairs(count, keys, values); });
        handle.visit([&](auto& own) {
            using T = element_of<decltype(own)>;
            own.accumulate(std::span(keys, static_cast<std::size_t>(count)), values_of<T>(values, count),
                           alpha == nullptr ? T(1) : element_at<T>(alpha), beta == nullptr ? T(1) : element_at<T>(beta));
        });
    });
}

arges_status arges_tensor_read(const arges_tensor* tensor, int64_t count, const int64_t* keys, void* values) {
    return guarded(__func__, [&] {
        const auto& handle = given(tensor, "tensor").handle;
        handle.world().agree([&] { check_pairs(count, keys, values); });
        handle.visit([&]<class Tensor>(const Tensor& own) {
            Direct<Tensor>(own).read_into({keys, static_cast<std::size_t>(count)}, values);
        });
    });
}

arges_status arges_tensor_local_pairs(const arges_tensor* tensor, int64_t* count, int64_t** keys, void** values) {
    return guarded(__func__, [&] {
        const auto& handle = given(tensor, "tensor").handle;
        given(count, "count"), given(keys, "keys"), given(values, "values");
        handle.visit([&]<class Tensor>(const Tensor& own) {
            using T = element_of<Tensor>;
            std::int64_t number = 0;
            FreeArray<std::int64_t> own_keys;
            FreeArray<T> own_values;
            const auto take = [&](std::int64_t found) {
                number = found;
                own_keys = free_array<std::int64_t>(number);
                own_values = free_array<T>(number);
            };
            if constexpr (is_sparse_tensor<Tensor>) {
                if (!own.has_keys())
                    refuse(handle.title() + " has elements beyond 64-bit keys; make slices of it with arges_tensor_slice()");
                take(own.local_nonzeros());
                std::fill_n(own_keys.get(), number, 0);
                for (int mode = own.order() - 1; mode >= 0; --mode) {
                    const auto indices = own.local_indices(mode);
                    const auto length = own.lengths()[mode];
                    for (std::size_t e = 0; e < indices.size(); ++e) own_keys.get()[e] = own_keys.get()[e] * length + indices[e];
                }
                std::copy_n(own.local_values().begin(), number, own_values.get());
            } else {
                const auto pairs = own.local_pairs();
                take(std::ssize(pairs.first));
                std::copy(pairs.first.begin(), pairs.first.end(), own_keys.get());
                std::copy(pairs.second.begin(), pairs.second.end(), own_values.get());
            }
            *count = number;
            *keys = own_keys.release();
            *values = own_values.release();
        });
    });
}

arges_status arges_tensor_gather(const arges_tensor* tensor, void* elements) {
    return guarded(__func__, [&] {
        const auto& handle = given(tensor, "tensor").handle;
        handle.world().agree(
            [&] { handle.visit_dense("arges_tensor_gather", [&](const auto& own) { require_array(elements, own.size(), "elements"); }); });
        handle.visit_dense("arges_tensor_gather", [&]<class Tensor>(const Tensor& own) { Direct<Tensor>(own).gather_into(elements); });
    });
}

arges_status arges_tensor_set_array(arges_tensor* tensor, const void* elements, const int64_t* strides) {
    return guarded(__func__, [&] {
        auto& handle = given(tensor, "tensor").handle;
        std::vector<std::int64_t> steps;
        handle.world().agree([&] {
            require_dense(handle, "arges_tensor_set_array");
            if (strides != nullptr) {
                steps = numbers_of(strides, handle.order(), "strides");
            } else {
                std::int64_t step = 1;
                for (auto length : handle.extents()) {
                    steps.push_back(step);
                    step *= length;
                }
            }
        });
        handle.visit([&](auto& own) {
            if constexpr (!is_sparse_tensor<decltype(own)>) own.set_array(static_cast<const element_of<decltype(own)>*>(elements), steps);
        });
    });
}

arges_status arges_tensor_sum(const arges_tensor* tensor, void* sum) {
    return guarded(__func__, [&] {
        const auto& handle = given(tensor, "tensor").handle;
        handle.world().agree([&] { require_given(sum, "sum"); });
        handle.visit([&](const auto& own) {
            const auto result = sum_of(own);
            std::memcpy(sum, &result, sizeof result);
        });
    });
}

arges_status arges_tensor_norm(const arges_tensor* tensor, double* norm) {
    return guarded(__func__, [&] {
        const auto& handle = given(tensor, "tensor").handle;
        handle.world().agree([&] {
            given(norm, "norm");
            require_negatives(handle, "the norm");
        });
        with_negatives(handle, [&](const auto& own) { *norm = static_cast<double>(own.norm()); });
    });
}

arges_status arges_tensor_norm_max(const arges_tensor* tensor, double* norm) {
    return guarded(__func__, [&] {
        const auto& handle = given(tensor, "tensor").handle;
        handle.world().agree([&] {
            given(norm, "norm");
            require_dense(handle, "arges_tensor_norm_max");
            require_negatives(handle, "the largest magnitude");
        });
        with_negatives(handle, [&](const auto& own) {
            if constexpr (!is_sparse_tensor<decltype(own)>) *norm = own.norm_max();
        });
    });
}

arges_status arges_tensor_dot(const arges_tensor* a, const arges_tensor* b, void* result) {
    return guarded(__func__, [&] {
        meeting({a, b}).agree([&] {
            const auto& first = given(a, "a").handle;
            const auto& second = given(b, "b").handle;
            require_given(result, "result");
            require_dense(first, "arges_tensor_dot");
            require_dense(second, "arges_tensor_dot");
            require_negatives(first, "the scalar product");
            if (first.element() != second.element())
                refuse("elements of types " + to_string(first.element()) + " and " + to_string(second.element()) +
                       "; convert one of the tensors by arges_tensor_convert()");
        });
        with_two(a, b, [&](const auto& first, const auto& second) {
            if constexpr (arges::kernels::has_negative<element_of<decltype(first)>>) {
                const auto dot = first.dot(second);
                std::memcpy(result, &dot, sizeof dot);
            }
        });
    });
}
