#include "redistribute/numbering.hpp"

#include "base/math.hpp"
#include "layout/layout.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>
#include <numeric>

namespace arges {

namespace {

/// Between entries of a list, `step` apart, and a buffer.
template <class Element>
void copy_entries(std::byte* list, std::int64_t step, std::byte* buffer, std::int64_t count, bool to_buffer) {
    auto* const one = reinterpret_cast<Element*>(list);
    auto* const other = reinterpret_cast<Element*>(buffer);
    if (to_buffer)
        for (std::int64_t i = 0; i < count; ++i) other[i] = one[i * step];
    else
        for (std::int64_t i = 0; i < count; ++i) one[i * step] = other[i];
}

void copy_entries(std::byte* list, std::int64_t step, std::byte* buffer, std::int64_t count, std::int64_t bytes, bool to_buffer) {
    if (step == 1) {
        std::memcpy(to_buffer ? buffer : list, to_buffer ? list : buffer, count * bytes);
        return;
    }
    switch (bytes) {
    case 1: return copy_entries<std::array<std::byte, 1>>(list, step, buffer, count, to_buffer);
    case 2: return copy_entries<std::array<std::byte, 2>>(list, step, buffer, count, to_buffer);
    case 4: return copy_entries<std::array<std::byte, 4>>(list, step, buffer, count, to_buffer);
    case 8: return copy_entries<std::array<std::byte, 8>>(list, step, buffer, count, to_buffer);
    case 16: return copy_entries<std::array<std::byte, 16>>(list, step, buffer, count, to_buffer);
    default:
        for (std::int64_t i = 0; i < count; ++i) {
            std::byte* const one = list + i * step * bytes;
            std::byte* const other = buffer + i * bytes;
            std::memcpy(to_buffer ? other : one, to_buffer ? one : other, bytes);
        }
    }
}

}  // namespace

ElementNumbers::ElementNumbers(const Layout& layout, std::span<const int> order) : layout_(layout) {
    assert(is_plain(layout));
    size_ = layout.full_size();
    std::int64_t stride = 1;
    for (const int d : order) {
        const auto length = layout.extents()[d];
        const auto phase = layout.slot(d).grid_length();
        if (length == 1 && phase == 1) continue;
        // A dimension that is whole on each rank makes the faster one longer, where that comes out even.
        if (!dimensions_.empty() && phase == 1 && dimensions_.back().length % std::ssize(dimensions_.back().ranks) == 0) {
            dimensions_.back().length *= length;
        } else {
            dimensions_.push_back({length, stride, d, {}});
            for (std::int64_t c = 0; c < phase; ++c) dimensions_.back().ranks.push_back(layout.rank_at(c, d));
        }
        stride *= length;
    }
    if (dimensions_.empty()) dimensions_.push_back({1, 1, -1, {0}});
    for (std::int64_t r = 1; r < layout.grid().ranks(); ++r)
        if (giver(r) == 0) copies_.push_back(r);
}

ElementNumbers::ElementNumbers(std::vector<std::int64_t> bounds) : bounds_(std::move(bounds)), size_(bounds_.back()) {}

std::int64_t ElementNumbers::giver(std::int64_t rank) const {
    return is_shares() || layout_.grid().is_idle(rank) ? rank : rank - layout_.copy_offset(rank);
}

ElementNumbers::Turn ElementNumbers::turn(std::int64_t number) const {
    static const std::vector<std::int64_t> only{0};
    if (is_shares()) {
        const auto behind = std::upper_bound(bounds_.begin(), bounds_.end(), number);
        return {*behind, behind - bounds_.begin() - 1, 0, &only};
    }
    const auto& fastest = dimensions_[0];
    auto slower = number / fastest.length;
    const auto first = number - slower * fastest.length;
    Turn result{number + fastest.length - first, 0, first, &fastest.ranks};
    for (std::size_t d = 1; d < dimensions_.size(); ++d) {
        const auto& dimension = dimensions_[d];
        const auto index = slower % dimension.length;
        slower /= dimension.length;
        if (dimension.ranks.size() > 1) result.base += dimension.ranks[index % std::ssize(dimension.ranks)];
    }
    return result;
}

ElementNumbers::Own::Own(const ElementNumbers& numbering, std::int64_t rank) {
    if (numbering.is_shares()) {
        const auto& bounds = numbering.bounds_;
        is_share_ = true;
        first_ = bounds[rank];
        size_ = bounds[rank + 1] - first_;
        run_ = std::max<std::int64_t>(1, size_);
        return;
    }
    if (numbering.layout_.grid().is_idle(rank) || numbering.size_ == 0) return;
    size_ = 1;
    for (const auto& dimension : numbering.dimensions_) {
        const auto period = std::ssize(dimension.ranks);
        const auto coordinate = period > 1 ? numbering.layout_.coordinate(rank, dimension.slot) : 0;
        const auto count = coordinate < dimension.length ? ceil_div(dimension.length - coordinate, period) : 0;
        digits_.push_back({dimension.length, period, coordinate, dimension.stride, count, size_});
        size_ *= count;
    }
    run_ = std::max<std::int64_t>(1, digits_[0].count);
    step_ = digits_[0].period;
}

std::int64_t ElementNumbers::Own::below(std::int64_t number) const {
    if (is_share_) return std::clamp<std::int64_t>(number - first_, 0, size_);
    std::int64_t result = 0;
    for (auto digit = digits_.rbegin(); digit != digits_.rend(); ++digit) {
        const auto index = digit == digits_.rbegin() ? number / digit->stride : number / digit->stride % digit->length;
        if (index >= digit->length) return size_;
        result += index <= digit->coordinate ? 0 : ceil_div(index - digit->coordinate, digit->period) * digit->volume;
        if (index % digit->period != digit->coordinate) break;
    }
    return std::min(result, size_);
}

std::int64_t ElementNumbers::Own::start_of(std::int64_t run) const {
    if (is_share_) return first_;
    std::int64_t number = digits_[0].coordinate;
    for (std::size_t d = 1; d < digits_.size(); ++d) {
        const auto& digit = digits_[d];
        number += (digit.coordinate + run % digit.count * digit.period) * digit.stride;
        run /= digit.count;
    }
    return number;
}

std::vector<std::int64_t> ElementNumbers::parts() const {
    if (is_shares()) return bounds_;
    // Many, and a prime number, so that at the same place of each they belong to different ranks, whichever dimension is spread.
    constexpr std::int64_t parts = 31;
    std::vector<std::int64_t> result;
    for (std::int64_t p = 0; p <= parts; ++p) result.push_back(size_ / parts * p + size_ % parts * p / parts);
    return result;
}

NumberedMovement::NumberedMovement(const ElementNumbers& from, const ElementNumbers& to, std::int64_t ranks, std::int64_t rank,
                                   std::int64_t bytes, std::int64_t on_rank)
    : from_(from), to_(to), ranks_(ranks), rank_(rank), bytes_(bytes),
      parts_(from.is_shares() ? from.parts() : to.parts()), given_{from.own(rank), {}, {}, {}, {}}, taken_{to.own(rank), {}, {}, {}, {}} {
    assert(from.size() == to.size());
    if (ranks == 1) return;
    constexpr std::int64_t bytes_on_rank = std::int64_t{1} << 20, most_on_rank = std::int64_t{1} << 17;
    if (on_rank == 0) on_rank = std::clamp<std::int64_t>(bytes_on_rank / bytes, 1, most_on_rank);
    chunk_ = ceil_div(on_rank * ranks, std::ssize(parts_) - 1);
    for (std::size_t p = 0; p + 1 < parts_.size(); ++p) windows_ = std::max(windows_, ceil_div(parts_[p + 1] - parts_[p], chunk_));
    for (std::int64_t step = 0; step < windows_; ++step)
        for (auto* const side : {&given_, &taken_}) {
            std::int64_t count = 0;
            for (const auto& [begin, end] : window(step)) count += side->own.below(end) - side->own.below(begin);
            side->most = std::max(side->most, count);
        }
}

std::int64_t NumberedMovement::memory() const { return (given_.most + taken_.most) * (bytes_ + std::int64_t{sizeof(Entries)}); }

void NumberedMovement::reserve() {
    for (auto* const side : {&given_, &taken_}) {
        side->entries.reserve(side->most);
        side->buffer.resize(side->most * bytes_);
        side->counts.assign(ranks_, 0);
        side->begins.assign(ranks_, 0);
    }
}

NumberedMovement::Window NumberedMovement::window(std::int64_t step) const {
    Window result;
    for (std::size_t p = 0; p + 1 < parts_.size(); ++p) {
        const auto first = parts_[p] + step * chunk_;
        if (first < parts_[p + 1]) result.emplace_back(first, std::min(parts_[p + 1], first + chunk_));
    }
    return result;
}

void NumberedMovement::find(const Window& window, const ElementNumbers& other, Side& side) const {
    side.entries.clear();
    std::fill(side.counts.begin(), side.counts.end(), 0);
    const auto step = side.own.step();
    for (const auto& [begin, end] : window)
        side.own.for_each_run(begin, end, [&](std::int64_t place, std::int64_t number, std::int64_t left) {
            while (left > 0) {
                const auto turn = other.turn(number);
                const auto period = std::ssize(*turn.ranks);
                const auto here = std::min(left, ceil_div(turn.end - number, step));
                const auto classes = period == 1 ? 1 : period / std::gcd(step, period);
                for (std::int64_t t = 0; t < std::min(classes, here); ++t) {
                    const auto rank = turn.base + (*turn.ranks)[(turn.first + t * step) % period];
                    const auto count = ceil_div(here - t, classes);
                    side.entries.push_back({rank, place + t, classes, count});
                    side.counts[rank] += count;
                }
                place += here;
                number += here * step;
                left -= here;
            }
        });
    std::exclusive_scan(side.counts.begin(), side.counts.end(), side.begins.begin(), std::int64_t{0});
}

void NumberedMovement::copy(Side& side, std::byte* list, bool to_buffer) const {
    auto at = side.begins;
    for (const auto& entries : side.entries) {
        auto& place = at[entries.rank];
        copy_entries(list + entries.first * bytes_, entries.step, side.buffer.data() + place * bytes_, entries.count, bytes_, to_buffer);
        place += entries.count;
    }
}

void NumberedMovement::run(const Communicator* comm, const std::byte* source, std::byte* target) {
    if (comm == nullptr) {
        std::memcpy(target, source, from_.size() * bytes_);
        return;
    }
    const std::size_t ranks = comm->size(), own = rank_;
    for (std::int64_t step = 0; step < windows_; ++step) {
        const auto window = this->window(step);
        std::vector<Piece> sends, receives;
        if (from_.giver(rank_) == rank_) {
            find(window, to_, given_);
            copy(given_, const_cast<std::byte*>(source), true);
            for (std::size_t r = 0; r < ranks; ++r)
                for (const auto behind : to_.copies()) {
                    const auto rank = static_cast<std::int64_t>(r) + behind;
                    if (given_.counts[r] > 0 && rank != rank_)
                        sends.push_back({rank, given_.buffer.data() + given_.begins[r] * bytes_, given_.counts[r] * bytes_});
                }
        }
        find(window, from_, taken_);
        for (std::size_t r = 0; r < ranks; ++r)
            if (taken_.counts[r] > 0 && r != own)
                receives.push_back(
                    {static_cast<std::int64_t>(r), taken_.buffer.data() + taken_.begins[r] * bytes_, taken_.counts[r] * bytes_});
        auto pending = comm->start(sends, receives);
        if (taken_.counts[own] > 0)
            std::memcpy(taken_.buffer.data() + taken_.begins[own] * bytes_, given_.buffer.data() + given_.begins[to_.giver(rank_)] * bytes_,
                        static_cast<std::size_t>(taken_.counts[own] * bytes_));
        comm->finish(pending);
        copy(taken_, target, false);
    }
}

}  // namespace arges
