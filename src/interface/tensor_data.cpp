// Key-value input and output of tensors, and gathering.
#include "base/instantiate.hpp"
#include "base/math.hpp"
#include "comm/collective_call.hpp"
#include "comm/values.hpp"
#include "interface/run_movement.hpp"
#include "interface/tensor_state.hpp"

#include <algorithm>
#include <numeric>

namespace arges {

namespace {

/// A value on its way to the rank that stores it.
template <class T>
struct Packet {
    std::int64_t offset;
    T value;
};

template <class T>
T conjugated(T value) {
    if constexpr (std::is_same_v<T, real_of<T>>)
        return value;
    else
        return std::conj(value);
}

/// True for equal values and for two NaN.
template <class T>
bool is_same(T a, T b) {
    const bool both_nan = a != a && b != b;
    return a == b || both_nan;
}

/// Offsets of the ranks that hold copies from the first of them.
std::vector<std::int64_t> copy_offsets(const Layout& layout) {
    std::vector<std::int64_t> offsets{0};
    for (int t = 0; t < layout.grid().dimensions(); ++t) {
        if (layout.slot_of_torus(t) >= 0) continue;
        const auto known = offsets.size();
        for (std::int64_t c = 1; c < layout.grid().lengths[static_cast<std::size_t>(t)]; ++c)
            for (std::size_t i = 0; i < known; ++i) offsets.push_back(offsets[i] + c * layout.grid().stride(t));
    }
    return offsets;
}

/// Moves pairs to the ranks that store their elements.
template <class T>
class PairWriter {
public:
    explicit PairWriter(TensorState<T>& state) : state_(state), layout_(state.shape()) {}

    /// Sorts the caller's pairs by owner, values times alpha. Local; throws for bad input.
    void pack(const Tensor<T>& tensor, std::span<const std::int64_t> keys, std::span<const T> values, T alpha) {
        if (keys.size() != values.size())
            throw InvalidArgument(state_.title() + ": " + std::to_string(keys.size()) + " keys but " +
                                  std::to_string(values.size()) + " values; give one value per key");
        outgoing_.resize(static_cast<std::size_t>(state_.world->size()));
        const auto copies = copy_offsets(layout_);
        for (std::size_t i = 0; i < keys.size(); ++i) {
            const auto at = locate_element(layout_, tensor.index(keys[i]));
            T value = alpha == T(1) ? values[i] : alpha * values[i];
            if (at.zero || at.real) check_allowed(at.zero, keys[i], value);
            if (at.zero) continue;
            if (at.conjugate) value = conjugated(value);
            if (at.negative) value = -value;
            for (auto offset : copies)
                outgoing_[static_cast<std::size_t>(at.rank + offset)].push_back({at.offset, value});
        }
    }

    /// Delivers the pairs; those for this rank are returned by ascending offset, each in the order of ranks. Collective: every rank
    /// throws what `check` throws for the pairs of one.
    template <class F>
    std::vector<Packet<T>> deliver(F&& check) {
        const auto& world = *state_.world;
        const auto arrived = exchanged(world.communicator(), std::move(outgoing_));
        std::vector<Packet<T>> mine;
        world.agree([&] {
            for (const auto& packets : arrived) mine.insert(mine.end(), packets.begin(), packets.end());
            std::stable_sort(mine.begin(), mine.end(), [](const auto& a, const auto& b) { return a.offset < b.offset; });
            check(mine);
        });
        return mine;
    }

private:
    /// Refuses a value that symmetry does not allow for an element that is zero, or else real.
    void check_allowed(bool zero, std::int64_t key, T value) const {
        const bool fine = zero ? value == T(0) : std::imag(value) == 0;
        if (fine) return;
        throw InvalidArgument(state_.title() + ": key " + std::to_string(key) +
                              (zero ? " is on a diagonal that is zero by symmetry, but its value is not zero"
                                     : " is on the diagonal of a hermitian group, but its value is not real") +
                              "; correct the value or the symmetry");
    }

    TensorState<T>& state_;
    const Layout& layout_;
    std::vector<std::vector<Packet<T>>> outgoing_;
};

}  // namespace

template <class T>
void Tensor<T>::write(std::span<const std::int64_t> keys, std::span<const T> values) {
    auto& state = state_of(*this, "write");
    const CollectiveCall call(state.world->exchange_communicator(), "Tensor::write");
    if (state.world->dry()) return;
    PairWriter<T> writer(state);
    state.world->agree([&] { writer.pack(*this, keys, values, T(1)); });
    const auto mine = writer.deliver([&](const std::vector<Packet<T>>& packets) {
        for (std::size_t i = 1; i < packets.size(); ++i)
            if (packets[i].offset == packets[i - 1].offset && !is_same(packets[i].value, packets[i - 1].value))
                throw InvalidArgument(state.title() + ": two different values are written to one element" +
                                      " (keys that the symmetry relates count as one); write it once, or use accumulate()");
    });
    for (const auto& packet : mine) state.data[packet.offset] = packet.value;
}

template <class T>
void Tensor<T>::accumulate(std::span<const std::int64_t> keys, std::span<const T> values, T alpha, T beta) {
    auto& state = state_of(*this, "accumulate");
    const CollectiveCall call(state.world->exchange_communicator(), "Tensor::accumulate", beta);
    if (std::imag(beta) != 0 && contains_kind(symmetry(), NodeKind::hermitian))
        throw InvalidArgument(state.title() + ": accumulate into a hermitian tensor needs a real beta");
    if (state.world->dry()) return;
    PairWriter<T> writer(state);
    state.world->agree([&] { writer.pack(*this, keys, values, alpha); });
    const auto mine = writer.deliver([](const std::vector<Packet<T>>&) {});
    for (std::size_t i = 0; i < mine.size(); ++i) {
        T& element = state.data[mine[i].offset];
        if (i == 0 || mine[i].offset != mine[i - 1].offset) element = beta == T(0) ? T(0) : beta * element;
        element += mine[i].value;
    }
}

template <class T>
std::vector<T> Tensor<T>::read(std::span<const std::int64_t> keys) const {
    const auto& state = state_of(*this, "read");
    const CollectiveCall call(state.world->exchange_communicator(), "Tensor::read");
    const auto& world = *state.world;
    std::vector<T> result;
    if (world.dry()) return std::vector<T>(keys.size(), T(0));
    const auto& layout = state.shape();
    std::vector<ElementLocation> at;
    std::vector<std::vector<std::int64_t>> wanted(static_cast<std::size_t>(world.size()));
    std::vector<std::vector<T>> answers(wanted.size());
    world.agree([&] {
        result.resize(keys.size(), T(0));
        at.resize(keys.size());
        const auto own_copies = copy_offsets(layout);
        for (std::size_t i = 0; i < keys.size(); ++i) {
            at[i] = locate_element(layout, index(keys[i]));
            for (auto offset : own_copies)
                if (at[i].rank + offset == state.rank()) at[i].rank = state.rank();
            if (!at[i].zero) wanted[static_cast<std::size_t>(at[i].rank)].push_back(at[i].offset);
        }
    });
    wanted = exchanged(world.communicator(), std::move(wanted));
    world.agree([&] {
        for (std::size_t r = 0; r < wanted.size(); ++r)
            for (auto offset : wanted[r]) answers[r].push_back(state.data[offset]);
    });
    answers = exchanged(world.communicator(), std::move(answers));
    std::vector<std::size_t> next(answers.size(), 0);
    for (std::size_t i = 0; i < keys.size(); ++i) {
        if (at[i].zero) continue;
        const auto rank = static_cast<std::size_t>(at[i].rank);
        T value = answers[rank][next[rank]++];
        if (at[i].conjugate) value = conjugated(value);
        result[i] = at[i].negative ? -value : value;
    }
    return result;
}

template <class T>
std::pair<std::vector<std::int64_t>, std::vector<T>> Tensor<T>::local_pairs() const {
    const auto& state = state_of(*this, "local_pairs");
    std::vector<std::int64_t> keys;
    std::vector<T> values;
    if (state.world->dry() || !state.shape().is_first_copy(state.rank())) return {keys, values};
    for_each_element(state.shape(), state.rank(), [&](std::int64_t offset, const std::vector<std::int64_t>& x) {
        keys.push_back(key(x));
        values.push_back(state.data[offset]);
    });
    std::vector<std::size_t> order(keys.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
    std::pair<std::vector<std::int64_t>, std::vector<T>> result;
    for (auto i : order) {
        result.first.push_back(keys[i]);
        result.second.push_back(values[i]);
    }
    return result;
}

template <class T>
void Tensor<T>::for_each_local(const std::function<void(Index, T&)>& f) {
    auto& state = state_of(*this, "for_each_local");
    if (state.world->dry()) return;
    for_each_element(state.shape(), state.rank(),
                     [&](std::int64_t offset, const std::vector<std::int64_t>& x) { f(x, state.data[offset]); });
    state.keep_real();
}

template <class T>
void Tensor<T>::for_each_local(const std::function<void(Index, const T&)>& f) const {
    const auto& state = state_of(*this, "for_each_local");
    if (state.world->dry()) return;
    for_each_element(state.shape(), state.rank(),
                     [&](std::int64_t offset, const std::vector<std::int64_t>& x) { f(x, state.data[offset]); });
}

template <class T>
std::vector<T> Tensor<T>::gather() const {
    const auto& state = state_of(*this, "gather");
    const CollectiveCall call(state.world->exchange_communicator(), "Tensor::gather");
    if (state.world->dry()) return {};
    std::vector<T> full;
    state.world->agree([&] { full.resize(static_cast<std::size_t>(size())); });
    ExchangeSpec spec;
    spec.from = state.shape();
    const auto slots = static_cast<std::size_t>(state.shape().order());
    spec.to = Layout(state.world->grid(), extents(), Symmetry::none(order()), std::vector<SlotMapping>(slots));
    spec.from_labels.resize(slots);
    std::iota(spec.from_labels.begin(), spec.from_labels.end(), 0);
    spec.to_labels = spec.from_labels;
    spec.label_extents = extents();
    spec.terms = {spec.identity()};
    run_movement(*state.world, spec, state.data.data(), full.data(), T(1), T(0));
    return full;
}

template <class T>
std::vector<T> Tensor<T>::gather_to(std::int64_t root) const {
    const auto& state = state_of(*this, "gather_to");
    const CollectiveCall call(state.world->exchange_communicator(), "Tensor::gather_to", root);
    if (root < 0 || root >= state.world->size())
        throw InvalidArgument(state.title() + ": gather_to rank " + std::to_string(root) + " of " +
                              std::to_string(state.world->size()) + "; ranks run from 0");
    if (state.world->dry()) return {};
    const auto& world = *state.world;
    std::vector<T> own, full;
    world.agree([&] { own.assign(state.data.data(), state.data.data() + state.data.size()); });
    const auto all = gathered_on(world.communicator(), root, own);
    world.agree([&] {
        if (world.rank() != root) return;
        std::vector<std::int64_t> first{0};
        for (std::int64_t r = 0; r < world.size(); ++r) first.push_back(first.back() + state.shape().local_size(r));
        full.resize(static_cast<std::size_t>(size()), T(0));
        for (std::size_t k = 0; k < full.size(); ++k) {
            const auto at = locate_element(state.shape(), index(static_cast<std::int64_t>(k)));
            if (at.zero) continue;
            T value = all[static_cast<std::size_t>(first[static_cast<std::size_t>(at.rank)] + at.offset)];
            if (at.conjugate) value = conjugated(value);
            full[k] = at.negative ? -value : value;
        }
    });
    return full;
}

#define ARGES_INSTANTIATE(T)                                                                                  \
    template void Tensor<T>::write(std::span<const std::int64_t>, std::span<const T>);                        \
    template void Tensor<T>::accumulate(std::span<const std::int64_t>, std::span<const T>, T, T);             \
    template std::vector<T> Tensor<T>::read(std::span<const std::int64_t>) const;                             \
    template std::pair<std::vector<std::int64_t>, std::vector<T>> Tensor<T>::local_pairs() const;             \
    template void Tensor<T>::for_each_local(const std::function<void(Index, T&)>&);                           \
    template void Tensor<T>::for_each_local(const std::function<void(Index, const T&)>&) const;               \
    template std::vector<T> Tensor<T>::gather() const;                                                        \
    template std::vector<T> Tensor<T>::gather_to(std::int64_t) const;
ARGES_FOR_EACH_ELEMENT_TYPE(ARGES_INSTANTIATE)

}  // namespace arges
