/// Key-value pairs on their way between the ranks that have them and those that store their elements: in batches, so that what they take
/// beside the caller's arrays is bounded.
#pragma once

#include "base/buffer.hpp"
#include "base/element_at.hpp"
#include "base/first_error.hpp"
#include "base/math.hpp"
#include "interface/dense/tensor_state.hpp"
#include "layout/element_locator.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <vector>

namespace arges {

/// A value for an element of the rank that gets it: its offset, and the bytes of the value behind.
struct Packet {
    std::int64_t offset;

    static std::int64_t bytes(std::int64_t element_bytes) { return std::int64_t{sizeof(Packet)} + (element_bytes + 7) / 8 * 8; }
    std::byte* value() { return reinterpret_cast<std::byte*>(this + 1); }
    const std::byte* value() const { return reinterpret_cast<const std::byte*>(this + 1); }
};

/// Batches of one call: all ranks make the same number of them.
class PairBatches {
public:
    /// Agrees on the number. `check` looks at the caller's arrays first; what it throws on one rank, all throw. Collective.
    /// @param count  pairs of this rank
    /// @param bytes_per_pair, most_bytes  memory that a pair takes until the end of the call, and that all of them take at most
    /// @param bytes_per_item  memory of its item in a batch
    /// @throws OutOfMemory on every rank where that is over the limit of one
    template <class F>
    PairBatches(WorldState& world, std::int64_t count, std::int64_t bytes_per_pair, std::int64_t most_bytes, std::int64_t bytes_per_item,
                F&& check)
        : count_(count), length_(length(world.size())) {
        std::array<std::int64_t, 2> minima{-count, world.free_bytes()};
        world.agree(std::forward<F>(check), minima);
        most_ = -minima[0];
        const auto batch = world.size() > 1 ? std::min(most_, length_) * bytes_per_item : 0;
        require(world, std::min(most_ * bytes_per_pair, most_bytes) + batch, minima[1]);
    }

    std::int64_t number() const { return ceil_div(most_, length_); }
    /// Most pairs of a rank.
    std::int64_t most() const { return most_; }
    std::int64_t begin(std::int64_t batch) const { return std::min(count_, batch * length_); }
    std::int64_t end(std::int64_t batch) const { return begin(batch + 1); }

private:
    /// Pairs of a batch: enough for long messages, few enough that those of all ranks fit where all go to one.
    static std::int64_t length(std::int64_t ranks) {
        return std::max<std::int64_t>(std::int64_t(1) << 13, (std::int64_t(1) << 19) / ranks);
    }
    static void require(WorldState& world, std::int64_t bytes, std::int64_t least_free) {
        world.make_room(bytes);
        world.note_working(bytes);
        if (bytes > least_free)
            throw OutOfMemory("key-value pairs: " + std::to_string(bytes) +
                              " bytes per rank to deliver them are over the memory limit, which leaves " + std::to_string(least_free) +
                              "; give fewer pairs in one call, or raise the limit");
    }

    std::int64_t count_, length_, most_ = 0;
};

/// Pairs that one rank finds before it goes to their elements.
constexpr std::size_t pair_block = 512;

/// Throws unless all keys are in the tensor.
inline void check_keys(const AnyTensor& tensor, std::span<const std::int64_t> keys) {
    const auto size = tensor.size();
    const auto wrong = std::find_if(keys.begin(), keys.end(), [size](auto key) { return key < 0 || key >= size; });
    if (wrong != keys.end()) tensor.index(*wrong);
}

/// Items of one batch, all of so many bytes (a multiple of 8), sorted by the rank that they go to; and those that come.
class BatchExchange {
public:
    BatchExchange(const WorldState& world, std::int64_t item_bytes)
        : world_(world), item_bytes_(item_bytes), out_count_(ranks()), in_count_(ranks()) {}

    /// Forgets the last batch.
    void clear() {
        items_.clear();
        to_.clear();
        std::fill(out_count_.begin(), out_count_.end(), 0);
    }
    /// Room for an item for a rank, valid until the next one is added.
    std::byte* add(std::int64_t rank) {
        const auto begin = items_.size();
        items_.resize(begin + static_cast<std::size_t>(item_bytes_ / 8));
        to_.push_back(rank);
        ++out_count_[rank];
        return reinterpret_cast<std::byte*>(items_.data() + begin);
    }
    /// Sorts what was added by rank, each rank's in the order in which it was added, and delivers it. Calls place(i, j) for the item that
    /// was i-th and is j-th now. Collective. @throws OutOfMemory on every rank
    template <class F>
    void exchange(F&& place) {
        in_count_ = world_.communicator().all_to_all_counts(out_count_);
        world_.agree([&] {
            in_.reserve(total(in_count_) * item_bytes_);
            out_.reserve(total(out_count_) * item_bytes_);
        });
        auto next = starts(out_count_);
        with_element_bytes(item_bytes_, [&](auto bytes) {
            for (std::size_t i = 0; i < to_.size(); ++i) {
                const auto j = next[to_[i]]++;
                copy_element(element_at(out_.data(), j, bytes), element_at(items_.data(), i, bytes), bytes);
                place(i, j);
            }
        });
        world_.communicator().exchange(pieces(out_, out_count_, item_bytes_), pieces(in_, in_count_, item_bytes_));
    }
    /// Sends an answer of so many bytes for each item that came; `answers` gets those for the items that were sent, in sorted order. Calls
    /// f(item, answer) to make one, and soon(item) some items before. Collective.
    template <class Soon, class F>
    void answer(Buffer<std::byte>& answers, Buffer<std::byte>& given, std::int64_t answer_bytes, Soon&& soon, F&& f) {
        world_.agree([&] {
            given.reserve(total(in_count_) * answer_bytes);
            answers.reserve(total(out_count_) * answer_bytes);
        });
        std::byte* next = given.data();
        for_each_item(soon, [&](const std::byte* item) {
            f(item, next);
            next += answer_bytes;
        });
        const auto own = element_at(given.data(), starts(in_count_)[me()], answer_bytes);
        std::copy(own, own + in_count_[me()] * answer_bytes, element_at(answers.data(), starts(out_count_)[me()], answer_bytes));
        world_.communicator().exchange(pieces(given, in_count_, answer_bytes), pieces(answers, out_count_, answer_bytes));
    }
    /// Calls f(item) for what each rank sent, by rank, and soon(item) some items before, to ask memory for what f will want.
    template <class Soon, class F>
    void for_each_item(Soon&& soon, F&& f) {
        const auto in = starts(in_count_), out = starts(out_count_);
        for (std::size_t r = 0; r < ranks(); ++r) {
            const auto* item = r == me() ? element_at(out_.data(), out[r], item_bytes_) : element_at(in_.data(), in[r], item_bytes_);
            for (std::int64_t i = 0; i < in_count_[r]; ++i, item += item_bytes_) {
                if (i + items_ahead < in_count_[r]) soon(element_at(static_cast<const void*>(item), items_ahead, item_bytes_));
                f(static_cast<const std::byte*>(item));
            }
        }
    }

private:
    static constexpr std::int64_t items_ahead = 16;

    std::size_t ranks() const { return world_.size(); }
    std::size_t me() const { return world_.rank(); }
    static std::vector<std::int64_t> starts(const std::vector<std::int64_t>& counts) {
        std::vector<std::int64_t> result{0};
        for (const auto n : counts) result.push_back(result.back() + n);
        return result;
    }
    static std::int64_t total(const std::vector<std::int64_t>& counts) { return starts(counts).back(); }
    /// The parts of an array for or from other ranks.
    std::vector<Piece> pieces(Buffer<std::byte>& values, const std::vector<std::int64_t>& counts, std::int64_t bytes) const {
        std::vector<Piece> result;
        const auto start = starts(counts);
        for (std::size_t r = 0; r < ranks(); ++r)
            if (r != me() && counts[r] > 0)
                result.push_back({static_cast<std::int64_t>(r), element_at(values.data(), start[r], bytes), counts[r] * bytes});
        return result;
    }

    const WorldState& world_;
    std::int64_t item_bytes_;
    std::vector<std::uint64_t> items_;
    std::vector<std::int32_t> to_;
    std::vector<std::int64_t> out_count_, in_count_;
    Buffer<std::byte> out_, in_;
};

/// Brings values to the ranks that store their elements, and to those that hold copies.
/// @param element_bytes  a number, see with_element_bytes()
/// @param locate  locate(i) is the location of pair i and may throw
/// @param value   value(i, location, to) writes the value as its representative has it, and may throw
/// @param soon    soon(offset) is called some packets before, to ask memory for what take() will want
/// @param take    take(offset, value) is called on the storing rank: by batch, in it by sending rank, of one rank in the order of its pairs
/// Collective. @throws what a rank's function throws, on every rank; the others' packets are taken nevertheless
template <class Bytes, class Locate, class Value, class Soon, class Take>
void deliver_pairs(const WorldState& world, const Layout& layout, const PairBatches& batches, Bytes element_bytes, Locate&& locate,
                   Value&& value, Soon&& soon, Take&& take) {
    FirstError error;
    const auto copies = copy_offsets(layout);
    if (world.size() == 1) {
        // Where elements are is found for some pairs before the first one is taken: memory is then asked for many at once.
        std::array<std::int64_t, pair_block> offsets;
        std::vector<std::uint64_t> values(pair_block * static_cast<std::size_t>((element_bytes + 7) / 8));
        const auto value_at = [&](std::size_t k) { return element_at(values.data(), k, (element_bytes + 7) / 8 * 8); };
        for (auto i = batches.begin(0), end = batches.begin(batches.number()); i < end;) {
            std::size_t count = 0;
            for (; i < end && count < pair_block; ++i) {
                const ElementLocation at = locate(i);
                value(i, at, value_at(count));
                if (!at.zero) offsets[count++] = at.offset;
            }
            for (std::size_t k = 0; k < count; ++k) take(offsets[k], static_cast<const std::byte*>(value_at(k)));
        }
        return;
    }
    BatchExchange packets(world, Packet::bytes(element_bytes));
    std::vector<std::uint64_t> room((element_bytes + 7) / 8);
    for (std::int64_t b = 0; b < batches.number(); ++b) {
        packets.clear();
        if (!error.any()) {
            error.run([&] {
                for (auto i = batches.begin(b), end = batches.end(b); i < end; ++i) {
                    const ElementLocation at = locate(i);
                    value(i, at, reinterpret_cast<std::byte*>(room.data()));
                    for (std::size_t c = 0; c < copies.size() && !at.zero; ++c) {
                        auto* const packet = reinterpret_cast<Packet*>(packets.add(at.rank + copies[c]));
                        packet->offset = at.offset;
                        copy_element(packet->value(), room.data(), element_bytes);
                    }
                }
            });
            if (error.any()) packets.clear();
        }
        packets.exchange([](std::size_t, std::int64_t) {});
        if (!error.any())
            error.run([&] {
                const auto packet = [](const std::byte* item) { return reinterpret_cast<const Packet*>(item); };
                packets.for_each_item([&](const std::byte* item) { soon(packet(item)->offset); },
                                      [&](const std::byte* item) { take(packet(item)->offset, packet(item)->value()); });
            });
    }
    world.agree([&] { error.rethrow(); });
}

}  // namespace arges
