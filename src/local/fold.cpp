// Axes of a contraction are joined where they continue each other in all operands, as a tensor product is folded into a matrix product.
#include "local/fold.hpp"

#include <algorithm>

namespace arges::local {
namespace {

bool continues(const FoldAxis& low, const FoldAxis& high) {
    return high.stride_a == low.stride_a * low.size && high.stride_b == low.stride_b * low.size && high.stride_c == low.stride_c * low.size;
}

/// `absent` is the operand without the group, or null.
std::vector<FoldAxis> simplify_group(std::span<const FoldAxis> group, OperandStride absent) {
    std::vector<FoldAxis> axes;
    for (FoldAxis axis : group) {
        if (absent) axis.*absent = 0;
        if (axis.size != 1) axes.push_back(axis);
    }
    if (entries(axes) == 0) return axes;
    for (std::size_t i = 0; i < axes.size(); ++i)
        for (std::size_t j = 0; j < axes.size();) {
            if (i == j || !continues(axes[i], axes[j])) {
                ++j;
                continue;
            }
            axes[i].size *= axes[j].size;
            axes.erase(axes.begin() + j);
            if (j < i) --i;
            j = 0;  // the longer axis may have other neighbours
        }
    return axes;
}

}  // namespace

std::int64_t entries(std::span<const FoldAxis> axes) {
    std::int64_t product = 1;
    for (const FoldAxis& axis : axes) product *= axis.size;
    return product;
}

std::int64_t elements(std::span<const FoldAxis> axes, OperandStride stride) {
    std::int64_t product = 1;
    for (const FoldAxis& axis : axes) product *= axis.*stride == 0 ? 1 : axis.size;
    return product;
}

FoldedContraction simplify(const FoldedContraction& f) {
    return {simplify_group(f.m, &FoldAxis::stride_b), simplify_group(f.n, &FoldAxis::stride_a), simplify_group(f.k, &FoldAxis::stride_c),
            simplify_group(f.batch, nullptr)};
}

bool is_chain(std::span<const FoldAxis> axes, OperandStride stride) {
    for (std::size_t i = 1; i < axes.size(); ++i)
        if (axes[i].*stride != axes[i - 1].*stride * axes[i - 1].size) return false;
    return true;
}

std::vector<FoldAxis> sorted_by(std::span<const FoldAxis> axes, OperandStride stride) {
    std::vector<FoldAxis> sorted(axes.begin(), axes.end());
    std::stable_sort(sorted.begin(), sorted.end(), [&](const FoldAxis& x, const FoldAxis& y) { return x.*stride < y.*stride; });
    return sorted;
}

std::vector<FoldAxis> join(std::initializer_list<std::span<const FoldAxis>> groups) {
    std::vector<FoldAxis> all;
    for (const auto& group : groups) all.insert(all.end(), group.begin(), group.end());
    return all;
}

std::int64_t OperandBlock::stride_of(int axis) const {
    const auto place = std::find(axes.begin(), axes.end(), axis);
    return place == axes.end() ? -1 : strides[place - axes.begin()];
}

OperandBlock dense_block(const std::vector<int>& axes, const std::vector<std::int64_t>& length) {
    OperandBlock block{axes, {}, {}, 0};
    std::int64_t stride = 1;
    for (int a : axes) {
        block.sizes.push_back(length[a]);
        block.strides.push_back(stride);
        stride *= block.sizes.back();
    }
    return block;
}

FoldedContraction folded(const OperandBlock& a, const OperandBlock* b, const OperandBlock& c) {
    FoldedContraction fold;
    const auto add = [&](int axis, std::int64_t size) {
        const auto in_a = a.stride_of(axis), in_b = b != nullptr ? b->stride_of(axis) : -1, in_c = c.stride_of(axis);
        auto& axes = in_c < 0 ? fold.k : in_a >= 0 && in_b >= 0 ? fold.batch : in_a >= 0 ? fold.m : fold.n;
        axes.push_back({size, std::max<std::int64_t>(in_a, 0), std::max<std::int64_t>(in_b, 0), std::max<std::int64_t>(in_c, 0)});
    };
    for (std::size_t i = 0; i < a.axes.size(); ++i) add(a.axes[i], a.sizes[i]);
    if (b == nullptr) return fold;
    for (std::size_t i = 0; i < b->axes.size(); ++i)
        if (a.stride_of(b->axes[i]) < 0) add(b->axes[i], b->sizes[i]);
    return fold;
}

}  // namespace arges::local
