// Key-value input and output of tensors, and gathering.
#include "base/element_at.hpp"
#include "base/math.hpp"
#include "base/text.hpp"
#include "comm/collective_call.hpp"
#include "comm/values.hpp"
#include "interface/dense/changed_elements.hpp"
#include "interface/dense/pair_exchange.hpp"
#include "interface/dense/run_movement.hpp"
#include "interface/sparse/sparse_calls.hpp"
#include "interface/sparse/sparse_tensor_keys.hpp"
#include "interface/world/call_arguments.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

namespace arges {

namespace {

/// Bit 0 negates, bit 1 conjugates.
std::uint8_t factor_of(const ElementLocation& at) { return static_cast<std::uint8_t>((at.negative ? 1 : 0) + (at.conjugate ? 2 : 0)); }

/// to = alpha * the value of an element from that of its representative, or the other way round; a null alpha stands for one.
void relate(const ElementKernels& kernels, std::uint8_t factor, const void* value, const void* alpha, void* to) {
    if (factor == 0 && alpha == nullptr)
        copy_element(to, value, kernels.size);
    else
        kernels.transfer_listed({.count = 1, .factor = factor}, value, to, alpha, {});
}

/// Pairs that the caller has given on this rank.
struct GivenPairs {
    std::span<const std::int64_t> keys;
    const void* values;
    std::int64_t count;  ///< of the values

    const std::byte* value(std::int64_t i, std::int64_t element_bytes) const { return element_at(values, i, element_bytes); }
};

/// A pair as a rank has given it, and the value of the element that is stored.
struct GivenPair {
    std::int64_t key, rank;
    ElementValue value, stored;
};

/// Two pairs of this rank for an element that do not agree, or one, or none.
std::vector<GivenPair> pairs_for(const TensorState& state, const ElementLocation& element, const GivenPairs& given, double tolerance) {
    const auto& kernels = *state.kernels;
    ElementLocator locator(state.shape());
    std::vector<GivenPair> result;
    for (std::size_t i = 0; i < given.keys.size() && result.size() < 2; ++i) {
        const auto at = locator.locate_key(given.keys[i]);
        if (at.zero || at.rank != element.rank || at.offset != element.offset) continue;
        const auto* const value = given.value(i, kernels.size);
        ElementValue stored(kernels.size);
        relate(kernels, factor_of(at), value, nullptr, stored.data());
        if (result.empty() || !kernels.agree(std::as_const(result[0].stored).data(), stored.data(), tolerance))
            result.push_back({given.keys[i], state.rank(), ElementValue(value, kernels.size), stored});
    }
    return result;
}

/// The pairs of all ranks. Collective.
std::vector<GivenPair> all_pairs(const Communicator& comm, const std::vector<GivenPair>& mine, std::int64_t element_bytes) {
    std::vector<std::int64_t> numbers;
    std::vector<std::byte> values;
    for (const auto& pair : mine) {
        numbers.insert(numbers.end(), {pair.key, pair.rank});
        for (const auto* value : {&pair.value, &pair.stored}) {
            const auto* const bytes = static_cast<const std::byte*>(value->data());
            values.insert(values.end(), bytes, bytes + element_bytes);
        }
    }
    numbers = gathered(comm, numbers);
    values = gathered(comm, values);
    std::vector<GivenPair> result;
    for (std::int64_t p = 0; 2 * p < std::ssize(numbers); ++p)
        result.push_back({numbers[2 * p], numbers[2 * p + 1], ElementValue(element_at(values.data(), 2 * p, element_bytes), element_bytes),
                          ElementValue(element_at(values.data(), 2 * p + 1, element_bytes), element_bytes)});
    return result;
}

/// Says which pairs contradict each other. Collective.
[[noreturn]] void refuse_contradiction(const AnyTensor& tensor, const TensorState& state, std::int64_t key, const GivenPairs& given,
                                       double tolerance) {
    const auto& kernels = *state.kernels;
    std::vector<GivenPair> mine;
    state.world->agree([&] {
        ElementLocator locator(state.shape());
        mine = pairs_for(state, locator.locate_key(key), given, tolerance);
    });
    const auto all = all_pairs(state.world->communicator(), mine, kernels.size);
    std::size_t other = all.size() > 1 ? 1 : 0;
    while (other + 1 < all.size() && kernels.agree(all[0].stored.data(), all[other].stored.data(), tolerance)) ++other;
    std::string text = state.title() + ": one element gets two values, ";
    const auto add = [&](const GivenPair& pair) {
        text += kernels.text(pair.value.data()) + " from rank " + std::to_string(pair.rank) + " by key " + std::to_string(pair.key) +
                " (index " + joined(tensor.index(pair.key), ",") + ")";
    };
    add(all[0]);
    text += " and ";
    add(all[other]);
    const auto is_changed = [&](const GivenPair& pair) {
        return std::memcmp(pair.stored.data(), pair.value.data(), static_cast<std::size_t>(kernels.size)) != 0;
    };
    text += all[0].key == all[other].key ? "" : ", keys that the symmetry relates";
    text += is_changed(all[0]) || is_changed(all[other]) ? " with a sign or conjugation" : "";
    throw InvalidArgument(text + "; write it once, or give write() a tolerance if the difference does not matter");
}

/// Refuses a value that symmetry does not allow for an element that is zero, or else real.
void check_allowed(const TensorState& state, const ElementLocation& at, std::int64_t key, const void* value) {
    const bool fine = at.zero ? state.kernels->is_zero(value) : !at.real || state.kernels->as_number(value).imag() == 0;
    if (fine) return;
    throw InvalidArgument(state.title() + ": key " + std::to_string(key) +
                          (at.zero ? " is on a diagonal that is zero by symmetry, but its value is not zero"
                                   : " is on the diagonal of a hermitian group, but its value is not real") +
                          "; correct the value or the symmetry");
}

/// Elements that gather_to() reads at a time.
constexpr std::int64_t gathered_at_once = std::int64_t{1} << 18;

/// Changes the elements of the pairs: change(bytes, offset, element, value, first) with the number of bytes of an element, its offset, the
/// element, alpha times a pair's value as its representative has it, and whether it is the first change of the element in this call. If a
/// rank throws, all throw and nothing has changed. Collective.
template <class Change>
void change_elements(const AnyTensor& tensor, TensorState& state, const GivenPairs& given, const void* alpha, Change&& change) {
    auto& world = *state.world;
    const auto& kernels = *state.kernels;
    const auto packet_bytes = Packet::bytes(kernels.size);
    const auto& layout = state.shape();
    const PairBatches batches(world, std::ssize(given.keys), layout.copies() * packet_bytes, layout.max_local_size() * packet_bytes,
                              3 * layout.copies() * packet_bytes, [&] {
                                  if (std::ssize(given.keys) != given.count)
                                      throw InvalidArgument(state.title() + ": " + std::to_string(given.keys.size()) + " keys but " +
                                                            std::to_string(given.count) + " values; give one value per key");
                                  check_keys(tensor, given.keys);
                              });
    std::optional<ElementLocator> locator;
    world.agree([&] { locator.emplace(layout); });
    if (alpha != nullptr && kernels.is_one(alpha)) alpha = nullptr;
    std::optional<ChangedHostElements> elements;
    world.agree([&] { elements.emplace(state); });
    with_element_bytes(kernels.size, [&](auto bytes) {
        std::optional<ChangedElements<decltype(bytes)>> changed;
        world.agree([&] { changed.emplace(elements->data(), bytes, state.count(), batches.most() * layout.copies()); });
        try {
            deliver_pairs(
                world, layout, batches, bytes, [&](std::int64_t i) { return locator->locate_key(given.keys[i]); },
                [&](std::int64_t i, const ElementLocation& at, std::byte* to) {
                    if (alpha == nullptr)
                        copy_element(to, given.value(i, bytes), bytes);
                    else
                        relate(kernels, 0, given.value(i, bytes), alpha, to);
                    if (at.zero || at.real) check_allowed(state, at, given.keys[i], to);
                    if (const auto factor = factor_of(at); factor != 0) relate(kernels, factor, to, nullptr, to);
                },
                [bytes, data = elements->data()](std::int64_t offset) { __builtin_prefetch(element_at(data, offset, bytes), 1); },
                [&, data = elements->data()](std::int64_t offset, const std::byte* value) {
                    change(bytes, offset, element_at(data, offset, bytes), value, changed->first(offset));
                });
        } catch (...) {
            changed->undo();
            throw;
        }
    });
}

/// Bytes of a question for an element while a batch is under way: its offset three times, its rank, and where the answer goes.
constexpr std::int64_t bytes_of_question = 3 * 8 + 4 + 16;

/// Asks the ranks that store the elements, or the copy on this rank. Collective.
void read_from_ranks(const TensorState& state, ElementLocator& locator, const PairBatches& batches, std::span<const std::int64_t> keys,
                     void* result) {
    struct Asked {
        std::int64_t number;
        std::uint8_t factor;
    };
    const auto& world = *state.world;
    const auto& kernels = *state.kernels;
    const auto copies = copy_offsets(state.shape());
    std::vector<Asked> asked;
    std::vector<std::int64_t> place;  // of a question in the order of the ranks that answer
    BatchExchange offsets(world, sizeof(std::int64_t));
    std::optional<HostElements> elements;
    world.agree([&] { elements.emplace(state); });
    Buffer<std::byte> answers, given;
    for (std::int64_t b = 0; b < batches.number(); ++b) {
        world.agree([&] {
            offsets.clear();
            asked.clear();
            for (auto i = batches.begin(b); i < batches.end(b); ++i) {
                auto at = locator.locate_key(keys[i]);
                if (at.zero) {
                    copy_element(element_at(result, i, kernels.size), kernels.zero, kernels.size);
                    continue;
                }
                if (copies.size() > 1 && std::find(copies.begin(), copies.end(), world.rank() - at.rank) != copies.end())
                    at.rank = world.rank();
                copy_element(offsets.add(at.rank), &at.offset, sizeof at.offset);
                asked.push_back({i, factor_of(at)});
            }
            place.resize(asked.size());
        });
        offsets.exchange([&](std::size_t i, std::int64_t j) { place[i] = j; });
        with_element_bytes(kernels.size, [&](auto bytes) {
            const auto element = [bytes, data = elements->data()](const std::byte* item) {
                std::int64_t offset = 0;
                std::memcpy(&offset, item, sizeof offset);
                return element_at(data, offset, bytes);
            };
            offsets.answer(
                answers, given, bytes, [&](const std::byte* item) { __builtin_prefetch(element(item)); },
                [&](const std::byte* item, std::byte* answer) { copy_element(answer, element(item), bytes); });
            for (std::size_t i = 0; i < asked.size(); ++i) {
                const auto* const from = element_at(answers.data(), place[i], bytes);
                auto* const to = element_at(result, asked[i].number, bytes);
                if (asked[i].factor == 0)
                    copy_element(to, from, bytes);
                else
                    relate(kernels, asked[i].factor, from, nullptr, to);
            }
        });
    }
}

}  // namespace

void AnyTensor::write_pairs(std::span<const std::int64_t> keys, const void* values, std::int64_t count, Duplicates duplicates,
                            double tolerance) {
    if (is_sparse()) return sparse_calls::write_pairs(*this, keys, values, count, duplicates);
    auto& state = state_of(*this, "write");
    const CollectiveCall call(state.world->movement_communicator(), "Tensor::write", state, tolerance);
    if (!(tolerance >= 0))
        throw InvalidArgument(state.title() + ": write() with a tolerance of " + std::to_string(tolerance) +
                              "; give zero or a positive number");
    if (state.world->dry()) return;
    const auto& kernels = *state.kernels;
    const GivenPairs given{keys, values, count};
    constexpr auto none = std::numeric_limits<std::int64_t>::max();
    std::int64_t contradiction = none;  // offset of the element
    try {
        change_elements(*this, state, given, nullptr,
                        [&](auto bytes, std::int64_t offset, std::byte* element, const std::byte* value, bool first) {
                            if (!first && std::memcmp(element, value, static_cast<std::size_t>(bytes)) == 0) return;
                            if (!first && !kernels.agree(element, value, tolerance)) {
                                contradiction = offset;
                                throw InvalidArgument(state.title() + ": two values for one element");
                            }
                            if (first || kernels.is_larger(value, element)) copy_element(element, value, bytes);
                        });
    } catch (const InvalidArgument&) {
        std::int64_t own = none;
        if (contradiction != none)
            for_each_element(state.shape(), state.rank(), [&](std::int64_t offset, const std::vector<std::int64_t>& x) {
                if (offset == contradiction) own = key(x);
            });
        const auto least = state.world->communicator().minimum(own);
        if (least == none) throw;
        refuse_contradiction(*this, state, least, given, tolerance);
    }
}

void AnyTensor::accumulate_pairs(std::span<const std::int64_t> keys, const void* values, std::int64_t count, const void* alpha,
                                 const void* beta) {
    const auto& kernels = this->kernels();
    if (alpha == nullptr) alpha = kernels.one;
    if (beta == nullptr) beta = kernels.one;
    if (is_sparse()) return sparse_calls::accumulate_pairs(*this, keys, values, count, alpha, beta);
    auto& state = state_of(*this, "accumulate");
    const CollectiveCall call(state.world->movement_communicator(), "Tensor::accumulate", state, ElementArgument{kernels, beta});
    require_same_factor(state.world->movement_communicator(), kernels, !keys.empty(), alpha, "Tensor::accumulate");
    if (kernels.as_number(beta).imag() != 0 && contains_kind(symmetry(), NodeKind::hermitian))
        throw InvalidArgument(state.title() + ": accumulate into a hermitian tensor needs a real beta");
    if (state.world->dry()) return;
    const bool clears = kernels.is_zero(beta), scales = !clears && !kernels.is_one(beta);
    change_elements(*this, state, {keys, values, count}, alpha,
                    [&](auto bytes, std::int64_t, std::byte* element, const std::byte* value, bool first) {
                        if (first && clears) return copy_element(element, value, bytes);
                        if (first && scales) kernels.scale(element, 1, beta);
                        kernels.transfer_listed({.count = 1}, value, element, nullptr, {.accumulate = true});
                    });
}

void AnyTensor::read_pairs(std::span<const std::int64_t> keys, const std::function<void*(std::int64_t)>& room) const {
    if (is_sparse()) return sparse_calls::read_pairs(*this, keys, room);
    const auto& state = state_of(*this, "read");
    const CollectiveCall call(state.world->movement_communicator(), "Tensor::read", state);
    auto& world = *state.world;
    const auto& kernels = *state.kernels;
    const auto count = std::ssize(keys);
    void* result = nullptr;
    if (world.dry()) {
        result = room(count);
        return;
    }
    std::optional<ElementLocator> locator;
    const PairBatches batches(world, count, kernels.size, std::numeric_limits<std::int64_t>::max(), bytes_of_question + 2 * kernels.size,
                              [&] {
                                  check_keys(*this, keys);
                                  result = room(count);
                                  locator.emplace(state.shape());
                              });
    if (world.size() > 1) return read_from_ranks(state, *locator, batches, keys, result);
    const HostElements elements(state);
    with_element_bytes(kernels.size, [&](auto bytes) {
        std::array<ElementLocation, pair_block> block;
        for (std::int64_t begin = 0; begin < count; begin += static_cast<std::int64_t>(pair_block)) {
            const auto length = std::min(static_cast<std::int64_t>(pair_block), count - begin);
            for (std::int64_t i = 0; i < length; ++i) block[i] = locator->locate_key(keys[begin + i]);
            for (std::int64_t i = 0; i < length; ++i) {
                const auto& at = block[i];
                auto* const to = element_at(result, begin + i, bytes);
                if (at.zero) {
                    copy_element(to, kernels.zero, bytes);
                    continue;
                }
                const auto* const from = element_at(elements.data(), at.offset, bytes);
                if (const auto factor = factor_of(at); factor == 0)
                    copy_element(to, from, bytes);
                else
                    relate(kernels, factor, from, nullptr, to);
            }
        }
    });
}

std::vector<std::int64_t> AnyTensor::pairs_here(const std::function<void*(std::int64_t count)>& room) const {
    if (is_sparse()) {
        const auto& state = sparse_state_of(*this, "local_pairs");
        check_keys(*this);
        auto keys = keys_of(*state.pattern());
        copy_array(static_cast<std::byte*>(room(state.count())), state.values().data(), state.values().bytes(), nullptr);
        return keys;
    }
    const auto& state = state_of(*this, "local_pairs");
    std::vector<std::int64_t> keys;
    if (state.world->dry() || !state.shape().is_first_copy(state.rank())) return keys;
    const auto size = state.kernels->size;
    const HostElements elements(state);
    state.world->device().check();
    const auto for_each = [&](const auto& f) { for_each_element(state.shape(), state.rank(), f); };
    keys.reserve(state.count());
    for_each([&](std::int64_t, const std::vector<std::int64_t>& x) { keys.push_back(key(x)); });
    auto* const values = static_cast<std::byte*>(room(std::ssize(keys)));
    if (std::is_sorted(keys.begin(), keys.end())) {
        std::int64_t next = 0;
        for_each([&](std::int64_t offset, const std::vector<std::int64_t>&) {
            copy_element(element_at(values, next++, size), element_at(elements.data(), offset, size), size);
        });
        return keys;
    }
    std::vector<std::pair<std::int64_t, std::int64_t>> places;  // keys and offsets
    places.reserve(keys.size());
    for_each([&](std::int64_t offset, const std::vector<std::int64_t>&) { places.emplace_back(keys[places.size()], offset); });
    std::sort(places.begin(), places.end());
    for (std::size_t i = 0; i < places.size(); ++i) {
        keys[i] = places[i].first;
        copy_element(element_at(values, i, size), element_at(elements.data(), places[i].second, size), size);
    }
    return keys;
}

void AnyTensor::for_each_element_here(const char* where, const std::function<void(Index, void*)>& f) const {
    auto& state = state_of(*this, where);
    if (state.world->dry()) return;
    ChangedHostElements elements(state);
    state.world->device().check();
    for_each_element(state.shape(), state.rank(), [&](std::int64_t offset, const std::vector<std::int64_t>& x) {
        f(x, element_at(elements.data(), offset, state.kernels->size));
    });
}

void AnyTensor::gather_all(const std::function<void*(std::int64_t)>& room) const {
    const auto& state = state_of(*this, "gather");
    const CollectiveCall call(state.world->movement_communicator(), "Tensor::gather", state);
    if (state.world->dry()) return;
    void* full = nullptr;
    state.world->agree([&] {
        state.world->require_free(saturated_product(size(), state.kernels->size), state.title() + ": gather");
        full = room(size());
    });
    const Layout whole(state.world->grid(), extents(), Symmetry::none(order()), std::vector<SlotMapping>(order()));
    move_elements(*state.world, state.kernels->on_host(), state.shape(), {state.bytes.data(), state.kernels}, whole, full);
}

void AnyTensor::gather_at(std::int64_t root, const ElementRoom& room) const {
    const auto& state = state_of(*this, "gather_to");
    const CollectiveCall call(state.world->movement_communicator(), "Tensor::gather_to", state, root);
    if (root < 0 || root >= state.world->size())
        throw InvalidArgument(state.title() + ": gather_to rank " + std::to_string(root) + " of " + std::to_string(state.world->size()) +
                              "; ranks run from 0");
    if (state.world->dry()) return;
    auto& world = *state.world;
    const auto is_root = world.rank() == root;
    void* full = nullptr;
    std::vector<std::int64_t> keys;
    world.agree([&] {
        if (!is_root) return;
        world.require_free(saturated_product(size(), state.kernels->size), state.title() + ": gather_to");
        full = room(size());
    });
    for (std::int64_t begin = 0; begin < size(); begin += gathered_at_once) {
        world.agree([&] {
            keys.resize(is_root ? static_cast<std::size_t>(std::min(gathered_at_once, size() - begin)) : 0);
            std::iota(keys.begin(), keys.end(), begin);
        });
        read_pairs(keys, [&](std::int64_t) -> void* { return is_root ? element_at(full, begin, state.kernels->size) : nullptr; });
    }
}

}  // namespace arges
