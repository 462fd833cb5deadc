#include "sparse/device_loop.hpp"

#include "sparse/nonzero_sums.hpp"

#include <algorithm>
#include <numeric>

namespace arges::sparse {

namespace {

constexpr std::int64_t number = sizeof(std::int64_t);

std::int64_t bytes_each(const local::NonzeroNumbers& numbers) {
    return numbers.narrow != nullptr ? sizeof(std::uint32_t) : numbers.wide != nullptr ? number : 0;
}

}  // namespace

bool DeviceLoop::is_possible(const local::SparseLoop& loop) {
    return loop.acting == local::Acting::none && std::ssize(loop.offsets) <= most_loop_factors && std::ssize(loop.axes) <= most_loop_axes;
}

DeviceLoop::DeviceLoop(const local::SparseLoop& loop, std::int64_t most_kept)
    : runs_(loop.runs), nonzeros_(loop.runs == 0 ? 0 : loop.start[loop.runs]), most_kept_(most_kept) {
    for (std::int64_t run = 0; run < runs_; ++run) {
        const auto count = loop.start[run + 1] - loop.start[run], length = piece_length(count);
        if (count <= length) continue;
        cut_.push_back(run);
        parts_.push_back(parts_.back() + (count + length - 1) / length);
    }
    for (const auto& axis : loop.axes)
        if (axis.result != 0) width_ *= axis.size;
    const bool is_moved = !cut_.empty();
    const auto targets = loop.target != nullptr || is_moved ? runs_ : 0;
    auto each = bytes_each(loop.places);
    if (is_moved && each == 0) each = is_narrow() ? sizeof(std::uint32_t) : number;
    for (const auto& offsets : loop.offsets) each += bytes_each(offsets);
    list_bytes_ = number * (runs_ + 1 + targets + (is_moved ? 2 * parts_.back() + 1 + std::ssize(parts_) : 0)) + nonzeros_ * each;
}

std::int64_t DeviceLoop::copying_bytes() const { return cut_.empty() ? 0 : nonzeros_ * number + number * (2 * runs_ + 2 * parts_.back()); }

std::int64_t DeviceLoop::batch_end(std::int64_t first) const {
    const auto most = parts_[first] + most_kept_ / std::max<std::int64_t>(1, width_);
    const std::int64_t end = std::upper_bound(parts_.begin(), parts_.end(), most) - parts_.begin() - 1;
    return std::max(first + 1, end);
}

std::int64_t DeviceLoop::kept_elements() const {
    std::int64_t most = 0;
    for (std::int64_t first = 0; first < std::ssize(cut_);) {
        const auto end = batch_end(first);
        most = std::max(most, parts_[end] - parts_[first]);
        first = end;
    }
    return most * width_;
}

/// One entry for each nonzero, or each run: those of short runs, then of those that are cut.
template <class X>
std::vector<X> DeviceLoop::in_order(const local::SparseLoop& loop, const X* list) const {
    std::vector<X> result;
    result.reserve(nonzeros_);
    auto next = cut_.begin();
    for (std::int64_t run = 0; run < runs_; ++run) {
        if (next != cut_.end() && *next == run)
            ++next;
        else
            result.insert(result.end(), list + loop.start[run], list + loop.start[run + 1]);
    }
    for (auto run : cut_) result.insert(result.end(), list + loop.start[run], list + loop.start[run + 1]);
    return result;
}

DeviceLoop::Numbers DeviceLoop::numbers_there(const local::SparseLoop& loop, const local::NonzeroNumbers& numbers,
                                              const MemorySpace* space) const {
    const auto put = [&]<class X>(Buffer<X>& there, const X* list) {
        if (list == nullptr) return;
        there = cut_.empty() ? Buffer<X>::copy_of({list, list + nonzeros_}, space) : Buffer<X>::copy_of(in_order(loop, list), space);
    };
    Numbers result;
    put(result.narrow, numbers.narrow);
    put(result.wide, numbers.wide);
    return result;
}

/// The places of nonzeros that lie in order but are to come in another one.
template <class X>
void DeviceLoop::put_places(const local::SparseLoop& loop, Buffer<X>& there, const MemorySpace* space) const {
    std::vector<X> all(nonzeros_);
    std::iota(all.begin(), all.end(), X{0});
    there = Buffer<X>::copy_of(in_order(loop, all.data()), space);
}

void DeviceLoop::copy_lists(const local::SparseLoop& loop, const MemorySpace* space) {
    if (has_lists()) return;
    Lists lists;
    lists.places = numbers_there(loop, loop.places, space);
    for (const auto& offsets : loop.offsets) lists.offsets.push_back(numbers_there(loop, offsets, space));
    if (cut_.empty()) {
        if (loop.target != nullptr) lists.target = Buffer<std::int64_t>::copy_of({loop.target, loop.target + runs_}, space);
        lists.start = Buffer<std::int64_t>::copy_of({loop.start, loop.start + runs_ + 1}, space);
        there_ = std::move(lists);
        return;
    }
    if (bytes_each(loop.places) == 0)
        is_narrow() ? put_places(loop, lists.places.narrow, space) : put_places(loop, lists.places.wide, space);
    std::vector<std::int64_t> start{0}, target, pieces, place_of;
    const auto add = [&](std::int64_t run) {
        start.push_back(start.back() + loop.start[run + 1] - loop.start[run]);
        target.push_back(loop.target != nullptr ? loop.target[run] : run * loop.result_step);
    };
    for (std::int64_t run = 0, next = 0; run < runs_; ++run)
        if (next < std::ssize(cut_) && cut_[next] == run)
            ++next;
        else
            add(run);
    for (auto run : cut_) add(run);
    for (std::int64_t c = 0; c < std::ssize(cut_); ++c) {
        const auto begin = start[short_runs() + c], end = start[short_runs() + c + 1], length = piece_length(end - begin);
        for (auto at = begin; at < end; at += length) pieces.push_back(at);
    }
    pieces.push_back(nonzeros_);
    for (std::int64_t first = 0; first < std::ssize(cut_);) {
        const auto end = batch_end(first);
        for (auto p = parts_[first]; p < parts_[end]; ++p) place_of.push_back((p - parts_[first]) * width_);
        first = end;
    }
    lists.target = Buffer<std::int64_t>::copy_of(target, space);
    lists.pieces = Buffer<std::int64_t>::copy_of(pieces, space);
    lists.parts = Buffer<std::int64_t>::copy_of(parts_, space);
    lists.place_of = Buffer<std::int64_t>::copy_of(place_of, space);
    lists.start = Buffer<std::int64_t>::copy_of(start, space);
    there_ = std::move(lists);
}

void DeviceLoop::multiply(const ElementKernels& kernels, local::SparseLoop loop, void* kept) const {
    loop.runs = short_runs();
    loop.start = there_.start.data();
    loop.target = there_.target.data();
    loop.places = there_.places.numbers();
    for (std::size_t f = 0; f < loop.offsets.size(); ++f) loop.offsets[f] = there_.offsets[f].numbers();
    kernels.multiply_nonzeros(loop);
    for (std::int64_t first = 0; first < std::ssize(cut_);) {
        const auto end = batch_end(first), pieces = parts_[end] - parts_[first];
        auto sums = loop;  // of each piece
        sums.runs = pieces;
        sums.start = there_.pieces.data() + parts_[first];
        sums.target = nullptr;
        sums.result_step = width_;
        sums.alpha = nullptr;
        sums.result = kept;
        std::int64_t step = 1;
        for (auto axis = sums.axes.rbegin(); axis != sums.axes.rend(); ++axis) {
            if (axis->result == 0) continue;
            axis->result = step;
            step *= axis->size;
        }
        kernels.fill(kept, pieces * width_, kernels.zero);
        kernels.multiply_nonzeros(sums);
        local::SparseLoop joined;  // the pieces of a run are its nonzeros, which are ones, and their sums a factor
        joined.runs = end - first;
        joined.start = there_.parts.data() + first;
        joined.target = there_.target.data() + short_runs() + first;
        joined.factors = {kept};
        joined.offsets = {{.wide = there_.place_of.data()}};
        for (std::size_t a = 0; a < loop.axes.size(); ++a)
            if (loop.axes[a].result != 0) joined.axes.push_back({loop.axes[a].size, loop.axes[a].result, {sums.axes[a].result}});
        joined.alpha = loop.alpha;
        joined.result = loop.result;
        kernels.multiply_nonzeros(joined);
        first = end;
    }
}

}  // namespace arges::sparse
