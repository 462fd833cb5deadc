// The tables of the element types that have BLAS and vector kernels, under plus-times.
#include "arges/algebra.hpp"
#include "arges/element_type.hpp"
#include "base/instantiate.hpp"
#include "local/contract.hpp"
#include "local/row_products.hpp"
#include "local/transfer.hpp"
#include "redistribute/pair_kernels.hpp"

#include <array>
#include <optional>
#include <string>

namespace arges {

namespace {

template <class T>
T number(const void* element) {
    return element == nullptr ? T(1) : *static_cast<const T*>(element);
}
template <class T>
const T* in(const void* array) {
    return static_cast<const T*>(array);
}
template <class T>
T* out(void* array) {
    return static_cast<T*>(array);
}

/// What all algebras have, with the fast kernels in place of the general ones.
template <class T>
ElementKernels fast_kernels(const char* name) {
    using General = kernels::Generic<PlusTimes<T>>;
    static const T zero = 0, one = 1;
    ElementKernels k;
    k.name = name;
    k.type = &typeid(T);
    k.size = sizeof(T);
    k.is_complex = kernels::is_complex<T>;
    k.is_field = k.has_negative = k.has_product = k.has_sum = true;
    k.zero = &zero;
    k.one = &one;
    k.is_zero = General::is_zero;
    k.is_one = General::is_one;
    k.as_number = General::as_number;
    k.text = General::text;
    k.agree = General::agree;
    k.is_larger = General::is_larger;
    k.multiple = General::multiple_of;
    k.product = General::product;
    k.fill = General::fill;
    k.scale = General::scale;
    k.transfer_listed = General::transfer_listed;
    if (kernels::is_complex<T>) k.make_real = General::make_real;
    k.divide = General::divide;
    k.count_nonzero = General::count_nonzero;
    k.sparse = &kernels::Sparse<General>::table();
    k.reductions = &reductions<T>();
    k.transfer = [](std::span<const local::TransferAxis> axes, const void* from, void* to, const void* alpha, local::TransferMode mode) {
        local::transfer<T>(axes, in<T>(from), out<T>(to), number<T>(alpha), mode);
    };
    k.contract = [](const local::FoldedContraction& f, const void* alpha, const void* a, const void* b, const void* beta, void* c) {
        local::contract<T>(f, number<T>(alpha), in<T>(a), in<T>(b), number<T>(beta), out<T>(c));
    };
    k.reduce = [](const local::FoldedContraction& f, const void* alpha, const void* a, const void* beta, void* c) {
        local::reduce<T>(f, number<T>(alpha), in<T>(a), number<T>(beta), out<T>(c));
    };
    k.scale_along = [](std::span<const std::int64_t> sizes, std::span<const std::int64_t> strides, int axis,
                       std::span<const double> weights, void* data) {
        const std::vector<real_of<T>> own(weights.begin(), weights.end());
        local::scale_along<T>(sizes, strides, axis, own, out<T>(data));
    };
    k.multiply_rows = [](const local::RowProduct& product, const void* alpha, const void* a, const void* b, void* c, std::int64_t result,
                         void* copies, std::int64_t threads) {
        local::multiply_rows<T>(product, number<T>(alpha), in<T>(a), in<T>(b), out<T>(c), result, out<T>(copies), threads);
    };
    k.split_pair = [](const PairSplit& split, const void* from, void* to, const void* alpha, bool conjugate) {
        arges::split_pair(split, in<T>(from), out<T>(to), number<T>(alpha), conjugate);
    };
    k.unpack_pair = [](const PairUnpack& pair, const void* from, void* to, const void* alpha, bool conjugate, bool accumulate) {
        arges::unpack_pair(pair, in<T>(from), out<T>(to), number<T>(alpha), conjugate, accumulate);
    };
    return k;
}

}  // namespace

std::string to_string(ElementType type) {
    constexpr std::array names{"float32", "float64", "complex64", "complex128", "int16", "int32", "int64", "bool"};
    return names.at(static_cast<std::size_t>(type));
}

std::optional<ElementType> element_type_of(const ElementKernels& kernels) {
    using enum ElementType;
    for (const auto type : {float32, float64, complex64, complex128, int16, int32, int64, boolean})
        if (*kernels.type == *with_element_type(type, []<class T>() { return &typeid(T); })) return type;
    return std::nullopt;
}

const ElementKernels& element_kernels(ElementType type) {
    return with_element_type(type, []<class T>() -> const ElementKernels& { return element_kernels<T>(); });
}

#define ARGES_KERNELS(T)                                                                                                                   \
    template <>                                                                                                                            \
    const ElementKernels& element_kernels<T>() {                                                                                           \
        static const ElementKernels own = fast_kernels<T>(#T);                                                                             \
        return own;                                                                                                                        \
    }
ARGES_FOR_EACH_ELEMENT_TYPE(ARGES_KERNELS)
#undef ARGES_KERNELS

}  // namespace arges
