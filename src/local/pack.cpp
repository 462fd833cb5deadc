#include "local/pack.hpp"

#include "base/instantiate.hpp"
#include "local/scalar.hpp"

namespace arges::local {

std::vector<TransferAxis> use_copy(const CopyOrder& order, OperandStride stride) {
    std::vector<TransferAxis> result;
    std::int64_t dense = 1;
    for (std::size_t i = 0; i < order.axes.size(); ++i) {
        std::int64_t& place = order.axes[i]->*stride;
        if (place == 0 && i >= order.kept) continue;
        result.push_back({.count = order.axes[i]->size, .from_stride = place, .to_stride = dense});
        place = dense;
        dense *= order.axes[i]->size;
    }
    return result;
}

std::int64_t count(std::span<const TransferAxis> axes) {
    std::int64_t product = 1;
    for (const TransferAxis& axis : axes) product *= axis.count;
    return product;
}

template <class T>
void scale_result(std::span<const FoldAxis> axes, T beta, T* c) {
    if (beta == T(1)) return;
    const T zero = 0;
    std::vector<TransferAxis> moved;
    for (const FoldAxis& axis : axes) moved.push_back({axis.size, beta == T(0) ? 0 : axis.stride_c, axis.stride_c});
    if (beta == T(0))
        transfer<T>(moved, &zero, c, 1, {});
    else
        transfer<T>(moved, c, c, beta, {});
}

#define ARGES_INSTANTIATE(T) template void scale_result<T>(std::span<const FoldAxis>, T, T*);
ARGES_FOR_EACH_ELEMENT_TYPE(ARGES_INSTANTIATE)
#undef ARGES_INSTANTIATE

}  // namespace arges::local
