/// Key-value pairs on their way between the ranks that have them and those that store their elements: in batches, so that what they take beside
/// the caller's arrays is bounded.
#pragma once

#include "base/buffer.hpp"
#include "base/first_error.hpp"
#include "base/math.hpp"
#include "interface/tensor_state.hpp"
#include "layout/element_locator.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <vector>

namespace arges {

/// A value for an element of the rank that gets it.
template <class T>
struct Packet {
    std::int64_t offset;
    T value;
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
    PairBatches(WorldState& world, std::int64_t count, std::int64_t bytes_per_pair, std::int64_t most_bytes, std::int64_t bytes_per_item, F&& check)
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
    static std::int64_t length(std::int64_t ranks) { return std::max<std::int64_t>(std::int64_t(1) << 13, (std::int64_t(1) << 19) / ranks); }
    static void require(WorldState& world, std::int64_t bytes, std::int64_t least_free) {
        world.note_working(bytes);
        if (bytes > least_free)
            throw OutOfMemory("key-value pairs: " + std::to_string(bytes) + " bytes per rank to deliver them are over the memory limit, which leaves " +
                              std::to_string(least_free) + "; give fewer pairs in one call, or raise the limit");
    }

    std::int64_t count_, length_, most_ = 0;
};

/// Pairs that one rank finds before it goes to their elements.
constexpr std::size_t block_length = 512;

/// Throws unless all keys are in the tensor.
template <class T>
void check_keys(const Tensor<T>& tensor, std::span<const std::int64_t> keys) {
    const auto size = tensor.size();
    const auto wrong = std::find_if(keys.begin(), keys.end(), [size](auto key) { return key < 0 || key >= size; });
    if (wrong != keys.end()) tensor.index(*wrong);
}

/// Items of one batch, sorted by the rank that they go to; and those that come.
template <class Item>
class BatchExchange {
public:
    explicit BatchExchange(const WorldState& world) : world_(world), out_count_(ranks()), in_count_(ranks()) {}

    /// Forgets the last batch.
    void clear() {
        items_.clear();
        to_.clear();
        std::fill(out_count_.begin(), out_count_.end(), 0);
    }
    void add(std::int64_t rank, const Item& item) {
        items_.push_back(item);
        to_.push_back(static_cast<std::int32_t>(rank));
        ++out_count_[static_cast<std::size_t>(rank)];
    }
    /// Sorts what was added by rank, each rank's in the order in which it was added, and delivers it. Calls place(i, j) for the item that was
    /// i-th and is j-th now. Collective. @throws OutOfMemory on every rank
    template <class F>
    void exchange(F&& place) {
        in_count_ = world_.communicator().all_to_all_counts(out_count_);
        world_.agree([&] {
            in_.reserve(total(in_count_));
            out_.reserve(total(out_count_));
        });
        auto next = starts(out_count_);
        for (std::size_t i = 0; i < items_.size(); ++i) {
            const auto j = next[static_cast<std::size_t>(to_[i])]++;
            out_[j] = items_[i];
            place(i, j);
        }
        world_.communicator().exchange(pieces(out_, out_count_), pieces(in_, in_count_));
    }
    /// Sends an answer for each item that came; `answers` gets those for the items that were sent, in sorted order. Collective.
    template <class Answer, class F>
    void answer(Buffer<Answer>& answers, Buffer<Answer>& given, F&& f) {
        world_.agree([&] {
            given.reserve(total(in_count_));
            answers.reserve(total(out_count_));
        });
        std::int64_t i = 0;
        for_each_sender([&](std::span<const Item> items) {
            for (const auto& item : items) given[i++] = f(item);
        });
        const auto own = starts(in_count_)[me()];
        std::copy(given.data() + own, given.data() + own + in_count_[me()], answers.data() + starts(out_count_)[me()]);
        world_.communicator().exchange(pieces(given, in_count_), pieces(answers, out_count_));
    }
    /// Calls f(items) for what each rank sent, by rank.
    template <class F>
    void for_each_sender(F&& f) {
        const auto in = starts(in_count_), out = starts(out_count_);
        for (std::size_t r = 0; r < ranks(); ++r) {
            const Item* const first = r == me() ? out_.data() + out[r] : in_.data() + in[r];
            f(std::span<const Item>(first, static_cast<std::size_t>(in_count_[r])));
        }
    }

private:
    std::size_t ranks() const { return static_cast<std::size_t>(world_.size()); }
    std::size_t me() const { return static_cast<std::size_t>(world_.rank()); }
    static std::vector<std::int64_t> starts(const std::vector<std::int64_t>& counts) {
        std::vector<std::int64_t> result{0};
        for (const auto n : counts) result.push_back(result.back() + n);
        return result;
    }
    static std::int64_t total(const std::vector<std::int64_t>& counts) { return starts(counts).back(); }
    /// The parts of an array for or from other ranks.
    template <class V>
    std::vector<Piece> pieces(Buffer<V>& values, const std::vector<std::int64_t>& counts) const {
        std::vector<Piece> result;
        const auto start = starts(counts);
        for (std::size_t r = 0; r < ranks(); ++r)
            if (r != me() && counts[r] > 0)
                result.push_back({static_cast<std::int64_t>(r), reinterpret_cast<std::byte*>(values.data() + start[r]),
                                  counts[r] * static_cast<std::int64_t>(sizeof(V))});
        return result;
    }

    const WorldState& world_;
    std::vector<Item> items_;
    std::vector<std::int32_t> to_;
    std::vector<std::int64_t> out_count_, in_count_;
    Buffer<Item> out_, in_;
};

/// Brings values to the ranks that store their elements, and to those that hold copies.
/// @param locate  locate(i) is the location of pair i and may throw, @param value value(i, location) the value as its representative has it
/// @param take    take(packet) is called on the storing rank: by batch, in it by sending rank, of one rank in the order of its pairs
/// Collective. @throws what a rank's function throws, on every rank; the others' packets are taken nevertheless
template <class T, class Locate, class Value, class Take>
void deliver_pairs(const WorldState& world, const Layout& layout, const PairBatches& batches, Locate&& locate, Value&& value, Take&& take) {
    FirstError error;
    const auto copies = copy_offsets(layout);
    if (world.size() == 1) {
        // Where elements are is found for some pairs before the first one is taken: memory is then asked for many at once.
        std::array<Packet<T>, block_length> block;
        for (auto i = batches.begin(0), end = batches.begin(batches.number()); i < end;) {
            std::size_t count = 0;
            for (; i < end && count < block.size(); ++i) {
                const ElementLocation at = locate(i);
                const T v = value(i, at);
                if (!at.zero) block[count++] = {at.offset, v};
            }
            for (std::size_t k = 0; k < count; ++k) take(block[k]);
        }
        return;
    }
    BatchExchange<Packet<T>> packets(world);
    for (std::int64_t b = 0; b < batches.number(); ++b) {
        packets.clear();
        if (!error.any()) {
            error.run([&] {
                for (auto i = batches.begin(b), end = batches.end(b); i < end; ++i) {
                    const ElementLocation at = locate(i);
                    const T v = value(i, at);
                    for (std::size_t c = 0; c < copies.size() && !at.zero; ++c) packets.add(at.rank + copies[c], {at.offset, v});
                }
            });
            if (error.any()) packets.clear();
        }
        packets.exchange([](std::size_t, std::int64_t) {});
        if (!error.any())
            error.run([&] {
                packets.for_each_sender([&](std::span<const Packet<T>> arrived) {
                    for (const auto& packet : arrived) take(packet);
                });
            });
    }
    world.agree([&] { error.rethrow(); });
}

}  // namespace arges
