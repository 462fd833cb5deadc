// Sums, norms, extrema and printing. Each orbit is stored once, so elements are weighted by orbit sizes.
#include "base/element_at.hpp"
#include "base/instantiate.hpp"
#include "base/math.hpp"
#include "comm/collective_call.hpp"
#include "comm/values.hpp"
#include "interface/tensor_state.hpp"
#include "layout/layout.hpp"
#include "layout/slot_layout.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <ostream>

namespace arges {

namespace {

/// sum + weight * value
template <class Sum>
Sum weighted(Sum sum, double weight, Sum value) {
    if constexpr (std::is_integral_v<Sum>)
        return PlusTimes<Sum>::add(sum, PlusTimes<Sum>::multiply(static_cast<Sum>(weight), value));
    else
        return sum + static_cast<real_of<Sum>>(weight) * value;
}

/// How many elements of the full tensor each local index of a slot stands for: lists that are all ones are not made.
struct SlotWeights {
    std::int64_t count = 0;
    std::vector<double> sizes{};  // empty: one of each

    SlotWeights(const SlotLayout& slot, std::int64_t coordinate) : count(slot.local_size(coordinate)) {
        if (!has_single_orbits(slot)) sizes = orbit_sizes(slot, coordinate);
    }
    explicit SlotWeights(std::int64_t ones) : count(ones) {}
    double operator[](std::int64_t i) const { return sizes.empty() ? 1 : sizes[i]; }
};

/// Sums weights[i] * f(offset + i * stride); eight sums take turns, so that no addition waits for the
/// one before it, and those of contiguous elements are one vector.
template <class F>
auto weighted_row(const SlotWeights& weights, std::int64_t offset, std::int64_t stride, F&& f) {
    using Sum = decltype(f(std::int64_t{0}));
    constexpr std::int64_t width = 8;
    std::array<Sum, width> sums{};
    std::int64_t i = 0;
    if (weights.sizes.empty() && stride == 1) {
        for (; i + width <= weights.count; i += width)
            for (std::int64_t k = 0; k < width; ++k) sums[k] = PlusTimes<Sum>::add(sums[k], f(offset + i + k));
    }
    const auto add = [&](Sum& sum, std::int64_t at) {
        if (const auto weight = weights[at]; weight != 0) sum = weighted(sum, weight, f(offset + at * stride));
    };
    for (; i + width <= weights.count; i += width)
        for (std::int64_t k = 0; k < width; ++k) add(sums[k], i + k);
    for (; i < weights.count; ++i) add(sums[i % width], i);
    return std::accumulate(sums.begin(), sums.end(), Sum{}, [](Sum a, Sum b) { return PlusTimes<Sum>::add(a, b); });
}

/// Sums over the elements of a rank; row(weights, offset, stride) is the sum along the fastest slot.
template <class Sum>
Sum weighted_sum(const Layout& layout, std::int64_t rank, const std::function<Sum(const SlotWeights&, std::int64_t, std::int64_t)>& row) {
    if (layout.local_size(rank) == 0) return Sum{};
    std::vector<SlotWeights> weights;
    for (int s = 0; s < layout.slots(); ++s) weights.emplace_back(layout.slot(s), layout.coordinate(rank, s));
    const auto strides = layout.strides(rank);
    const SlotWeights one(1);
    auto walk = [&](auto&& self, int s, std::int64_t offset) -> Sum {
        if (s < 0) return row(one, offset, 1);
        const auto& w = weights[s];
        if (s == 0) return row(w, offset, strides[0]);
        Sum sum{};
        for (std::int64_t i = 0; i < w.count; ++i)
            if (w[i] != 0) sum = weighted(sum, w[i], self(self, s - 1, offset + i * strides[s]));
        return sum;
    };
    return walk(walk, layout.slots() - 1, 0);
}

/// The type in which values are summed: with double precision at least; integers as they are, wrapping around.
template <class T>
using SumOf = std::conditional_t<std::is_integral_v<T>, std::int64_t,
                                 std::conditional_t<std::is_same_v<T, long double>, long double,
                                                    std::conditional_t<kernels::is_complex<T>, std::complex<double>, double>>>;

template <class T>
SumOf<T> widened(T value) {
    return static_cast<SumOf<T>>(value);
}

/// Sum over ranks in their order, each copy once.
template <class F>
auto global_sum(const TensorState& state, F&& f) {
    using Sum = decltype(f(std::int64_t{0}));
    if (state.world->dry()) return Sum{};
    Sum local{};
    if (state.shape().is_first_copy(state.rank()))
        local = weighted_sum<Sum>(state.shape(), state.rank(), [&](const SlotWeights& weights, std::int64_t offset, std::int64_t stride) {
            return weighted_row(weights, offset, stride, f);
        });
    const auto parts = gathered(state.world->communicator(), std::vector<Sum>{local});
    return std::accumulate(parts.begin(), parts.end(), Sum{}, [](Sum a, Sum b) { return PlusTimes<Sum>::add(a, b); });
}

/// Absolute value; NaN where a part is NaN, also beside an infinite one.
template <class T>
norm_of<T> magnitude(T value) {
    if constexpr (std::is_integral_v<T>) {
        return std::abs(static_cast<double>(value));
    } else {
        const bool is_nan = value != value;
        return is_nan ? std::numeric_limits<norm_of<T>>::quiet_NaN() : std::abs(value);
    }
}

/// Is the magnitude of a larger? The least integer has a larger one than any other.
template <class T>
bool is_larger(T a, T b) {
    if constexpr (std::is_integral_v<T>)
        return (a > 0 ? -a : a) < (b > 0 ? -b : b);
    else
        return std::abs(a) > std::abs(b);
}

/// value * 2^exponent, without overflow on the way.
inline double times_power(double value, int exponent) { return std::ldexp(value, exponent); }
inline long double times_power(long double value, int exponent) { return std::ldexp(value, exponent); }
inline std::complex<double> times_power(std::complex<double> value, int exponent) {
    return {std::ldexp(value.real(), exponent), std::ldexp(value.imag(), exponent)};
}

/// What z and its conjugate add up to, halved: the imaginary part is zero, or NaN where it is not finite.
template <class V>
V without_imaginary(V value) {
    if constexpr (kernels::is_complex<V>)
        return {value.real(), value.imag() - value.imag()};
    else
        return value;
}

/// Square of the absolute value.
template <class V>
auto square(V value) {
    if constexpr (std::is_integral_v<V>)
        return static_cast<double>(value) * value;
    else
        return std::norm(value);
}

template <class T>
T narrowed(SumOf<T> value) {
    if constexpr (kernels::is_complex<T>)
        return T(static_cast<real_of<T>>(value.real()), static_cast<real_of<T>>(value.imag()));
    else
        return static_cast<T>(value);
}

/// Elements that are looked at together.
constexpr std::int64_t sum_block = 4096;

/// Where the first of the best elements is, NaN being better than all others; sixteen candidates take turns in each block. @param count
/// above 0
template <class T, class Better>
std::int64_t place_of_best(const T* elements, std::int64_t count, Better&& better) {
    constexpr std::int64_t width = 16;
    const auto is_nan = [](T value) { return value != value; };
    const auto first_in_block = [&](std::int64_t begin, auto&& wanted) {
        return std::find_if(elements + begin, elements + std::min(count, begin + sum_block), wanted) - elements;
    };
    std::int64_t block = 0;
    T found = elements[0];
    for (std::int64_t begin = 0; begin < count; begin += sum_block) {
        const auto end = std::min(count, begin + sum_block);
        std::array<T, width> candidates;
        candidates.fill(found);
        T* const best = candidates.data();
        std::int64_t i = begin;
        int undefined = 0;
        for (; i + width <= end; i += width) {
            const T* const next = elements + i;
#pragma omp simd
            for (std::int64_t k = 0; k < width; ++k) best[k] = better(next[k], best[k]) ? next[k] : best[k];
        }
        for (; i < end; ++i) best[0] = better(elements[i], best[0]) ? elements[i] : best[0];
        for (i = begin; i < end; ++i) undefined += is_nan(elements[i]) ? 1 : 0;
        if (undefined > 0) return first_in_block(begin, is_nan);
        const T own = std::accumulate(best + 1, best + width, best[0], [&](T x, T y) { return better(y, x) ? y : x; });
        if (better(own, found)) {
            found = own;
            block = begin;
        }
    }
    return first_in_block(block, [&](T value) { return !better(value, found) && !better(found, value); });
}

/// The best element over all ranks by a measure of its value; NaN is better than all others, ties go to the smallest key.
template <class T, class Better>
Extremum<T> extremum(const Tensor<T>& tensor, const TensorState& state, Better&& better) {
    struct Candidate {
        std::int64_t key = -1;
        T value{};
    };
    if (state.world->dry()) return {};
    const CollectiveCall call(state.world->movement_communicator(), "Tensor::largest_magnitude, minimum or maximum", state);
    Candidate best;
    auto better_or_nan = [&](T a, T b) {
        const bool a_is_nan = a != a, b_is_nan = b != b;
        return a_is_nan || b_is_nan ? a_is_nan && !b_is_nan : better(a, b);
    };
    auto consider = [&](const Candidate& c) {
        if (c.key < 0) return;
        if (best.key < 0 || better_or_nan(c.value, best.value) || (!better_or_nan(best.value, c.value) && c.key < best.key)) best = c;
    };
    const HostElements here(state);
    const T* const elements = here.of<T>();
    const auto& layout = state.shape();
    if (is_plain(layout)) {
        if (const auto count = layout.grid().is_idle(state.rank()) ? 0 : state.count(); count > 0) {
            const auto place = place_of_best(elements, count, better);
            best = {tensor.key(plain_index(layout, state.rank(), place)), elements[place]};
        }
    } else {
        for_each_element(layout, state.rank(), [&](std::int64_t offset, const std::vector<std::int64_t>& x) {
            consider({tensor.key(x), elements[offset]});
        });
    }
    const auto all = gathered(state.world->communicator(), std::vector<Candidate>{best});
    for (const auto& c : all) consider(c);
    if (best.key < 0) return {};
    return {best.value, tensor.index(best.key)};
}

/// Exchanges the first two children of an antisymmetric node in an index; false if there is none.
bool change_sign(const SymmetryNode& node, std::vector<std::int64_t>& index) {
    if (node.kind != NodeKind::antisymmetric)
        return std::any_of(node.children.begin(), node.children.end(), [&](const auto& child) { return change_sign(child, index); });
    const auto a = node.children[0].dimensions(), b = node.children[1].dimensions();
    for (std::size_t l = 0; l < a.size(); ++l) std::swap(index[a[l]], index[b[l]]);
    return true;
}

/// Smallest or largest element of the full tensor: a stored element, its negative, or a zero that symmetry puts on a diagonal.
template <class T>
Extremum<T> signed_extremum(const Tensor<T>& tensor, const TensorState& state, bool largest) {
    if constexpr (kernels::is_complex<T>) {
        throw Unsupported(state.title() + ": complex numbers have no order; use largest_magnitude(), or real() and imag()");
    } else {
        const bool signs = contains_kind(tensor.symmetry(), NodeKind::antisymmetric);
        auto better = [&](T a, T b) { return largest ? a > b : a < b; };
        auto best = signs ? extremum(tensor, state, is_larger<T>) : extremum(tensor, state, better);
        if (best.value != best.value) return best;
        if (signs && best.value != 0 && (best.value > 0) != largest) {
            best.value = PlusTimes<T>::negate(best.value);
            for (const auto& slot : tensor.symmetry().slots())
                if (change_sign(slot, best.index)) break;
        }
        const bool zeros = (signs || contains_kind(tensor.symmetry(), NodeKind::hollow)) && tensor.size() > 0;
        if (zeros && (best.index.empty() || better(T(0), best.value))) best = {T(0), std::vector<std::int64_t>(tensor.order(), 0)};
        return best;
    }
}

}  // namespace

std::int64_t AnyTensor::count_nonzero() const {
    const auto& state = state_of(*this, "count_nonzero");
    const CollectiveCall call(state.world->movement_communicator(), "Tensor::count_nonzero", state);
    if (state.world->dry()) return 0;
    const auto& kernels = *state.kernels;
    std::int64_t count = 0;
    const std::vector<double> ones(sum_block, 1);
    if (state.shape().is_first_copy(state.rank()))
        count = weighted_sum<std::int64_t>(
            state.shape(), state.rank(), [&](const SlotWeights& weights, std::int64_t offset, std::int64_t stride) {
                if (!weights.sizes.empty())
                    return kernels.count_nonzero(element_at(state.bytes.data(), offset, kernels.size), stride, weights.sizes);
                std::int64_t found = 0;
                for (std::int64_t i = 0; i < weights.count; i += sum_block)
                    found += kernels.count_nonzero(element_at(state.bytes.data(), offset + i * stride, kernels.size), stride,
                                                   {ones.data(), static_cast<std::size_t>(std::min(sum_block, weights.count - i))});
                return found;
            });
    return state.world->communicator().sum(count);
}

template <class T>
T Tensor<T>::sum() const requires kernels::has_negative<T> {
    const auto& state = state_of(*this, "sum");
    const CollectiveCall call(state.world->movement_communicator(), "Tensor::sum", state);
    const HostElements here(state);
    const T* const elements = here.of<T>();
    // Elements of opposite sign cancel, unless they are not finite.
    if (contains_kind(symmetry(), NodeKind::antisymmetric))
        return narrowed<T>(global_sum(state, [&](std::int64_t i) { return widened(elements[i]) - widened(elements[i]); }));
    const bool real_sum = contains_kind(symmetry(), NodeKind::hermitian);
    return narrowed<T>(global_sum(state, [&](std::int64_t i) {
        const auto v = widened(elements[i]);
        return real_sum ? without_imaginary(v) : v;
    }));
}

template <class T>
norm_of<T> Tensor<T>::norm1() const requires kernels::has_negative<T> {
    const auto& state = state_of(*this, "norm1");
    const CollectiveCall call(state.world->movement_communicator(), "Tensor::norm1", state);
    const HostElements here(state);
    const T* const elements = here.of<T>();
    return static_cast<norm_of<T>>(
        global_sum(state, [&](std::int64_t i) { return static_cast<SumOf<norm_of<T>>>(magnitude(elements[i])); }));
}

template <class T>
norm_of<T> Tensor<T>::norm() const requires kernels::has_negative<T> {
    const auto& state = state_of(*this, "norm");
    const CollectiveCall call(state.world->movement_communicator(), "Tensor::norm", state);
    const HostElements here(state);
    const T* const elements = here.of<T>();
    const auto squares = global_sum(state, [&](std::int64_t i) { return square(widened(elements[i])); });
    if (std::is_integral_v<T> || state.world->dry() || !must_be_scaled(static_cast<double>(squares)))
        return static_cast<norm_of<T>>(std::sqrt(squares));
    if constexpr (!std::is_integral_v<T>) {
        const auto largest = static_cast<SumOf<real_of<T>>>(norm_max());
        if (largest == 0 || !std::isfinite(largest)) return static_cast<real_of<T>>(largest);
        const int exponent = std::ilogb(largest);
        const auto scaled = global_sum(state, [&](std::int64_t i) { return square(times_power(widened(elements[i]), -exponent)); });
        return static_cast<real_of<T>>(std::ldexp(std::sqrt(scaled), exponent));
    }
}

template <class T>
norm_of<T> Tensor<T>::norm_max() const requires kernels::has_negative<T> {
    return magnitude(largest_magnitude().value);
}

template <class T>
T Tensor<T>::dot(const Tensor& other) const requires kernels::has_negative<T> {
    const auto& a = state_of(*this, "dot");
    const auto& b = state_of(other, "dot");
    const CollectiveCall call(a.world->movement_communicator(), "Tensor::dot", a, b);
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
    const HostElements of_a(a), of_b(b);
    const T *const first = of_a.of<T>(), *const second = of_b.of<T>();
    return narrowed<T>(global_sum(a, [&](std::int64_t i) {
        auto left = widened(first[i]);
        if constexpr (kernels::is_complex<T>) left = std::conj(left);
        const auto v = PlusTimes<SumOf<T>>::multiply(left, widened(second[i]));
        return real_sum ? without_imaginary(v) : v;
    }));
}

template <class T>
Extremum<T> Tensor<T>::largest_magnitude() const requires kernels::has_negative<T> {
    auto best = extremum(*this, state_of(*this, "largest_magnitude"), is_larger<T>);
    if (best.index.empty() && size() > 0) best.index.resize(extents().size(), 0);  // all elements are zero by symmetry
    return best;
}

template <class T>
Extremum<T> Tensor<T>::minimum() const requires kernels::has_negative<T> {
    return signed_extremum(*this, state_of(*this, "minimum"), false);
}

template <class T>
Extremum<T> Tensor<T>::maximum() const requires kernels::has_negative<T> {
    return signed_extremum(*this, state_of(*this, "maximum"), true);
}

template <class T>
void Tensor<T>::print(std::ostream& stream, norm_of<T> cutoff) const requires kernels::is_number<T> {
    const auto& state = state_of(*this, "print");
    const CollectiveCall call(state.world->movement_communicator(), "Tensor::print", state, cutoff);
    if (state.world->dry()) return;
    struct Line {
        std::int64_t key;
        T value;
    };
    std::vector<Line> lines;
    state.world->agree([&] {
        if (!state.shape().is_first_copy(state.rank())) return;
        for_each_local([&](Index x, const T& value) {
            if (!(magnitude(value) < cutoff)) lines.push_back({key(x), value});
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

#define ARGES_INSTANTIATE(T)                                                                                                               \
    template T Tensor<T>::sum() const;                                                                                                     \
    template norm_of<T> Tensor<T>::norm1() const;                                                                                          \
    template norm_of<T> Tensor<T>::norm() const;                                                                                           \
    template norm_of<T> Tensor<T>::norm_max() const;                                                                                       \
    template T Tensor<T>::dot(const Tensor&) const;                                                                                        \
    template Extremum<T> Tensor<T>::largest_magnitude() const;                                                                             \
    template Extremum<T> Tensor<T>::minimum() const;                                                                                       \
    template Extremum<T> Tensor<T>::maximum() const;                                                                                       \
    template void Tensor<T>::print(std::ostream&, norm_of<T>) const;
ARGES_FOR_EACH_ELEMENT_TYPE(ARGES_INSTANTIATE)
ARGES_INSTANTIATE(long double)
ARGES_INSTANTIATE(std::int16_t)
ARGES_INSTANTIATE(std::int32_t)
ARGES_INSTANTIATE(std::int64_t)
#undef ARGES_INSTANTIATE
template void Tensor<bool>::print(std::ostream&, double) const;

}  // namespace arges
