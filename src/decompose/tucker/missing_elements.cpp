#include "decompose/tucker/missing_elements.hpp"

#include "decompose/distribution/dense_block.hpp"
#include "interface/dense/tensor_state.hpp"
#include "sparse/blocked_sum.hpp"

#include <array>
#include <cmath>

namespace arges::decompose {

namespace {

std::int64_t local_size(const TensorState& state) { return state.layout.local_size(state.world->communicator().rank()); }

/// Sums of term(place) over the elements of this rank that count, of all ranks.
template <std::size_t n, class F>
std::array<double, n> sums_over(const TensorState& state, F&& term) {
    const auto& comm = state.world->communicator();
    auto sums = sparse::blocked_sums<n>(block_position(state.layout, comm.rank()).count(), term);
    comm.sum(sums.data(), n);
    return sums;
}

}  // namespace

template <class T>
KnownSums known_sums(const Tensor<T>& tensor) {
    const HostElements here(*tensor.state());
    const T* const x = here.of<T>();
    const auto sums = sums_over<3>(*tensor.state(), [&](std::int64_t i) -> std::array<double, 3> {
        const double value = x[i];
        if (std::isnan(value)) return {};
        return {1, value, value * value};
    });
    return {sums[0], sums[1], sums[2]};
}

template <class T>
Tensor<T> filled_with(const Tensor<T>& tensor, double value) {
    Tensor<T> filled = tensor;
    ChangedHostElements here(*filled.state());
    T* const x = here.of<T>();
    const auto count = local_size(*filled.state());
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < count; ++i)
        if (std::isnan(x[i])) x[i] = static_cast<T>(value);
    return filled;
}

template <class T>
Residuals refill(const Tensor<T>& tensor, const Tensor<T>& model, Tensor<T>& filled) {
    const HostElements known(*tensor.state()), of_model(*model.state());
    const T *const x = known.of<T>(), *const m = of_model.of<T>();
    {
        ChangedHostElements changed(*filled.state());
        T* const to = changed.of<T>();
        const auto count = local_size(*filled.state());
#pragma omp parallel for schedule(static)
        for (std::int64_t i = 0; i < count; ++i)
            if (std::isnan(x[i])) to[i] = m[i];
    }
    const auto sums = sums_over<2>(*tensor.state(), [&](std::int64_t i) -> std::array<double, 2> {
        const double value = x[i], of = m[i], e = value - of;
        if (std::isnan(value)) return {0, of * of};
        return {e * e, value * value};
    });
    return {sums[0], sums[1]};
}

#define ARGES_INSTANTIATE(T)                                                                                                               \
    template KnownSums known_sums(const Tensor<T>&);                                                                                       \
    template Tensor<T> filled_with(const Tensor<T>&, double);                                                                              \
    template Residuals refill(const Tensor<T>&, const Tensor<T>&, Tensor<T>&);
ARGES_INSTANTIATE(float)
ARGES_INSTANTIATE(double)
#undef ARGES_INSTANTIATE

}  // namespace arges::decompose
