// Sums, norms, extrema and printing. Each orbit is stored once, so elements are weighted by orbit sizes.
#include "base/instantiate.hpp"
#include "base/math.hpp"
#include "comm/collective_call.hpp"
#include "comm/values.hpp"
#include "interface/tensor_state.hpp"
#include "layout/orbit_sizes.hpp"
#include "local/scalar.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <ostream>
#include <span>

namespace arges {

namespace {

/// Sums weights[i] * f(offset + i * stride); eight sums take turns, so that no addition waits for the
/// one before it.
template <class F>
auto weighted_row(std::span<const double> weights, std::int64_t offset, std::int64_t stride, F&& f) {
    using Sum = decltype(f(std::int64_t{0}));
    constexpr std::size_t width = 8;
    std::array<Sum, width> sums{};
    std::size_t i = 0;
    auto add = [&](Sum& sum, std::size_t at) {
        if (weights[at] != 0) sum += weights[at] * f(offset + static_cast<std::int64_t>(at) * stride);
    };
    for (; i + width <= weights.size(); i += width)
        for (std::size_t k = 0; k < width; ++k) add(sums[k], i + k);
    for (; i < weights.size(); ++i) add(sums[i % width], i);
    return std::accumulate(sums.begin(), sums.end(), Sum{});
}

/// Sums weight * f(offset) over the elements of a rank; the fastest slot is the inner loop.
template <class F>
auto weighted_sum(const Layout& layout, std::int64_t rank, F&& f) {
    using Sum = decltype(f(std::int64_t{0}));
    if (layout.local_size(rank) == 0) return Sum{};
    std::vector<std::vector<double>> weights;
    for (int s = 0; s < layout.slots(); ++s) weights.push_back(orbit_sizes(layout.slot(s), layout.place(rank, s)));
    const auto strides = layout.strides(rank);
    auto walk = [&](auto&& self, int s, std::int64_t offset) -> Sum {
        if (s < 0) return f(offset);
        const auto& w = weights[static_cast<std::size_t>(s)];
        if (s == 0) return weighted_row(w, offset, strides[0], f);
        Sum sum{};
        for (std::size_t i = 0; i < w.size(); ++i)
            if (w[i] != 0)
                sum += w[i] * self(self, s - 1, offset + static_cast<std::int64_t>(i) * strides[static_cast<std::size_t>(s)]);
        return sum;
    };
    return walk(walk, layout.slots() - 1, 0);
}

/// Sum over ranks, each copy once, with double precision.
template <class T, class F>
std::complex<double> global_sum(const TensorState<T>& state, F&& f) {
    if (state.world->dry()) return 0;
    std::complex<double> local = 0;
    if (state.shape().is_first_copy(state.rank())) local = weighted_sum(state.shape(), state.rank(), f);
    double parts[2] = {local.real(), local.imag()};
    state.world->communicator().sum(parts, 2);
    return {parts[0], parts[1]};
}

/// A value with double precision, in which it is summed.
template <class T>
auto widened(T value) {
    if constexpr (std::is_same_v<T, real_of<T>>)
        return static_cast<double>(value);
    else
        return std::complex<double>(value);
}

/// Absolute value; NaN where a part is NaN, also beside an infinite one.
template <class T>
real_of<T> magnitude(T value) {
    const bool is_nan = value != value;
    return is_nan ? std::numeric_limits<real_of<T>>::quiet_NaN() : std::abs(value);
}

/// value * 2^exponent, without overflow on the way.
inline double times_power(double value, int exponent) { return std::ldexp(value, exponent); }
inline std::complex<double> times_power(std::complex<double> value, int exponent) {
    return {std::ldexp(value.real(), exponent), std::ldexp(value.imag(), exponent)};
}

/// What z and its conjugate add up to, halved: the imaginary part is zero, or NaN where it is not finite.
template <class V>
V without_imaginary(V value) {
    if constexpr (std::is_same_v<V, double>)
        return value;
    else
        return {value.real(), value.imag() - value.imag()};
}

template <class T>
T narrowed(std::complex<double> value) {
    if constexpr (std::is_same_v<T, real_of<T>>)
        return static_cast<T>(value.real());
    else
        return T(static_cast<real_of<T>>(value.real()), static_cast<real_of<T>>(value.imag()));
}

/// The best element over all ranks by a measure of its value; NaN is better than all others, ties go to the smallest key.
template <class T, class Better>
Extremum<T> extremum(const Tensor<T>& tensor, const TensorState<T>& state, Better&& better) {
    struct Candidate {
        std::int64_t key = -1;
        T value{};
    };
    if (state.world->dry()) return {};
    const CollectiveCall call(state.world->exchange_communicator(), "Tensor::largest_magnitude, minimum or maximum");
    Candidate best;
    auto better_or_nan = [&](T a, T b) {
        const bool a_is_nan = a != a, b_is_nan = b != b;
        return a_is_nan || b_is_nan ? a_is_nan && !b_is_nan : better(a, b);
    };
    auto consider = [&](const Candidate& c) {
        if (c.key < 0) return;
        if (best.key < 0 || better_or_nan(c.value, best.value) || (!better_or_nan(best.value, c.value) && c.key < best.key))
            best = c;
    };
    for_each_element(state.shape(), state.rank(), [&](std::int64_t offset, const std::vector<std::int64_t>& x) {
        consider({tensor.key(x), state.data[offset]});
    });
    const auto all = gathered(state.world->communicator(), std::vector<Candidate>{best});
    for (const auto& c : all) consider(c);
    if (best.key < 0) return {};
    return {best.value, tensor.index(best.key)};
}

/// Exchanges the first two children of an antisymmetric node in an index; false if there is none.
bool change_sign(const SymmetryNode& node, std::vector<std::int64_t>& index) {
    if (node.kind != NodeKind::antisymmetric)
        return std::any_of(node.children.begin(), node.children.end(),
                           [&](const auto& child) { return change_sign(child, index); });
    const auto a = node.children[0].dimensions(), b = node.children[1].dimensions();
    for (std::size_t l = 0; l < a.size(); ++l)
        std::swap(index[static_cast<std::size_t>(a[l])], index[static_cast<std::size_t>(b[l])]);
    return true;
}

/// Smallest or largest element of the full tensor: a stored element, its negative, or a zero that symmetry puts on a diagonal.
template <class T>
Extremum<T> signed_extremum(const Tensor<T>& tensor, const TensorState<T>& state, bool largest) {
    if constexpr (!std::is_same_v<T, real_of<T>>) {
        throw Unsupported(state.title() + ": complex numbers have no order; use largest_magnitude(), or real() and imag()");
    } else {
        const bool signs = contains_kind(tensor.symmetry(), NodeKind::antisymmetric);
        auto better = [&](T a, T b) { return largest ? a > b : a < b; };
        auto larger = [&](T a, T b) { return std::abs(a) > std::abs(b); };
        auto best = signs ? extremum(tensor, state, larger) : extremum(tensor, state, better);
        if (std::isnan(best.value)) return best;
        if (signs && best.value != 0 && (best.value > 0) != largest) {
            best.value = -best.value;
            for (const auto& slot : tensor.symmetry().slots())
                if (change_sign(slot, best.index)) break;
        }
        const bool zeros = (signs || contains_kind(tensor.symmetry(), NodeKind::hollow)) && tensor.size() > 0;
        if (zeros && (best.index.empty() || better(T(0), best.value)))
            best = {T(0), std::vector<std::int64_t>(static_cast<std::size_t>(tensor.order()), 0)};
        return best;
    }
}

}  // namespace

template <class T>
T Tensor<T>::sum() const {
    const auto& state = state_of(*this, "sum");
    const CollectiveCall call(state.world->exchange_communicator(), "Tensor::sum");
    // Elements of opposite sign cancel, unless they are not finite.
    if (contains_kind(symmetry(), NodeKind::antisymmetric))
        return narrowed<T>(global_sum(state, [&](std::int64_t i) { return widened(state.data[i]) - widened(state.data[i]); }));
    const bool real_sum = contains_kind(symmetry(), NodeKind::hermitian);
    return narrowed<T>(global_sum(state, [&](std::int64_t i) {
        const auto v = widened(state.data[i]);
        return real_sum ? without_imaginary(v) : v;
    }));
}

template <class T>
real_of<T> Tensor<T>::norm1() const {
    const auto& state = state_of(*this, "norm1");
    const CollectiveCall call(state.world->exchange_communicator(), "Tensor::norm1");
    return narrowed<real_of<T>>(
        global_sum(state, [&](std::int64_t i) { return static_cast<double>(magnitude(state.data[i])); }));
}

template <class T>
real_of<T> Tensor<T>::norm() const {
    const auto& state = state_of(*this, "norm");
    const CollectiveCall call(state.world->exchange_communicator(), "Tensor::norm");
    const double squares = global_sum(state, [&](std::int64_t i) { return std::norm(widened(state.data[i])); }).real();
    if (state.world->dry() || !must_be_scaled(squares)) return static_cast<real_of<T>>(std::sqrt(squares));
    const auto largest = static_cast<double>(norm_max());
    if (largest == 0 || !std::isfinite(largest)) return static_cast<real_of<T>>(largest);
    const int exponent = std::ilogb(largest);
    const double scaled =
        global_sum(state, [&](std::int64_t i) { return std::norm(times_power(widened(state.data[i]), -exponent)); }).real();
    return static_cast<real_of<T>>(std::ldexp(std::sqrt(scaled), exponent));
}

template <class T>
real_of<T> Tensor<T>::norm_max() const {
    return magnitude(largest_magnitude().value);
}

template <class T>
T Tensor<T>::dot(const Tensor& other) const {
    const auto& a = state_of(*this, "dot");
    const auto& b = state_of(other, "dot");
    const CollectiveCall call(a.world->exchange_communicator(), "Tensor::dot", b.world->digest(b.shape()));
    if (a.world != b.world) throw InvalidArgument("dot: " + a.title() + " and " + b.title() + " live on different worlds");
    if (a.shape().extents() != b.shape().extents())
        throw InvalidArgument("dot: " + a.title() + " and " + b.title() + " differ in shape; extents must agree");
    if (a.layout != b.layout) {
        std::vector<std::string> names;
        for (int d = 0; d < order(); ++d) names.push_back("d" + std::to_string(d));
        Tensor<T> result(world(), {});
        result[Labels(std::vector<std::string>())] = arges::conj((*this)[Labels(names)]) * other[Labels(names)];
        return result.scalar();
    }
    const bool real_sum = contains_kind(symmetry(), NodeKind::hermitian);
    return narrowed<T>(global_sum(a, [&](std::int64_t i) {
        const auto v = local::conjugate(widened(a.data[i])) * widened(b.data[i]);
        return real_sum ? without_imaginary(v) : v;
    }));
}

template <class T>
T Tensor<T>::scalar() const {
    const auto& state = state_of(*this, "scalar");
    if (order() != 0)
        throw InvalidArgument(state.title() + ": scalar() of a tensor of order " + std::to_string(order()) +
                              "; sum its labels into a tensor of order 0 first");
    return state.world->dry() ? T(0) : state.data[0];
}

template <class T>
Extremum<T> Tensor<T>::largest_magnitude() const {
    auto best = extremum(*this, state_of(*this, "largest_magnitude"), [](T a, T b) { return std::abs(a) > std::abs(b); });
    if (best.index.empty() && size() > 0) best.index.resize(extents().size(), 0);  // all elements are zero by symmetry
    return best;
}

template <class T>
Extremum<T> Tensor<T>::minimum() const {
    return signed_extremum(*this, state_of(*this, "minimum"), false);
}

template <class T>
Extremum<T> Tensor<T>::maximum() const {
    return signed_extremum(*this, state_of(*this, "maximum"), true);
}

template <class T>
void Tensor<T>::print(std::ostream& stream, real_of<T> cutoff) const {
    const auto& state = state_of(*this, "print");
    const CollectiveCall call(state.world->exchange_communicator(), "Tensor::print");
    if (state.world->dry()) return;
    struct Line {
        std::int64_t key;
        T value;
    };
    std::vector<Line> lines;
    state.world->agree([&] {
        if (!state.shape().is_first_copy(state.rank())) return;
        for_each_local([&](Index x, const T& value) {
            if (!(std::abs(value) < cutoff)) lines.push_back({key(x), value});
        });
    });
    lines = gathered_on(state.world->communicator(), 0, lines);
    state.world->agree([&] {
        if (state.rank() != 0) return;
        std::sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) { return a.key < b.key; });
        if (!symmetry().trivial()) stream << "# one element of each orbit of " << symmetry().to_string() << '\n';
        for (const auto& line : lines) {
            for (auto i : index(line.key)) stream << i << ' ';
            stream << line.value << '\n';
        }
    });
}

#define ARGES_INSTANTIATE(T)                                        \
    template T Tensor<T>::sum() const;                              \
    template real_of<T> Tensor<T>::norm1() const;                   \
    template real_of<T> Tensor<T>::norm() const;                    \
    template real_of<T> Tensor<T>::norm_max() const;                \
    template T Tensor<T>::dot(const Tensor&) const;                 \
    template T Tensor<T>::scalar() const;                           \
    template Extremum<T> Tensor<T>::largest_magnitude() const;      \
    template Extremum<T> Tensor<T>::minimum() const;                \
    template Extremum<T> Tensor<T>::maximum() const;                \
    template void Tensor<T>::print(std::ostream&, real_of<T>) const;
ARGES_FOR_EACH_ELEMENT_TYPE(ARGES_INSTANTIATE)

}  // namespace arges
