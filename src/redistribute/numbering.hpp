/// Elements that are counted in an order of their own, and their way from the ranks that have them under one order to those that have them
/// under another.
#pragma once

#include "comm/communicator.hpp"
#include "layout/layout.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace arges {

/// Which rank has which number: cyclic over dimensions, or in shares of one behind the other. A rank's elements are a list by ascending
/// number. Pure.
class ElementNumbers {
public:
    /// The elements of a tensor with a plain layout (is_plain()), without parts of sums.
    /// @param order  all its dimensions, the fastest first
    ElementNumbers(const Layout& layout, std::span<const int> order);
    /// Rank r has the numbers from bounds[r] to bounds[r + 1]; bounds ascend from 0.
    explicit ElementNumbers(std::vector<std::int64_t> bounds);

    std::int64_t size() const { return size_; }
    bool is_shares() const { return !bounds_.empty(); }
    /// The rank that gives the elements which another one has, too: the first of those with copies.
    std::int64_t giver(std::int64_t rank) const;
    /// How far the ranks with copies of a giver's elements are behind it.
    const std::vector<std::int64_t>& copies() const { return copies_; }

    /// Numbers up to `end` that ranks have in turn: that of number n + t is base + ranks[(first + t) % ranks.size()].
    struct Turn {
        std::int64_t end, base, first;
        const std::vector<std::int64_t>* ranks;
    };
    Turn turn(std::int64_t number) const;

    /// The numbers of one rank.
    class Own {
    public:
        Own(const ElementNumbers& numbering, std::int64_t rank);
        /// How many of them are below a number.
        std::int64_t below(std::int64_t number) const;
        /// Between neighbours in a run.
        std::int64_t step() const { return step_; }
        /// Calls f(place, number, count) for runs of those from `begin` to before `end`: the place of the first in the list.
        template <class F>
        void for_each_run(std::int64_t begin, std::int64_t end, F&& f) const {
            const auto last = below(end);
            for (auto place = below(begin); place < last;) {
                const auto in_run = place % run_;
                const auto count = std::min(run_ - in_run, last - place);
                f(place, start_of(place / run_) + in_run * step_, count);
                place += count;
            }
        }

    private:
        struct Digit {
            std::int64_t length, period, coordinate, stride;  // of the number
            std::int64_t count, volume;                       // of own indices, and of own elements of faster dimensions
        };
        std::int64_t start_of(std::int64_t run) const;

        std::vector<Digit> digits_;  // the fastest first
        std::int64_t first_ = 0, run_ = 1, step_ = 1, size_ = 0;
        bool is_share_ = false;
    };
    Own own(std::int64_t rank) const { return {*this, rank}; }
    /// The shares, or as good as equal parts of the elements of a tensor, by their ends.
    std::vector<std::int64_t> parts() const;

private:
    struct Dimension {
        std::int64_t length, stride;
        int slot;
        std::vector<std::int64_t> ranks;  // by coordinate: what it adds to the rank
    };
    std::vector<Dimension> dimensions_;  // the fastest first
    std::vector<std::int64_t> bounds_;   // of shares
    std::vector<std::int64_t> copies_{0};
    std::int64_t size_ = 0;
    Layout layout_;  // of a tensor
};

/// Each element to the ranks that have its number under another numbering, which has as many. It goes window by window: a few numbers of
/// each part. Both sides of a message derive what it holds, so no numbers are sent.
class NumberedMovement {
public:
    /// Local. @param bytes    of an element
    /// @param on_rank  elements of a window that are a rank's, about; 0: a megabyte of them
    NumberedMovement(const ElementNumbers& from, const ElementNumbers& to, std::int64_t ranks, std::int64_t rank, std::int64_t bytes,
                     std::int64_t on_rank = 0);
    /// What this rank takes while it moves: a few megabytes where the parts of a window are spread over the ranks.
    std::int64_t memory() const;
    /// Takes the memory. Local. @throws OutOfMemory or std::bad_alloc
    void reserve();
    /// From the rank's list to its other one. Collective. @param comm  null: one rank, which has all
    void run(const Communicator* comm, const std::byte* source, std::byte* target);

private:
    using Window = std::vector<std::pair<std::int64_t, std::int64_t>>;
    /// Elements of the list of a rank, places first, first + step, ..., that another rank has.
    struct Entries {
        std::int64_t rank, first, step, count;
    };
    /// One side: the list of this rank, and what other ranks have of it in a window.
    struct Side {
        ElementNumbers::Own own;
        std::vector<Entries> entries;              // by ascending number
        std::vector<std::int64_t> counts, begins;  // by rank: in the buffer
        std::vector<std::byte> buffer;
        std::int64_t most = 0;  // elements in a window
    };
    Window window(std::int64_t step) const;
    void find(const Window& window, const ElementNumbers& other, Side& side) const;
    void copy(Side& side, std::byte* list, bool to_buffer) const;

    const ElementNumbers& from_;
    const ElementNumbers& to_;
    std::int64_t ranks_, rank_, bytes_;
    std::vector<std::int64_t> parts_;
    std::int64_t chunk_ = 1, windows_ = 0;
    Side given_, taken_;
};

}  // namespace arges
