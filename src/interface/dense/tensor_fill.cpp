// Filling tensors.
#include "base/element_at.hpp"
#include "base/instantiate.hpp"
#include "base/splitmix.hpp"
#include "base/text.hpp"
#include "comm/collective_call.hpp"
#include "interface/sparse/sparse_calls.hpp"
#include "interface/world/call_arguments.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace arges {

namespace {

/// Uniform in [0, 1).
double uniform(std::uint64_t seed, std::uint64_t n) { return unit_interval(splitmix(splitmix(seed) ^ n)); }

/// Key of the representative that does not depend on the layout, and the factor from it to the given element.
struct CanonicalKey {
    std::int64_t key = 0;
    bool negative = false, conjugate = false, real = false;
};

/// Finds canonical representatives of elements, slot by slot, as if every phase were 1.
class Canonicalizer {
public:
    explicit Canonicalizer(const Layout& layout) : layout_(layout) {
        for (const auto& slot : layout.symmetry().slots()) nodes_.emplace_back(slot, layout.extents(), false);
    }

    CanonicalKey operator()(const std::vector<std::int64_t>& index) const {
        CanonicalKey result;
        auto canonical = index;
        std::array<std::int64_t, max_slot_order> tuple;
        for (int s = 0; s < layout_.slots(); ++s) {
            const auto& dims = layout_.slot_dimensions(s);
            for (std::size_t i = 0; i < dims.size(); ++i) tuple[i] = index[dims[i]];
            const auto& node = nodes_[s];
            const auto c = node.canonicalize(tuple.data(), nullptr);
            result.negative ^= c.negative;
            result.conjugate ^= c.conjugate;
            result.real |= c.real;
            for (std::size_t i = 0; i < dims.size(); ++i) canonical[dims[i]] = tuple[i];
        }
        for (std::size_t d = canonical.size(); d-- > 0;) result.key = result.key * layout_.extents()[d] + canonical[d];
        return result;
    }

private:
    const Layout& layout_;
    std::vector<PackedNode> nodes_;
};

}  // namespace

void AnyTensor::fill_with(const void* value) {
    if (is_sparse()) return sparse_calls::fill(sparse_state_of(*this, "fill"), value);
    auto& state = state_of(*this, "fill");
    const auto& kernels = *state.kernels;
    const CollectiveCall call(state.world->movement_communicator(), "Tensor::fill", state, ElementArgument{kernels, value});
    if (!kernels.is_zero(value))
        if (contains_kind(symmetry(), NodeKind::antisymmetric) || contains_kind(symmetry(), NodeKind::hollow))
            throw InvalidArgument(state.title() + ": a constant other than zero does not have the symmetry " + symmetry().to_string() +
                                  "; fill by a function, or write keys");
    if (kernels.as_number(value).imag() != 0 && contains_kind(symmetry(), NodeKind::hermitian))
        throw InvalidArgument(state.title() + ": a constant that is not real is not hermitian; fill by a function");
    if (state.world->dry()) return;
    if (!state.shape().has_padding()) return kernels.fill(state.bytes.data(), state.count(), value);
    ChangedHostElements elements(state);
    for_each_element(state.shape(), state.rank(), [&](std::int64_t offset, const std::vector<std::int64_t>&) {
        copy_element(element_at(elements.data(), offset, kernels.size), value, kernels.size);
    });
}

void AnyTensor::keep_real() { state_of(*this, "keep_real").keep_real(); }

namespace {

/// Uniform elements of one type.
template <class T>
void fill_uniformly(TensorState& state, std::uint64_t seed, real_of<T> low, real_of<T> high) {
    const Canonicalizer canonical(state.shape());
    ChangedHostElements changed(state);
    T* const elements = changed.of<T>();
    const real_of<T> last = low < high ? std::nextafter(high, low) : high;  // what rounding up must not pass
    const bool is_wide = !std::isfinite(high - low);
    auto value = [&](std::uint64_t n) {
        const double u = uniform(seed, n);
        return std::min(last, static_cast<real_of<T>>(is_wide ? low * (1 - u) + high * u : low + (high - low) * u));
    };
    for_each_element(state.shape(), state.rank(), [&](std::int64_t offset, const std::vector<std::int64_t>& x) {
        const auto c = canonical(x);
        const std::uint64_t n = c.key;
        T v;
        if constexpr (std::is_same_v<T, real_of<T>>) {
            v = value(n);
        } else {
            v = T(value(2 * n), c.real ? 0 : value(2 * n + 1));
            if (c.conjugate) v = std::conj(v);
        }
        elements[offset] = c.negative ? -v : v;
    });
}

}  // namespace

void AnyTensor::fill_random_between(std::uint64_t seed, long double low, long double high) {
    auto& state = state_of(*this, "fill_random");
    const CollectiveCall call(state.world->movement_communicator(), "Tensor::fill_random", state, seed, static_cast<double>(low),
                              static_cast<double>(high));
    if (!(low <= high)) throw InvalidArgument(state.title() + ": fill_random needs low <= high");
    if (!std::isfinite(low) || !std::isfinite(high)) throw InvalidArgument(state.title() + ": fill_random needs finite bounds");
    bool found = false;
    const auto fill_if = [&]<class T>() {
        if (*state.kernels->type != typeid(T)) return;
        found = true;
        if (!state.world->dry()) fill_uniformly<T>(state, seed, static_cast<real_of<T>>(low), static_cast<real_of<T>>(high));
    };
#define ARGES_FILL(T) fill_if.operator()<T>();
    ARGES_FOR_EACH_ELEMENT_TYPE(ARGES_FILL)
    ARGES_FILL(long double)
#undef ARGES_FILL
    if (!found)
        throw InvalidArgument(state.title() + ": fill_random needs floating-point elements, not " + readable_type(state.kernels->name) +
                              "; convert the tensor");
}

}  // namespace arges
