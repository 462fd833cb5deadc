#include "support/reference_kernels.hpp"

#include "base/instantiate.hpp"
#include "local/scalar.hpp"

#include <complex>
#include <cstdint>

namespace arges::local {
namespace {

/// Calls visit(a, b, c) with the offsets of every combination of the entries of the axes.
template <class Visitor>
void for_each(std::span<const FoldAxis> axes, FoldAxis at, const Visitor& visit) {
    if (axes.empty()) return visit(at.stride_a, at.stride_b, at.stride_c);
    const FoldAxis& axis = axes.front();
    for (std::int64_t i = 0; i < axis.size; ++i)
        for_each(axes.subspan(1),
                 FoldAxis{1, at.stride_a + i * axis.stride_a, at.stride_b + i * axis.stride_b, at.stride_c + i * axis.stride_c}, visit);
}

std::vector<FoldAxis> axes_of_result(const FoldedContraction& f) {
    std::vector<FoldAxis> axes = f.batch;
    axes.insert(axes.end(), f.m.begin(), f.m.end());
    axes.insert(axes.end(), f.n.begin(), f.n.end());
    return axes;
}

}  // namespace

template <class T>
void reference_transfer(std::span<const TransferAxis> axes, const T* from, T* to, T alpha, TransferMode mode) {
    if (axes.empty()) {
        const T value = alpha * (mode.conjugate ? conjugate(*from) : *from);
        *to = mode.accumulate ? *to + value : value;
        return;
    }
    const TransferAxis& axis = axes.front();
    for (std::int64_t i = 0; i < axis.count; ++i) {
        const std::uint8_t factor = axis.factor ? axis.factor[i] : 0;
        const TransferMode inner{mode.conjugate != ((factor & 2) != 0), mode.accumulate};
        reference_transfer(axes.subspan(1), from + (axis.from ? axis.from[i] : i * axis.from_stride),
                           to + (axis.to ? axis.to[i] : i * axis.to_stride), (factor & 1) ? -alpha : alpha, inner);
    }
}

template <class T>
void reference_contract(const FoldedContraction& f, T alpha, const T* a, const T* b, T beta, T* c) {
    for_each(axes_of_result(f), FoldAxis{}, [&](std::int64_t at_a, std::int64_t at_b, std::int64_t at_c) {
        T sum = 0;
        for_each(f.k, FoldAxis{1, at_a, at_b, 0}, [&](std::int64_t i, std::int64_t j, std::int64_t) { sum += a[i] * b[j]; });
        c[at_c] = beta == T(0) ? alpha * sum : alpha * sum + beta * c[at_c];
    });
}

template <class T>
void reference_reduce(const FoldedContraction& f, T alpha, const T* a, T beta, T* c) {
    std::vector<FoldAxis> axes = f.batch;
    axes.insert(axes.end(), f.m.begin(), f.m.end());
    for_each(axes, FoldAxis{}, [&](std::int64_t at_a, std::int64_t, std::int64_t at_c) {
        T sum = 0;
        for_each(f.k, FoldAxis{1, at_a, 0, 0}, [&](std::int64_t i, std::int64_t, std::int64_t) { sum += a[i]; });
        c[at_c] = beta == T(0) ? alpha * sum : alpha * sum + beta * c[at_c];
    });
}

#define ARGES_INSTANTIATE(T)                                                                                                               \
    template void reference_transfer<T>(std::span<const TransferAxis>, const T*, T*, T, TransferMode);                                     \
    template void reference_contract<T>(const FoldedContraction&, T, const T*, const T*, T, T*);                                           \
    template void reference_reduce<T>(const FoldedContraction&, T, const T*, T, T*);
ARGES_FOR_EACH_ELEMENT_TYPE(ARGES_INSTANTIATE)
#undef ARGES_INSTANTIATE

}  // namespace arges::local
