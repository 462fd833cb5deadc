// A tensor to or from slabs of a file in rounds, without keys: both sides derive what a message holds (as cyclops-2012, section 4.3).
#include "io/dense/slab_exchange.hpp"

#include "base/instantiate.hpp"
#include "base/math.hpp"
#include "interface/run_movement.hpp"
#include "io/file/parallel_file.hpp"

#include <algorithm>

namespace arges::io {

namespace {

/// The same tensor with its groups distributed by packed index. Zeros. Collective.
std::unique_ptr<TensorState> without_blocks(const TensorState& tensor) {
    const auto& shape = tensor.shape();
    auto layout = tensor.world->intern(default_layout(shape.grid(), shape.extents(), shape.symmetry()));
    return std::make_unique<TensorState>(*tensor.kernels, tensor.world_handle, std::move(layout), tensor.name);
}

/// The slabs of all ranks, round after round, and the buffers of this rank.
template <class T>
class Rounds {
public:
    /// Collective.
    Rounds(const TensorState& tensor, SlotOrder order, std::int64_t slab_bytes)
        : comm_(tensor.world->communicator()), order_(tensor.shape(), order),
          limit_(std::max<std::int64_t>(1, slab_bytes / std::int64_t{sizeof(T)})), is_idle_(tensor.shape().grid().is_idle(comm_.rank())) {
        longest_ = ceil_div(order_.size(), comm_.size());
        const auto most = std::min(limit_, longest_);
        comm_.agree([&] {
            slab_ = Buffer<T>(most);
            between_ = Buffer<T>(most);
            if (!order_.is_local_order()) staged_ = Buffer<T>(std::max(2 * most, comm_.size()));
        });
    }

    /// Goes on to the next slabs; false after the last ones. Collective.
    bool next() {
        done_ += step_;
        if (done_ >= longest_) return false;
        step_ = std::min(limit_, longest_ - done_);
        // A rank may hold far more than its share of these positions, and has to stage them if they are not in local order.
        while (!order_.is_local_order() && step_ > 1 && comm_.maximum(held()) > staged_.size()) step_ = ceil_div(step_, 2);
        return true;
    }
    std::int64_t begin(std::int64_t r) const { return std::min(part_begin(order_.size(), r, comm_.size()) + done_, end_of(r)); }
    std::int64_t end(std::int64_t r) const { return std::min(part_begin(order_.size(), r, comm_.size()) + done_ + step_, end_of(r)); }

    /// From ranks to slabs. Collective.
    Slab<const T> gather(const T* local);
    /// The slab to fill in.
    Slab<T> slab() { return {begin(comm_.rank()), slab_.data(), end(comm_.rank()) - begin(comm_.rank())}; }
    /// From slabs to ranks. Collective.
    void scatter(T* local);
    const Communicator& comm() const { return comm_; }

private:
    /// A range of a rank's elements, by ascending position.
    struct Range {
        std::int64_t begin = 0, end = 0;
        std::int64_t count() const { return end - begin; }
        std::int64_t bytes() const { return count() * std::int64_t{sizeof(T)}; }
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
    static std::byte* bytes_of(const T* data) { return reinterpret_cast<std::byte*>(const_cast<T*>(data)); }
    /// For each rank that holds the first copy of elements of this rank's slab: where they are in `between_`. Ranges are by rank.
    std::vector<Range> parts_of_slab() const;
    /// Calls f(first, stride, count, at): positions of the slab, and the place in `between_` of the first one's element; others
    /// follow.
    template <class F>
    void walk_slab(const std::vector<Range>& parts, F&& f) const;

    /// Calls f(place in `staged_`, place in the local array) for a range of this rank's elements, the first of which is staged at `first`.
    /// Runs that begin near each other in the array are walked together, some elements of each in turn: with the strides of a transposed
    /// array each element of a run lies on another cache line and page, which its neighbours then find still there.
    template <class F>
    void walk_local(const Range& range, std::int64_t first, F&& f) const;

    const Communicator& comm_;
    PackedOrder order_;
    std::int64_t limit_, longest_ = 0, done_ = 0, step_ = 0;
    bool is_idle_;
    Buffer<T> slab_, between_, staged_;
};

template <class T>
auto Rounds<T>::parts_of_slab() const -> std::vector<Range> {
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

template <class T>
template <class F>
void Rounds<T>::walk_slab(const std::vector<Range>& parts, F&& f) const {
    std::vector<std::int64_t> next(parts.size());
    std::transform(parts.begin(), parts.end(), next.begin(), [](const Range& part) { return part.begin; });
    const auto first_position = begin(comm_.rank());
    order_.for_each_run(first_position, end(comm_.rank()),
                        [&](std::int64_t rank, std::int64_t first, std::int64_t stride, std::int64_t count) {
                            auto& at = next[rank];
                            f(first - first_position, stride, count, at);
                            at += count;
                        });
}

template <class T>
template <class F>
void Rounds<T>::walk_local(const Range& range, std::int64_t first, F&& f) const {
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
                    for (auto k = i; k < std::min(i + elements, run.count); ++k) f(run.staged + k, run.at + k * run.stride);
        }
        runs.clear();
    };
    order_.for_each_local_run(comm_.rank(), range.begin, range.end, [&](std::int64_t at, std::int64_t stride, std::int64_t count) {
        if (count < elements) {
            for (std::int64_t i = 0; i < count; ++i) f(first + i, at + i * stride);
        } else {
            runs.push_back({at, stride, count, first});
            if (runs.size() == kept) walk();
        }
        first += count;
    });
    walk();
}

template <class T>
Slab<const T> Rounds<T>::gather(const T* local) {
    const auto me = comm_.rank();
    const auto parts = parts_of_slab();
    std::vector<Piece> sends, receives;
    const bool sends_any = !is_idle_ && order_.first_copy(me) == me;
    std::int64_t used = 0;
    for (std::int64_t r = 0; r < comm_.size() && sends_any; ++r) {
        const auto range = shared(me, r);
        const T* from = local + range.begin;
        if (range.count() == 0) continue;
        if (!order_.is_local_order()) {
            from = staged_.data() + used;
            walk_local(range, used, [&](std::int64_t staged, std::int64_t at) { staged_[staged] = local[at]; });
            used += range.count();
        }
        if (r == me)
            std::copy_n(from, range.count(), between_.data() + parts[me].begin);
        else
            sends.push_back({r, bytes_of(from), range.bytes()});
    }
    for (std::int64_t q = 0; q < comm_.size(); ++q) {
        const auto& part = parts[q];
        if (q != me && part.count() > 0) receives.push_back({q, bytes_of(between_.data() + part.begin), part.bytes()});
    }
    comm_.exchange(sends, receives);
    walk_slab(parts, [&](std::int64_t first, std::int64_t stride, std::int64_t count, std::int64_t at) {
        const auto* from = between_.data() + at;
        auto* const to = slab_.data() + first;
        if (stride == 1)
            std::copy_n(from, count, to);
        else
            for (std::int64_t i = 0; i < count; ++i) to[i * stride] = from[i];
    });
    return {begin(me), slab_.data(), end(me) - begin(me)};
}

template <class T>
void Rounds<T>::scatter(T* local) {
    const auto me = comm_.rank();
    const auto parts = parts_of_slab();
    walk_slab(parts, [&](std::int64_t first, std::int64_t stride, std::int64_t count, std::int64_t at) {
        const auto* from = slab_.data() + first;
        auto* const to = between_.data() + at;
        if (stride == 1)
            std::copy_n(from, count, to);
        else
            for (std::int64_t i = 0; i < count; ++i) to[i] = from[i * stride];
    });
    std::vector<Piece> sends, receives;
    for (std::int64_t q = 0; q < comm_.size(); ++q) {
        if (q == me || shared(q, me).count() == 0) continue;
        const auto& part = parts[order_.first_copy(q)];
        sends.push_back({q, bytes_of(between_.data() + part.begin), part.bytes()});
    }
    std::int64_t used = 0;
    for (std::int64_t r = 0; r < comm_.size(); ++r) {
        const auto range = shared(me, r);
        if (range.count() == 0) continue;
        T* const to = order_.is_local_order() ? local + range.begin : staged_.data() + used;
        used += range.count();
        if (r == me)
            std::copy_n(between_.data() + parts[order_.first_copy(me)].begin, range.count(), to);
        else
            receives.push_back({r, bytes_of(to), range.bytes()});
    }
    comm_.exchange(sends, receives);
    if (order_.is_local_order()) return;
    used = 0;
    for (std::int64_t r = 0; r < comm_.size(); ++r) {
        const auto range = shared(me, r);
        walk_local(range, used, [&](std::int64_t staged, std::int64_t at) { local[at] = staged_[staged]; });
        used += range.count();
    }
}

}  // namespace

template <class T>
void SlabExchange::store(const TensorState& tensor, const std::function<void(const Slab<const T>&)>& take) const {
    if (tensor.shape().has_padding()) {
        const auto packed = without_blocks(tensor);
        move_elements(*tensor.world, *tensor.kernels, tensor.shape(), tensor.bytes.data(), packed->shape(), packed->bytes.data());
        store<T>(*packed, take);
        return;
    }
    Rounds<T> rounds(tensor, order_, slab_bytes_);
    const HostElements here(tensor);
    while (rounds.next()) {
        const auto slab = rounds.gather(here.of<T>());
        rounds.comm().agree([&] { take(slab); });
    }
}

template <class T>
void SlabExchange::load(TensorState& tensor, const std::function<void(const Slab<T>&)>& give) const {
    if (tensor.shape().has_padding()) {
        const auto packed = without_blocks(tensor);
        load<T>(*packed, give);
        move_elements(*tensor.world, *tensor.kernels, packed->shape(), packed->bytes.data(), tensor.shape(), tensor.bytes.data());
        return;
    }
    {
        Rounds<T> rounds(tensor, order_, slab_bytes_);
        ChangedHostElements changed(tensor);
        while (rounds.next()) {
            rounds.comm().agree([&] { give(rounds.slab()); });
            rounds.scatter(changed.of<T>());
        }
    }
    tensor.keep_real();
}

#define ARGES_INSTANTIATE(T)                                                                                                               \
    template void SlabExchange::store(const TensorState&, const std::function<void(const Slab<const T>&)>&) const;                         \
    template void SlabExchange::load(TensorState&, const std::function<void(const Slab<T>&)>&) const;
ARGES_FOR_EACH_ELEMENT_TYPE(ARGES_INSTANTIATE)
#undef ARGES_INSTANTIATE

}  // namespace arges::io
