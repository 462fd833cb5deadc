// Strided and listed copies as planned: tiles shared by the threads, each moved while the next is prefetched.
#include "local/transfer.hpp"

#include "base/buffer.hpp"
#include "base/instantiate.hpp"
#include "local/scalar.hpp"
#include "local/transfer_kernel.hpp"
#include "local/transfer_plan.hpp"
#include "local/transpose_kernel.hpp"

#include <omp.h>

#include <algorithm>
#include <complex>
#include <vector>

namespace arges::local {
namespace {

constexpr std::int64_t transfer_for_threads = 1 << 15;  // below, one thread is faster
constexpr std::int64_t streaming_bytes = 8 << 20;       // above, the target would not stay in the caches

/// What is the same for all threads.
template <class T>
struct Job {
    const TransferPlan& plan;
    const T* from;
    T* to;
    T alpha;
    TransferMode mode;
    bool stream;
};

/// Moves tiles in one thread.
template <class T>
class TileMover {
public:
    explicit TileMover(const Job<T>& job)
        : job_(job), begin_(job.plan.axes.size()), end_(job.plan.axes.size()), settings_{job.alpha, job.mode.conjugate, job.stream} {
        const PlannedAxis &inner = job.plan.axes[0], &outer = job.plan.axes[1];
        transposes_ =
            inner.from_unit() && !inner.to_unit() && outer.to_unit() && !outer.from_unit() && !inner.axis.factor && !outer.axis.factor;
        if (transposes_) buffer_.reserve(inner.tile * (outer.tile + 128 / std::int64_t{sizeof(T)}));
    }

    /// Moves the tiles first, ..., last - 1.
    void move_tasks(std::int64_t first, std::int64_t last) {
        for (std::int64_t task = first; task < last; ++task)
            if (select_tile(task)) loop(job_.plan.axes.size(), job_.from, job_.to, job_.plan.factor);
        if (has_pending_) transpose(nullptr);
        if (job_.stream) finish_streaming();
    }

private:
    /// Sets the entries of each axis that a tile covers; false if there are none.
    bool select_tile(std::int64_t task) {
        bool some = true;
        for (const std::size_t i : job_.plan.by_target) {
            const PlannedAxis& axis = job_.plan.axes[i];
            const std::int64_t index = task % axis.tiles();
            task /= axis.tiles();
            begin_[i] = axis.tile_begin(index);
            end_[i] = axis.tile_begin(index + 1);
            some = some && begin_[i] < end_[i];
        }
        return some;
    }

    /// Loops over the entries of the tile of axes `depth` - 1 down to 2, then calls the kernel.
    void loop(std::size_t depth, const T* from, T* to, std::uint8_t factor) {
        if (depth == 2) return move_tile_at(from, to, factor);
        const PlannedAxis& axis = job_.plan.axes[depth - 1];
        for (std::int64_t i = begin_[depth - 1]; i < end_[depth - 1]; ++i)
            loop(depth - 1, from + axis.from_at(i), to + axis.to_at(i), factor ^ (axis.axis.factor ? axis.axis.factor[i] : 0));
    }

    void move_tile_at(const T* from, T* to, std::uint8_t factor) {
        KernelCall<T> call{.from = from, .to = to, .factor = factor};
        call.inner = kernel_axis(0, call);
        call.outer = kernel_axis(1, call);
        if (transposes_)
            transpose(&call);
        else if (job_.mode.accumulate)
            move_tile<true>(call, settings_);
        else
            move_tile<false>(call, settings_);
    }

    /// The part of axis i in the tile; the start of a strided axis goes into the call's pointers.
    KernelAxis kernel_axis(std::size_t i, KernelCall<T>& call) const {
        const PlannedAxis& axis = job_.plan.axes[i];
        KernelAxis part{.count = end_[i] - begin_[i]};
        if (axis.axis.factor) part.factor = axis.axis.factor + begin_[i];
        if (!axis.axis.to) part.to_stride = axis.axis.to_stride;
        part.from = offsets(axis.axis.from, axis.from_in_tile, begin_[i]);
        part.to = offsets(axis.axis.to, axis.to_in_tile, begin_[i]);
        if (!axis.axis.from) call.from += axis.from_at(begin_[i]);
        if (!axis.axis.to) call.to += axis.to_at(begin_[i]);
        return part;
    }

    static const std::int64_t* offsets(const std::int64_t* list, const std::vector<std::int64_t>& in_tile, std::int64_t begin) {
        if (list) return list + begin;
        return in_tile.empty() ? nullptr : in_tile.data();
    }

    /// Moves the pending tile; then the next one (null: none) is pending, to be prefetched
    /// meanwhile.
    void transpose(const KernelCall<T>* next) {
        if (has_pending_ && job_.mode.accumulate) transpose_tile<true>(pending_, next, buffer_.data(), settings_);
        if (has_pending_ && !job_.mode.accumulate) transpose_tile<false>(pending_, next, buffer_.data(), settings_);
        has_pending_ = next != nullptr;
        if (next) pending_ = *next;
    }

    const Job<T>& job_;
    std::vector<std::int64_t> begin_, end_;
    KernelSettings<T> settings_;
    bool transposes_ = false;
    Buffer<T> buffer_;
    KernelCall<T> pending_;
    bool has_pending_ = false;
};

}  // namespace

template <class T>
void transfer(std::span<const TransferAxis> axes, const T* from, T* to, T alpha, TransferMode mode) {
    const TransferPlan plan = plan_transfer(axes, sizeof(T), mode.accumulate);
    if (plan.size == 0) return;
    const bool stream = !mode.accumulate && plan.size * std::int64_t{sizeof(T)} >= streaming_bytes;
    const Job<T> job{plan, from + plan.from_offset, to + plan.to_offset, alpha, mode, stream};
    const std::int64_t wanted = plan.size < transfer_for_threads ? 1 : omp_get_max_threads();
    const std::int64_t threads = omp_in_parallel() ? 1 : std::min(wanted, plan.tasks);
    if (threads == 1) return TileMover<T>(job).move_tasks(0, plan.tasks);
    std::vector<TileMover<T>> movers;
    movers.reserve(threads);
    for (std::int64_t i = 0; i < threads; ++i) movers.emplace_back(job);
#pragma omp parallel for num_threads(static_cast <int>(threads)) schedule(static, 1)
    for (std::int64_t i = 0; i < threads; ++i) movers[i].move_tasks(plan.tasks * i / threads, plan.tasks * (i + 1) / threads);
}

#define ARGES_INSTANTIATE(T) template void transfer<T>(std::span<const TransferAxis>, const T*, T*, T, TransferMode);
ARGES_FOR_EACH_ELEMENT_TYPE(ARGES_INSTANTIATE)
#undef ARGES_INSTANTIATE

}  // namespace arges::local
