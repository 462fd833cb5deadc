// Sums, norms, extrema and printing of dense tensors. Each orbit is stored once, so elements are weighted by orbit sizes.
#include "base/element_at.hpp"
#include "base/math.hpp"
#include "base/text.hpp"
#include "comm/collective_call.hpp"
#include "comm/values.hpp"
#include "interface/dense/tensor_state.hpp"
#include "layout/layout.hpp"
#include "layout/slot_layout.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <ostream>

namespace arges {

namespace {

using local::Best;
using local::ElementRow;
using local::RowSum;
using local::WideSum;

/// sum + weight * value
WideSum weighted(WideSum sum, double weight, const WideSum& value) {
    sum.number += weight * value.number;
    sum.extended += static_cast<long double>(weight) * value.extended;
    sum.integer =
        PlusTimes<std::int64_t>::add(sum.integer, PlusTimes<std::int64_t>::multiply(static_cast<std::int64_t>(weight), value.integer));
    return sum;
}

/// How many elements of the full tensor each local index of a slot stands for: lists that are all ones are not made.
struct SlotWeights {
    std::int64_t count = 0;
    std::vector<double> sizes{};  // empty: one of each

    SlotWeights(const SlotLayout& slot, std::int64_t coordinate) : count(slot.local_size(coordinate)) {
        if (!has_single_orbits(slot)) sizes = orbit_sizes(slot, coordinate);
    }
    double operator[](std::int64_t i) const { return sizes.empty() ? 1 : sizes[i]; }
};

/// Sums over the elements of a rank; sum_row(row, offset) is the sum along the fastest slot.
WideSum weighted_sum(const Layout& layout, std::int64_t rank,
                     const std::function<WideSum(const ElementRow&, std::int64_t offset)>& sum_row) {
    if (layout.local_size(rank) == 0) return {};
    std::vector<SlotWeights> weights;
    for (int s = 0; s < layout.slots(); ++s) weights.emplace_back(layout.slot(s), layout.coordinate(rank, s));
    const auto strides = layout.strides(rank);
    auto walk = [&](auto&& self, int s, std::int64_t offset) -> WideSum {
        if (s < 0) return sum_row({.count = 1}, offset);
        const auto& w = weights[s];
        if (s == 0) return sum_row({w.count, strides[0], w.sizes.empty() ? nullptr : w.sizes.data()}, offset);
        WideSum sum;
        for (std::int64_t i = 0; i < w.count; ++i)
            if (w[i] != 0) sum = weighted(sum, w[i], self(self, s - 1, offset + i * strides[s]));
        return sum;
    };
    return walk(walk, layout.slots() - 1, 0);
}

/// Sum over ranks in their order, each copy once.
WideSum global_sum(const TensorState& state, const std::function<WideSum(const ElementRow&, std::int64_t offset)>& sum_row) {
    if (state.world->dry()) return {};
    WideSum local;
    if (state.shape().is_first_copy(state.rank())) local = weighted_sum(state.shape(), state.rank(), sum_row);
    state.world->settle(state.kernels->space);
    const auto parts = gathered(state.world->communicator(), std::vector<WideSum>{local});
    return std::accumulate(parts.begin(), parts.end(), WideSum{}, [](const WideSum& a, const WideSum& b) { return weighted(a, 1, b); });
}

/// Likewise of what the kernels of the elements sum.
WideSum global_sum(const TensorState& state, RowSum what, const TensorState* other = nullptr, int exponent = 0) {
    const auto size = state.kernels->size;
    return global_sum(state, [&](const ElementRow& row, std::int64_t offset) {
        const auto* const others = other == nullptr ? nullptr : element_at(other->bytes.data(), offset, size);
        return state.kernels->reductions->sum_row(what, row, element_at(state.bytes.data(), offset, size), others, exponent);
    });
}

/// The state of a tensor whose elements have negatives. @throws InvalidArgument else
const TensorState& reduced(const AnyTensor& tensor, const char* where, const char* what) {
    const auto& state = state_of(tensor, where);
    if (!state.kernels->has_negative || state.kernels->reductions == nullptr)
        throw InvalidArgument(state.title() + ": " + what + " of elements of type " + readable_type(state.kernels->name) +
                              "; convert the tensor");
    return state;
}

/// An element, and its key; none: -1.
struct Candidate {
    explicit Candidate(const ElementKernels& kernels) : value(kernels.zero, kernels.size) {}
    std::int64_t key = -1;
    ElementValue value;
};

/// The best element over all ranks by a measure of its value; NaN is better than all others, ties go to the smallest key.
Candidate extremum(const AnyTensor& tensor, const TensorState& state, Best what) {
    const auto& kernels = *state.kernels;
    const auto& reductions = *kernels.reductions;
    Candidate best(kernels);
    if (state.world->dry()) return best;
    const CollectiveCall call(state.world->movement_communicator(), "Tensor::largest_magnitude, minimum or maximum", state);
    const auto consider = [&](std::int64_t key, const void* value) {
        if (key < 0) return;
        const bool is_better = best.key < 0 || reductions.is_better(what, value, best.value.data()) ||
                               (!reductions.is_better(what, best.value.data(), value) && key < best.key);
        if (!is_better) return;
        best.key = key;
        copy_element(best.value.data(), value, kernels.size);
    };
    const auto& layout = state.shape();
    if (is_plain(layout)) {
        if (const auto count = layout.grid().is_idle(state.rank()) ? 0 : state.count(); count > 0) {
            const auto place = reductions.place_of_best(what, state.bytes.data(), count);
            best.key = tensor.key(plain_index(layout, state.rank(), place));
            copy_array(static_cast<std::byte*>(best.value.data()), element_at(state.bytes.data(), place, kernels.size), kernels.size,
                       kernels.space);
        }
    } else {
        const HostElements elements(state);
        for_each_element(layout, state.rank(), [&](std::int64_t offset, const std::vector<std::int64_t>& x) {
            consider(tensor.key(x), element_at(elements.data(), offset, kernels.size));
        });
    }
    state.world->settle(kernels.space);
    const auto keys = gathered(state.world->communicator(), std::vector<std::int64_t>{best.key});
    const auto* const own = static_cast<const std::byte*>(std::as_const(best.value).data());
    const auto values = gathered(state.world->communicator(), std::vector<std::byte>(own, own + kernels.size));
    for (std::size_t r = 0; r < keys.size(); ++r) consider(keys[r], element_at(values.data(), r, kernels.size));
    return best;
}

/// Exchanges the first two children of an antisymmetric node in an index; false if there is none.
bool change_sign(const SymmetryNode& node, std::vector<std::int64_t>& index) {
    if (node.kind != NodeKind::antisymmetric)
        return std::any_of(node.children.begin(), node.children.end(), [&](const auto& child) { return change_sign(child, index); });
    const auto a = node.children[0].dimensions(), b = node.children[1].dimensions();
    for (std::size_t l = 0; l < a.size(); ++l) std::swap(index[a[l]], index[b[l]]);
    return true;
}

}  // namespace

std::int64_t AnyTensor::count_nonzero() const {
    const auto& state = state_of(*this, "count_nonzero");
    const CollectiveCall call(state.world->movement_communicator(), "Tensor::count_nonzero", state);
    if (state.world->dry()) return 0;
    const auto& kernels = *state.kernels;
    const std::vector<double> ones(4096, 1);
    WideSum count;
    if (state.shape().is_first_copy(state.rank()))
        count = weighted_sum(state.shape(), state.rank(), [&](const ElementRow& row, std::int64_t offset) {
            WideSum found;
            const auto length = row.weights == nullptr ? std::ssize(ones) : std::max<std::int64_t>(row.count, 1);
            for (std::int64_t i = 0; i < row.count; i += length) {
                const auto* const weights = row.weights == nullptr ? ones.data() : row.weights;
                found.integer += kernels.count_nonzero(element_at(state.bytes.data(), offset + i * row.stride, kernels.size), row.stride,
                                                       {weights, static_cast<std::size_t>(std::min(length, row.count - i))});
            }
            return found;
        });
    return state.world->communicator().sum(count.integer);
}

void AnyTensor::sum_to(void* element) const {
    const auto& state = reduced(*this, "sum", "the sum");
    const CollectiveCall call(state.world->movement_communicator(), "Tensor::sum", state);
    // Elements of opposite sign cancel, unless they are not finite.
    const auto what = contains_kind(symmetry(), NodeKind::antisymmetric) ? RowSum::cancelled
                      : contains_kind(symmetry(), NodeKind::hermitian)   ? RowSum::real
                                                                         : RowSum::value;
    state.kernels->reductions->narrow(global_sum(state, what), element);
}

long double AnyTensor::norm1_of_all() const {
    const auto& state = reduced(*this, "norm1", "the norm");
    const CollectiveCall call(state.world->movement_communicator(), "Tensor::norm1", state);
    return global_sum(state, RowSum::magnitude).real();
}

long double AnyTensor::norm_of_all() const {
    if (is_sparse()) return norm_of_stored();
    const auto& state = reduced(*this, "norm", "the norm");
    const CollectiveCall call(state.world->movement_communicator(), "Tensor::norm", state);
    const auto root = [&](const WideSum& squares) -> long double {
        return *state.kernels->type == typeid(long double) ? std::sqrt(squares.extended) : std::sqrt(squares.number.real());
    };
    const auto squares = global_sum(state, RowSum::square);
    if (state.world->dry() || !must_be_scaled(static_cast<double>(squares.real()))) return root(squares);
    const auto largest = norm_max_of_all();
    if (largest == 0 || !std::isfinite(largest)) return largest;
    const int exponent = std::ilogb(largest);
    return std::ldexp(root(global_sum(state, RowSum::square, nullptr, -exponent)), exponent);
}

long double AnyTensor::norm_max_of_all() const {
    ElementValue best(kernels().zero, kernels().size);
    largest_magnitude_to(best.data());
    return kernels().reductions->magnitude(best.data());
}

void AnyTensor::dot_to(const AnyTensor& other, void* element) const {
    const auto& a = reduced(*this, "dot", "the scalar product");
    const auto& b = reduced(other, "dot", "the scalar product");
    const CollectiveCall call(a.world->movement_communicator(), "Tensor::dot", a, b);
    if (a.world != b.world) throw InvalidArgument("dot: " + a.title() + " and " + b.title() + " live on different worlds");
    if (a.shape().extents() != b.shape().extents())
        throw InvalidArgument("dot: " + a.title() + " and " + b.title() + " differ in shape; extents must agree");
    if (&a.kernels->on_host() != &b.kernels->on_host())
        throw InvalidArgument("dot: elements of types " + std::string(a.kernels->name) + " and " + b.kernels->name +
                              "; convert one of them");
    if (a.layout == b.layout && a.kernels == b.kernels) {
        const bool real_sum = contains_kind(symmetry(), NodeKind::hermitian);
        return a.kernels->reductions->narrow(global_sum(a, real_sum ? RowSum::real_product : RowSum::product, &b), element);
    }
    auto first = labelled(all_labels(order()));
    first.conjugated = a.kernels->is_complex;
    statements::total({Term{.factors = {std::move(first), other.labelled(all_labels(order()))}}}, *a.kernels, element);
}

std::vector<std::int64_t> AnyTensor::largest_magnitude_to(void* element) const {
    const auto& state = reduced(*this, "largest_magnitude", "extrema");
    const auto best = extremum(*this, state, Best::magnitude);
    copy_element(element, best.value.data(), state.kernels->size);
    if (best.key >= 0) return index(best.key);
    return std::vector<std::int64_t>(size() > 0 ? order() : 0, 0);  // all elements are zero by symmetry
}

std::vector<std::int64_t> AnyTensor::least_or_largest_to(bool largest, void* element) const {
    const auto& state = reduced(*this, largest ? "maximum" : "minimum", "extrema");
    const auto& kernels = *state.kernels;
    const auto& reductions = *kernels.reductions;
    if (kernels.is_complex)
        throw Unsupported(state.title() + ": complex numbers have no order; use largest_magnitude(), or real() and imag()");
    // A stored element, its negative, or a zero that symmetry puts on a diagonal.
    const bool signs = contains_kind(symmetry(), NodeKind::antisymmetric);
    const auto wanted = largest ? Best::largest : Best::least;
    auto best = extremum(*this, state, signs ? Best::magnitude : wanted);
    auto* const value = best.value.data();
    auto place = best.key < 0 ? std::vector<std::int64_t>() : index(best.key);
    if (!std::isnan(reductions.magnitude(value))) {
        if (signs && reductions.is_better(largest ? Best::least : Best::largest, value, kernels.zero)) {
            kernels.multiple(-1, value, value);
            for (const auto& slot : symmetry().slots())
                if (change_sign(slot, place)) break;
        }
        const bool zeros = (signs || contains_kind(symmetry(), NodeKind::hollow)) && size() > 0;
        if (zeros && (place.empty() || reductions.is_better(wanted, kernels.zero, value))) {
            copy_element(value, kernels.zero, kernels.size);
            place.assign(order(), 0);
        }
    }
    copy_element(element, value, kernels.size);
    return place;
}

void AnyTensor::print(std::ostream& stream, long double cutoff) const {
    const auto& state = state_of(*this, "print");
    const auto& kernels = *state.kernels;
    const CollectiveCall call(state.world->movement_communicator(), "Tensor::print", state, static_cast<double>(cutoff));
    if (state.world->dry()) return;
    std::vector<std::int64_t> keys, order;
    std::vector<std::byte> values;
    state.world->agree([&] {
        if (!state.shape().is_first_copy(state.rank())) return;
        for_each_element_here("print", [&](Index x, const void* element) {
            if (kernels.reductions->magnitude(element) < cutoff) return;
            keys.push_back(key(x));
            const auto* const bytes = static_cast<const std::byte*>(element);
            values.insert(values.end(), bytes, bytes + kernels.size);
        });
    });
    keys = gathered_on(state.world->communicator(), 0, keys);
    values = gathered_on(state.world->communicator(), 0, values);
    state.world->agree([&] {
        if (state.rank() != 0) return;
        order.resize(keys.size());
        std::iota(order.begin(), order.end(), 0);
        std::sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) { return keys[a] < keys[b]; });
        if (!symmetry().trivial()) stream << "# one element of each orbit of " << symmetry().to_string() << '\n';
        for (auto line : order) {
            for (auto i : index(keys[line])) stream << i << ' ';
            kernels.reductions->print(stream, element_at(values.data(), line, kernels.size));
            stream << '\n';
        }
    });
}

}  // namespace arges
