// Key-value input and output of tensors, and gathering.
#include "base/instantiate.hpp"
#include "base/related_value.hpp"
#include "base/saturate.hpp"
#include "comm/collective_call.hpp"
#include "comm/values.hpp"
#include "interface/changed_elements.hpp"
#include "interface/pair_exchange.hpp"
#include "interface/run_movement.hpp"
#include "interface/tensor_state.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <sstream>
#include <type_traits>
#include <utility>

namespace arges {

namespace {

/// True for values that differ by rounding and a tolerance at most, and for two NaN.
template <class T>
bool do_agree(T a, T b, real_of<T> tolerance) {
    constexpr auto rounding = 8 * std::numeric_limits<real_of<T>>::epsilon();
    const bool both_nan = a != a && b != b;
    const auto difference = std::abs(a - b);
    return a == b || both_nan || (std::isfinite(difference) && difference <= rounding * std::max(std::abs(a), std::abs(b)) + tolerance);
}

/// A pair as a rank has given it, and the value of the element that is stored.
template <class T>
struct GivenPair {
    std::int64_t key, rank;
    T value, stored;
};

/// Two pairs of this rank for an element that do not agree, or one, or none.
template <class T>
std::vector<GivenPair<T>> pairs_for(const TensorState<T>& state, const ElementLocation& element, std::span<const std::int64_t> keys,
                                    std::span<const T> values, real_of<T> tolerance) {
    ElementLocator locator(state.shape());
    std::vector<GivenPair<T>> result;
    for (std::size_t i = 0; i < keys.size() && result.size() < 2; ++i) {
        const auto at = locator.locate_key(keys[i]);
        if (at.zero || at.rank != element.rank || at.offset != element.offset) continue;
        const auto stored = related_value(at.negative, at.conjugate, values[i]);
        if (result.empty() || !do_agree(result[0].stored, stored, tolerance)) result.push_back({keys[i], state.rank(), values[i], stored});
    }
    return result;
}

/// Says which pairs contradict each other. Collective.
template <class T>
[[noreturn]] void refuse_contradiction(const Tensor<T>& tensor, const TensorState<T>& state, std::int64_t key, std::span<const std::int64_t> keys,
                                       std::span<const T> values, real_of<T> tolerance) {
    const auto& comm = state.world->communicator();
    std::vector<GivenPair<T>> mine;
    state.world->agree([&] {
        ElementLocator locator(state.shape());
        mine = pairs_for(state, locator.locate_key(key), keys, values, tolerance);
    });
    const auto all = gathered(comm, mine);
    std::size_t other = all.size() > 1 ? 1 : 0;
    while (other + 1 < all.size() && do_agree(all[0].stored, all[other].stored, tolerance)) ++other;
    std::ostringstream text;
    text.precision(std::numeric_limits<real_of<T>>::max_digits10);
    const auto add = [&](const GivenPair<T>& pair) {
        text << pair.value << " from rank " << pair.rank << " by key " << pair.key << " (index ";
        const auto index = tensor.index(pair.key);
        for (std::size_t d = 0; d < index.size(); ++d) text << (d > 0 ? "," : "") << index[d];
        text << ")";
    };
    text << state.title() << ": one element gets two values, ";
    add(all[0]);
    text << " and ";
    add(all[other]);
    const bool changes = all[0].stored != all[0].value || all[other].stored != all[other].value;
    text << (all[0].key == all[other].key ? "" : ", keys that the symmetry relates") << (changes ? " with a sign or conjugation" : "")
         << "; write it once, or give write() a tolerance if the difference does not matter";
    throw InvalidArgument(text.str());
}

/// Refuses a value that symmetry does not allow for an element that is zero, or else real.
template <class T>
void check_allowed(const TensorState<T>& state, const ElementLocation& at, std::int64_t key, T value) {
    const bool fine = at.zero ? value == T(0) : !at.real || std::imag(value) == 0;
    if (fine) return;
    throw InvalidArgument(state.title() + ": key " + std::to_string(key) +
                          (at.zero ? " is on a diagonal that is zero by symmetry, but its value is not zero"
                                   : " is on the diagonal of a hermitian group, but its value is not real") +
                          "; correct the value or the symmetry");
}

/// Elements that gather_to() reads at a time.
constexpr std::int64_t gathered_at_once = std::int64_t{1} << 18;

/// Sorts pairs by their keys.
template <class T>
void sort_pairs(std::vector<std::int64_t>& keys, std::vector<T>& values) {
    if (std::is_sorted(keys.begin(), keys.end())) return;
    std::vector<std::size_t> order(keys.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
    const auto arrange = [&](auto& list) {
        std::remove_reference_t<decltype(list)> arranged;
        arranged.reserve(order.size());
        for (auto i : order) arranged.push_back(list[i]);
        list = std::move(arranged);
    };
    arrange(keys);
    arrange(values);
}

/// Changes the elements of the pairs: change(element, value, first) with the element, alpha times a pair's value as its representative
/// has it, and whether it is the first change of the element in this call. If a rank throws, all throw and nothing has changed. Collective.
template <class T, class Change>
void change_elements(const Tensor<T>& tensor, TensorState<T>& state, std::span<const std::int64_t> keys, std::span<const T> values, T alpha,
                     Change&& change) {
    auto& world = *state.world;
    constexpr std::int64_t packet_bytes = sizeof(Packet<T>);
    const auto& layout = state.shape();
    const PairBatches batches(world, static_cast<std::int64_t>(keys.size()), layout.copies() * packet_bytes,
                              layout.max_local_size() * packet_bytes, 3 * layout.copies() * packet_bytes, [&] {
        if (keys.size() != values.size())
            throw InvalidArgument(state.title() + ": " + std::to_string(keys.size()) + " keys but " + std::to_string(values.size()) +
                                  " values; give one value per key");
        check_keys(tensor, keys);
    });
    std::optional<ElementLocator> locator;
    std::optional<ChangedElements<T>> changed;
    world.agree([&] {
        locator.emplace(layout);
        changed.emplace(state.data.data(), state.data.size(), batches.most() * layout.copies());
    });
    try {
        deliver_pairs<T>(
            world, layout, batches, [&](std::int64_t i) { return locator->locate_key(keys[static_cast<std::size_t>(i)]); },
            [&](std::int64_t i, const ElementLocation& at) {
                const T given = values[static_cast<std::size_t>(i)];
                const T value = alpha == T(1) ? given : alpha * given;
                if (at.zero || at.real) check_allowed(state, at, keys[static_cast<std::size_t>(i)], value);
                return related_value(at.negative, at.conjugate, value);
            },
            [&](const Packet<T>& packet) { change(state.data[packet.offset], packet.value, changed->first(packet.offset)); });
    } catch (...) {
        changed->undo();
        throw;
    }
}

/// Bytes of a question for an element while a batch is under way: its offset three times, its rank, and where the answer goes.
constexpr std::int64_t bytes_of_question = 3 * 8 + 4 + 16;

/// Asks the ranks that store the elements, or the copy on this rank. Collective.
template <class T>
void read_from_ranks(const TensorState<T>& state, ElementLocator& locator, const PairBatches& batches, std::span<const std::int64_t> keys,
                     std::vector<T>& result) {
    struct Asked {
        std::int64_t number;
        bool negative, conjugate;
    };
    const auto& world = *state.world;
    const auto copies = copy_offsets(state.shape());
    std::vector<Asked> asked;
    std::vector<std::int64_t> place;  // of a question in the order of the ranks that answer
    BatchExchange<std::int64_t> offsets(world);
    Buffer<T> answers, given;
    for (std::int64_t b = 0; b < batches.number(); ++b) {
        world.agree([&] {
            offsets.clear();
            asked.clear();
            for (auto i = batches.begin(b); i < batches.end(b); ++i) {
                auto at = locator.locate_key(keys[static_cast<std::size_t>(i)]);
                if (at.zero) continue;
                if (copies.size() > 1 && std::find(copies.begin(), copies.end(), world.rank() - at.rank) != copies.end()) at.rank = world.rank();
                offsets.add(at.rank, at.offset);
                asked.push_back({i, at.negative, at.conjugate});
            }
            place.resize(asked.size());
        });
        offsets.exchange([&](std::size_t i, std::int64_t j) { place[i] = j; });
        offsets.answer(answers, given, [&](std::int64_t offset) { return state.data[offset]; });
        for (std::size_t i = 0; i < asked.size(); ++i)
            result[static_cast<std::size_t>(asked[i].number)] = related_value(asked[i].negative, asked[i].conjugate, answers[place[i]]);
    }
}

}  // namespace

template <class T>
void Tensor<T>::write(std::span<const std::int64_t> keys, std::span<const T> values, real_of<T> tolerance) {
    auto& state = state_of(*this, "write");
    const CollectiveCall call(state.world->exchange_communicator(), "Tensor::write", tolerance);
    if (!(tolerance >= 0)) throw InvalidArgument(state.title() + ": write() with a tolerance of " + std::to_string(tolerance) + "; give zero or a positive number");
    if (state.world->dry()) return;
    constexpr auto none = std::numeric_limits<std::int64_t>::max();
    std::int64_t contradiction = none;  // offset of the element
    try {
        change_elements(*this, state, keys, values, T(1), [&](T& element, T value, bool first) {
            if (!first && !do_agree(element, value, tolerance)) {
                contradiction = &element - state.data.data();
                throw InvalidArgument(state.title() + ": two values for one element");
            }
            if (first || std::abs(value) > std::abs(element)) element = value;
        });
    } catch (const InvalidArgument&) {
        std::int64_t own = none;
        if (contradiction != none)
            for_each_element(state.shape(), state.rank(), [&](std::int64_t offset, const std::vector<std::int64_t>& x) {
                if (offset == contradiction) own = key(x);
            });
        const auto least = state.world->communicator().minimum(own);
        if (least == none) throw;
        refuse_contradiction<T>(*this, state, least, keys, values, tolerance);
    }
}

template <class T>
void Tensor<T>::accumulate(std::span<const std::int64_t> keys, std::span<const T> values, T alpha, T beta) {
    auto& state = state_of(*this, "accumulate");
    const CollectiveCall call(state.world->exchange_communicator(), "Tensor::accumulate", beta);
    if (std::imag(beta) != 0 && contains_kind(symmetry(), NodeKind::hermitian))
        throw InvalidArgument(state.title() + ": accumulate into a hermitian tensor needs a real beta");
    if (state.world->dry()) return;
    change_elements(*this, state, keys, values, alpha, [beta](T& element, T value, bool first) {
        if (first) element = beta == T(0) ? T(0) : beta * element;
        element += value;
    });
}

template <class T>
std::vector<T> Tensor<T>::read(std::span<const std::int64_t> keys) const {
    const auto& state = state_of(*this, "read");
    const CollectiveCall call(state.world->exchange_communicator(), "Tensor::read");
    auto& world = *state.world;
    if (world.dry()) return std::vector<T>(keys.size(), T(0));
    const auto& layout = state.shape();
    std::vector<T> result;
    std::optional<ElementLocator> locator;
    const PairBatches batches(world, static_cast<std::int64_t>(keys.size()), sizeof(T), std::numeric_limits<std::int64_t>::max(), bytes_of_question + 2 * sizeof(T), [&] {
        check_keys(*this, keys);
        result.resize(keys.size(), T(0));
        locator.emplace(layout);
    });
    if (world.size() == 1) {
        std::array<ElementLocation, block_length> block;
        for (std::size_t begin = 0; begin < keys.size(); begin += block.size()) {
            const auto count = std::min(block.size(), keys.size() - begin);
            for (std::size_t i = 0; i < count; ++i) block[i] = locator->locate_key(keys[begin + i]);
            for (std::size_t i = 0; i < count; ++i)
                if (!block[i].zero) result[begin + i] = related_value(block[i].negative, block[i].conjugate, state.data[block[i].offset]);
        }
        return result;
    }
    read_from_ranks(state, *locator, batches, keys, result);
    return result;
}

template <class T>
std::pair<std::vector<std::int64_t>, std::vector<T>> Tensor<T>::local_pairs() const {
    const auto& state = state_of(*this, "local_pairs");
    std::pair<std::vector<std::int64_t>, std::vector<T>> result;
    if (state.world->dry() || !state.shape().is_first_copy(state.rank())) return result;
    auto& [keys, values] = result;
    keys.reserve(static_cast<std::size_t>(state.data.size()));
    values.reserve(static_cast<std::size_t>(state.data.size()));
    for_each_element(state.shape(), state.rank(), [&](std::int64_t offset, const std::vector<std::int64_t>& x) {
        keys.push_back(key(x));
        values.push_back(state.data[offset]);
    });
    sort_pairs(keys, values);
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
    state.world->agree([&] {
        state.world->require_free(saturated_product(size(), static_cast<std::int64_t>(sizeof(T))), state.title() + ": gather");
        full.resize(static_cast<std::size_t>(size()));
    });
    const Layout whole(state.world->grid(), extents(), Symmetry::none(order()), std::vector<SlotMapping>(static_cast<std::size_t>(order())));
    move_elements(*state.world, state.shape(), state.data.data(), whole, full.data());
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
    const auto is_root = world.rank() == root;
    std::vector<T> full;
    std::vector<std::int64_t> keys;
    world.agree([&] {
        if (!is_root) return;
        world.require_free(saturated_product(size(), static_cast<std::int64_t>(sizeof(T))), state.title() + ": gather_to");
        full.reserve(static_cast<std::size_t>(size()));
    });
    for (std::int64_t begin = 0; begin < size(); begin += gathered_at_once) {
        world.agree([&] {
            keys.resize(is_root ? static_cast<std::size_t>(std::min(gathered_at_once, size() - begin)) : 0);
            std::iota(keys.begin(), keys.end(), begin);
        });
        const auto part = read(keys);
        full.insert(full.end(), part.begin(), part.end());
    }
    return full;
}

#define ARGES_INSTANTIATE(T)                                                                                  \
    template void Tensor<T>::write(std::span<const std::int64_t>, std::span<const T>, real_of<T>);            \
    template void Tensor<T>::accumulate(std::span<const std::int64_t>, std::span<const T>, T, T);             \
    template std::vector<T> Tensor<T>::read(std::span<const std::int64_t>) const;                             \
    template std::pair<std::vector<std::int64_t>, std::vector<T>> Tensor<T>::local_pairs() const;             \
    template void Tensor<T>::for_each_local(const std::function<void(Index, T&)>&);                           \
    template void Tensor<T>::for_each_local(const std::function<void(Index, const T&)>&) const;               \
    template std::vector<T> Tensor<T>::gather() const;                                                        \
    template std::vector<T> Tensor<T>::gather_to(std::int64_t) const;
ARGES_FOR_EACH_ELEMENT_TYPE(ARGES_INSTANTIATE)

}  // namespace arges
