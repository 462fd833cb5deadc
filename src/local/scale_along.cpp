// Multiplies by weights along axes, in runs along the one of smallest stride, after joining axes without weights.
#include "local/contract.hpp"

#include "base/instantiate.hpp"

#include <algorithm>
#include <complex>

namespace arges::local {
namespace {

constexpr std::int64_t scaling_for_threads = 1 << 15;  // below, one thread is faster

struct Axis {
    std::int64_t size, stride;
    bool weighted;
};

/// The axes of more than one entry, the smallest stride first; axes without weights that continue
/// each other are joined.
std::vector<Axis> simplified(std::span<const std::int64_t> sizes, std::span<const std::int64_t> strides, int axis) {
    std::vector<Axis> axes;
    for (std::size_t i = 0; i < sizes.size(); ++i) axes.push_back({sizes[i], strides[i], static_cast<int>(i) == axis});
    std::sort(axes.begin(), axes.end(), [](const Axis& x, const Axis& y) { return x.stride < y.stride; });
    std::vector<Axis> joined;
    for (const Axis& next : axes) {
        if (next.size == 1 && !next.weighted) continue;
        const bool continues =
            !joined.empty() && !joined.back().weighted && !next.weighted && next.stride == joined.back().size * joined.back().stride;
        if (continues)
            joined.back().size *= next.size;
        else
            joined.push_back(next);
    }
    return joined;
}

/// One run along the innermost axis: `weights` are those of its entries, or the one of the whole
/// run.
template <class T>
void scale_run(const Axis& axis, const real_of<T>* weights, T* data) {
    if (axis.weighted && axis.stride == 1)
        for (std::int64_t i = 0; i < axis.size; ++i) data[i] *= weights[i];
    else if (axis.weighted)
        for (std::int64_t i = 0; i < axis.size; ++i) data[i * axis.stride] *= weights[i];
    else if (axis.stride == 1)
        for (std::int64_t i = 0; i < axis.size; ++i) data[i] *= *weights;
    else
        for (std::int64_t i = 0; i < axis.size; ++i) data[i * axis.stride] *= *weights;
}

}  // namespace

template <class T>
void scale_along(std::span<const std::int64_t> sizes, std::span<const std::int64_t> strides, int axis, std::span<const real_of<T>> weights,
                 T* data) {
    const std::vector<Axis> axes = simplified(sizes, strides, axis);
    std::int64_t runs = 1;
    for (std::size_t i = 1; i < axes.size(); ++i) runs *= axes[i].size;
#pragma omp parallel for schedule(static) if (runs * axes[0].size >= scaling_for_threads)
    for (std::int64_t run = 0; run < runs; ++run) {
        std::int64_t rest = run, offset = 0;
        const real_of<T>* weight = weights.data();
        for (std::size_t i = 1; i < axes.size(); ++i) {
            const std::int64_t index = rest % axes[i].size;
            rest /= axes[i].size;
            offset += index * axes[i].stride;
            if (axes[i].weighted) weight += index;
        }
        scale_run<T>(axes[0], weight, data + offset);
    }
}

#define ARGES_INSTANTIATE(T)                                                                                                               \
    template void scale_along<T>(std::span<const std::int64_t>, std::span<const std::int64_t>, int, std::span<const real_of<T>>, T*);
ARGES_FOR_EACH_ELEMENT_TYPE(ARGES_INSTANTIATE)
#undef ARGES_INSTANTIATE

}  // namespace arges::local
