// A tensor to or from slabs of a file in rounds, without keys: both sides derive what a message holds (as cyclops-2012, section 4.3).
#include "io/dense/slab_exchange.hpp"

#include "base/element_at.hpp"
#include "base/math.hpp"
#include "interface/dense/run_movement.hpp"
#include "io/file/parallel_file.hpp"

#include <algorithm>
#include <cstring>

namespace arges::io {

namespace {

/// The same tensor with its groups distributed by packed index. Zeros. Collective.
std::unique_ptr<TensorState> without_blocks(const TensorState& tensor) {
    const auto& shape = tensor.shape();
    auto layout = tensor.world->intern(default_layout(shape.grid(), shape.extents(), shape.symmetry()));
    return std::make_unique<TensorState>(*tensor.kernels, tensor.world_handle, std::move(layout), tensor.name);
}

/// Copies elements between arrays in which they lie some distance apart.
void copy_run(const std::byte* from, std::int64_t from_stride, std::byte* to, std::int64_t to_stride, std::int64_t count,
              std::int64_t element_bytes) {
    if (from_stride == 1 && to_stride == 1) {
        std::memcpy(to, from, count * element_bytes);
        return;
    }
    with_element_bytes(element_bytes, [&](auto bytes) {
        for (std::int64_t i = 0; i < count; ++i) std::memcpy(to + i * to_stride * bytes, from + i * from_stride * bytes, bytes);
    });
}

/// The slabs of all ranks, round after round, and the buffers of this rank.
class Rounds {
public:
    /// Collective.
    Rounds(const TensorState& tensor, SlotOrder order, std::int64_t slab_bytes)
        : comm_(tensor.world->communicator()), order_(tensor.shape(), order), size_(tensor.kernels->size),
          limit_(std::max<std::int64_t>(1, slab_bytes / size_)), is_idle_(tensor.shape().grid().is_idle(comm_.rank())) {
        longest_ = ceil_div(order_.size(), comm_.size());
        const auto most = std::min(limit_, longest_);
        comm_.agree([&] {
            slab_ = Buffer<std::byte>(most * size_);
            between_ = Buffer<std::byte>(most * size_);
            if (order_.is_local_order()) return;
            most_staged_ = std::max(2 * most, comm_.size());
            staged_ = Buffer<std::byte>(most_staged_ * size_);
        });
    }

    /// Goes on to the next slabs; false after the last ones. Collective.
    bool next() {
        done_ += step_;
        if (done_ >= longest_) return false;
        step_ = std::min(limit_, longest_ - done_);
        // A rank may hold far more than its share of these positions, and has to stage them if they are not in local order.
        while (!order_.is_local_order() && step_ > 1 && comm_.maximum(held()) > most_staged_) step_ = ceil_div(step_, 2);
        return true;
    }
    std::int64_t begin(std::int64_t r) const { return std::min(part_begin(order_.size(), r, comm_.size()) + done_, end_of(r)); }
    std::int64_t end(std::int64_t r) const { return std::min(part_begin(order_.size(), r, comm_.size()) + done_ + step_, end_of(r)); }

    /// From ranks to slabs. Collective.
    void gather(const std::byte* local);
    /// That of this rank, filled by gather() or to be filled in.
    Slab slab() {
        const auto first = begin(comm_.rank()), count = end(comm_.rank()) - first;
        return {first, slab_.data(), count, count * size_};
    }
    /// From slabs to ranks. Collective.
    void scatter(std::byte* local);
    const Communicator& comm() const { return comm_; }

private:
    /// A range of a rank's elements, by ascending position.
    struct Range {
        std::int64_t begin = 0, end = 0;
        std::int64_t count() const { return end - begin; }
    };
    std::int64_t end_of(std::int64_t r) const { return part_begin(order_.size(), r + 1, comm_.size()); }
    /// Elements of rank q that are in the slab of rank r.
    Range shared(std::int64_t q, std::int64_t r) const { return {order_.before(q, begin(r)), order_.before(q, end(r))}; }
    /// Elements of this rank in all slabs.
    std::int64_t held() const {
        std::int64_t count = 0;
        for (std::int64_t r = 0; r < comm_.size(); ++r) count += shared(comm_.rank(), r).count();
        return count;
    }
    /// Some elements for a message.
    Piece piece(std::int64_t rank, const std::byte* first, const Range& range) const {
        return {rank, const_cast<std::byte*>(first), range.count() * size_};
    }
    /// For each rank that holds the first copy of elements of this rank's slab: where they are in `between_`. Ranges are by rank.
    std::vector<Range> parts_of_slab() const;
    /// Copies the slab from or to `between_`.
    void copy_slab(const std::vector<Range>& parts, bool is_filled);

    /// Calls f(place in `staged_`, place in the local array, stride there, count) for a range of this rank's elements, the first of which
    /// is staged at `first`. Runs that begin near each other in the array are walked together, some elements of each in turn: with the
    /// strides of a transposed array each element of a run lies on another cache line and page, which its neighbours then find still there.
    template <class F>
    void walk_local(const Range& range, std::int64_t first, F&& f) const;

    const Communicator& comm_;
    PackedOrder order_;
    std::int64_t size_;  // of an element
    std::int64_t limit_, longest_ = 0, done_ = 0, step_ = 0, most_staged_ = 0;
    bool is_idle_;
    Buffer<std::byte> slab_, between_, staged_;
};

auto Rounds::parts_of_slab() const -> std::vector<Range> {
    std::vector<Range> parts(comm_.size());
    std::int64_t at = 0;
    for (std::int64_t q = 0; q < comm_.size(); ++q) {
        const auto range = shared(q, comm_.rank());
        if (range.count() == 0 || order_.first_copy(q) != q) continue;
        parts[q] = {at, at + range.count()};
        at += range.count();
    }
    return parts;
}

void Rounds::copy_slab(const std::vector<Range>& parts, bool is_filled) {
    std::vector<std::int64_t> next(parts.size());
    std::transform(parts.begin(), parts.end(), next.begin(), [](const Range& part) { return part.begin; });
    const auto first_position = begin(comm_.rank());
    order_.for_each_run(first_position, end(comm_.rank()),
                        [&](std::int64_t rank, std::int64_t first, std::int64_t stride, std::int64_t count) {
                            auto* const in_slab = element_at(slab_.data(), first - first_position, size_);
                            auto* const between = element_at(between_.data(), next[rank], size_);
                            if (is_filled)
                                copy_run(in_slab, stride, between, 1, count, size_);
                            else
                                copy_run(between, 1, in_slab, stride, count, size_);
                            next[rank] += count;
                        });
}

template <class F>
void Rounds::walk_local(const Range& range, std::int64_t first, F&& f) const {
    constexpr std::size_t kept = 1 << 14, together = 16;
    constexpr std::int64_t elements = 8;
    struct Run {
        std::int64_t at, stride, count, staged;
    };
    std::vector<Run> runs;
    const auto walk = [&] {
        std::sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) { return a.at < b.at; });
        for (std::size_t begin = 0; begin < runs.size(); begin += together) {
            const auto group = std::span(runs).subspan(begin, std::min(together, runs.size() - begin));
            std::int64_t longest = 0;
            for (const auto& run : group) longest = std::max(longest, run.count);
            for (std::int64_t i = 0; i < longest; i += elements)
                for (const auto& run : group)
                    if (i < run.count) f(run.staged + i, run.at + i * run.stride, run.stride, std::min(elements, run.count - i));
        }
        runs.clear();
    };
    order_.for_each_local_run(comm_.rank(), range.begin, range.end, [&](std::int64_t at, std::int64_t stride, std::int64_t count) {
        if (count < elements) {
            f(first, at, stride, count);
        } else {
            runs.push_back({at, stride, count, first});
            if (runs.size() == kept) walk();
        }
        first += count;
    });
    walk();
}

void Rounds::gather(const std::byte* local) {
    const auto me = comm_.rank();
    const auto parts = parts_of_slab();
    std::vector<Piece> sends, receives;
    const bool sends_any = !is_idle_ && order_.first_copy(me) == me;
    std::int64_t used = 0;
    for (std::int64_t r = 0; r < comm_.size() && sends_any; ++r) {
        const auto range = shared(me, r);
        const auto* from = element_at(local, range.begin, size_);
        if (range.count() == 0) continue;
        if (!order_.is_local_order()) {
            from = element_at(staged_.data(), used, size_);
            walk_local(range, used, [&](std::int64_t staged, std::int64_t at, std::int64_t stride, std::int64_t count) {
                copy_run(element_at(local, at, size_), stride, element_at(staged_.data(), staged, size_), 1, count, size_);
            });
            used += range.count();
        }
        if (r == me)
            std::memcpy(element_at(between_.data(), parts[me].begin, size_), from, range.count() * size_);
        else
            sends.push_back(piece(r, from, range));
    }
    for (std::int64_t q = 0; q < comm_.size(); ++q)
        if (q != me && parts[q].count() > 0) receives.push_back(piece(q, element_at(between_.data(), parts[q].begin, size_), parts[q]));
    comm_.exchange(sends, receives);
    copy_slab(parts, false);
}

void Rounds::scatter(std::byte* local) {
    const auto me = comm_.rank();
    const auto parts = parts_of_slab();
    copy_slab(parts, true);
    std::vector<Piece> sends, receives;
    for (std::int64_t q = 0; q < comm_.size(); ++q) {
        const auto range = shared(q, me);
        if (q == me || range.count() == 0) continue;
        const auto& part = parts[order_.first_copy(q)];
        sends.push_back(piece(q, element_at(between_.data(), part.begin, size_), part));
    }
    std::int64_t used = 0;
    for (std::int64_t r = 0; r < comm_.size(); ++r) {
        const auto range = shared(me, r);
        if (range.count() == 0) continue;
        auto* const to = order_.is_local_order() ? element_at(local, range.begin, size_) : element_at(staged_.data(), used, size_);
        used += range.count();
        if (r == me)
            std::memcpy(to, element_at(between_.data(), parts[order_.first_copy(me)].begin, size_), range.count() * size_);
        else
            receives.push_back(piece(r, to, range));
    }
    comm_.exchange(sends, receives);
    if (order_.is_local_order()) return;
    used = 0;
    for (std::int64_t r = 0; r < comm_.size(); ++r) {
        const auto range = shared(me, r);
        walk_local(range, used, [&](std::int64_t staged, std::int64_t at, std::int64_t stride, std::int64_t count) {
            copy_run(element_at(staged_.data(), staged, size_), 1, element_at(local, at, size_), stride, count, size_);
        });
        used += range.count();
    }
}

}  // namespace

void SlabExchange::store(const TensorState& tensor, const std::function<void(const Slab&)>& take) const {
    if (tensor.shape().has_padding()) {
        const auto packed = without_blocks(tensor);
        move_elements(*tensor.world, *packed->kernels, tensor.shape(), {tensor.bytes.data(), tensor.kernels}, packed->shape(),
                      packed->bytes.data());
        store(*packed, take);
        return;
    }
    Rounds rounds(tensor, order_, slab_bytes_);
    const HostElements here(tensor);
    while (rounds.next()) {
        rounds.gather(here.data());
        rounds.comm().agree([&] { take(rounds.slab()); });
    }
}

void SlabExchange::load(TensorState& tensor, const std::function<void(const Slab&)>& give) const {
    if (tensor.shape().has_padding()) {
        const auto packed = without_blocks(tensor);
        load(*packed, give);
        move_elements(*tensor.world, *tensor.kernels, packed->shape(), {packed->bytes.data(), packed->kernels}, tensor.shape(),
                      tensor.bytes.data());
        return;
    }
    {
        Rounds rounds(tensor, order_, slab_bytes_);
        ChangedHostElements changed(tensor);
        while (rounds.next()) {
            rounds.comm().agree([&] { give(rounds.slab()); });
            rounds.scatter(changed.data());
        }
    }
    tensor.keep_real();
}

}  // namespace arges::io
