#include "decompose/tucker/missing_elements.hpp"

#include "decompose/distribution/dense_block.hpp"
#include "decompose/largest_weight.hpp"
#include "decompose/tucker/dense_unfolding.hpp"
#include "interface/dense/tensor_state.hpp"
#include "sparse/blocked_sum.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace arges::decompose {

namespace {

/// Elements of this rank, copies of those of others included.
std::int64_t local_size(const TensorState& state) { return state.layout.local_size(state.world->communicator().rank()); }

/// Sums of term(place) over the elements of all ranks, each counted once; term() is called for copies, too.
template <std::size_t n, class F>
std::array<double, n> sums_over(const TensorState& state, F&& term) {
    auto sums = sparse::blocked_sums<n>(local_size(state), term);
    if (block_position(state.layout, state.world->communicator().rank()).count() == 0) sums = {};
    state.world->communicator().sum(sums.data(), n);
    return sums;
}

/// Elements of this rank, and their weights relative to the largest.
template <class T>
class Block {
public:
    Block(const Tensor<T>& tensor, const std::optional<Tensor<T>>& weights, double largest) : tensor_(*tensor.state()), largest_(largest) {
        if (weights) weights_.emplace(*weights->state());
    }
    double value(std::int64_t i) const { return tensor_.template of<T>()[i]; }
    double weight(std::int64_t i) const { return weights_ ? static_cast<double>(weights_->template of<T>()[i]) / largest_ : 1; }
    /// What an element becomes where the model has `m`.
    double filled(std::int64_t i, double m) const {
        const double x = value(i);
        return std::isnan(x) ? m : m + weight(i) * (x - m);
    }

private:
    HostElements tensor_;
    std::optional<HostElements> weights_;
    double largest_;
};

}  // namespace

template <class T>
KnownPart<T>::KnownPart(Tensor<T> tensor, const Tensor<T>* weights) : known_(std::move(tensor)) {
    const auto& state = *known_->state();
    if (weights) {
        weights_.emplace(on_layout_of(*weights, *known_).tensor);
        const Block<T> block(*known_, weights_, 1);
        double largest = 0;
        for (std::int64_t i = 0; i < local_size(state); ++i)
            if (!std::isnan(block.value(i))) largest = std::max(largest, block.weight(i));
        largest_ = largest_weight(state.world->communicator(), largest);
    }
    const Block<T> block(*known_, weights_, largest_);
    const auto sums = sums_over<3>(state, [&](std::int64_t i) -> std::array<double, 3> {
        const double x = block.value(i), w = block.weight(i);
        if (std::isnan(x)) return {};
        return {w, w * x, w * x * x};
    });
    sums_ = {sums[0], sums[1], sums[2]};
}

template <class T>
Tensor<T> KnownPart<T>::filled() const {
    Tensor<T> result = *known_;
    const double mean = sums_.sum / sums_.count;
    const Block<T> block(*known_, weights_, largest_);
    ChangedHostElements changed(*result.state());
    T* const to = changed.of<T>();
    const auto count = local_size(*result.state());
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<T>(block.filled(i, mean));
    return result;
}

template <class T>
std::int64_t KnownPart<T>::move_to(const Tensor<T>& other) {
    auto moved = on_layout_of(*known_, other);
    known_.emplace(std::move(moved.tensor));
    if (!weights_) return moved.planned_bytes;
    auto weights = on_layout_of(*weights_, other);
    weights_.emplace(std::move(weights.tensor));
    return moved.planned_bytes + weights.planned_bytes;
}

template <class T>
Residuals KnownPart<T>::refill(const T* m, Tensor<T>& filled) const {
    const Block<T> block(*known_, weights_, largest_);
    ChangedHostElements changed(*filled.state());
    T* const to = changed.of<T>();
    const auto sums = sums_over<2>(*known_->state(), [&](std::int64_t i) -> std::array<double, 2> {
        const double x = block.value(i), e = x - static_cast<double>(m[i]), all = block.filled(i, m[i]);
        to[i] = static_cast<T>(all);
        return {std::isnan(x) ? 0 : block.weight(i) * e * e, all * all};
    });
    return {sums[0], sums[1]};
}

template class KnownPart<float>;
template class KnownPart<double>;

}  // namespace arges::decompose
