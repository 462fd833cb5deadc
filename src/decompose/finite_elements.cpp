#include "decompose/finite_elements.hpp"

#include "arges/error.hpp"
#include "base/text.hpp"
#include "decompose/cp/cp_driver.hpp"
#include "interface/dense/tensor_state.hpp"
#include "interface/sparse/sparse_tensor_merge.hpp"
#include "interface/world/world_state.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace arges::decompose {

namespace {

/// Of the stored elements of all ranks.
struct NotFinite {
    std::int64_t nan = 0, infinite = 0;
    std::int64_t first = std::numeric_limits<std::int64_t>::max();  ///< number of an element, the last index fastest

    std::int64_t count() const { return nan + infinite; }
};

template <class T>
NotFinite not_finite(const Tensor<T>& tensor) {
    const auto extents = tensor.extents();
    const auto& comm = tensor.state()->world->communicator();
    NotFinite found;
    comm.agree([&] {
        tensor.for_each_local([&](Index index, const T& value) {
            if (std::isfinite(value)) return;
            ++(std::isnan(value) ? found.nan : found.infinite);
            std::int64_t number = 0;
            for (std::size_t d = 0; d < extents.size(); ++d) number = number * extents[d] + index[d];
            found.first = std::min(found.first, number);
        });
    });
    std::int64_t counts[] = {found.nan, found.infinite};
    comm.sum(counts, 2);
    return {counts[0], counts[1], comm.minimum(found.first)};
}

std::vector<std::int64_t> index_of(std::int64_t number, const std::vector<std::int64_t>& extents) {
    std::vector<std::int64_t> index(extents.size());
    for (auto d = extents.size(); d-- > 0; number /= extents[d]) index[d] = number % extents[d];
    return index;
}

}  // namespace

template <class T>
void check_elements(const Tensor<T>& tensor, double norm_squared) {
    const auto title = tensor.state()->title();
    if (!std::isfinite(norm_squared))
        if (const auto found = not_finite(tensor); found.count() > 0)
            throw InvalidArgument(title + ": " + with_commas(found.count()) + " of " + with_commas(tensor.size()) +
                                  " elements are not finite (" + with_commas(found.nan) + " NaN, " + with_commas(found.infinite) +
                                  " infinite), the first is " + coordinate_text(index_of(found.first, tensor.extents()), 0) +
                                  ", counted from 0; replace them, or, if they are missing, complete a sparse tensor of the others");
    check_norm(title, norm_squared);
}

template void check_elements(const Tensor<float>&, double);
template void check_elements(const Tensor<double>&, double);

}  // namespace arges::decompose
