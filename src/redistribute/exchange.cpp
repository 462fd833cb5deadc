#include "redistribute/exchange.hpp"

#include "base/first_error.hpp"
#include "base/instantiate.hpp"
#include "base/related_value.hpp"
#include "plan/exchange_loops.hpp"
#include "redistribute/split_pair.hpp"
#include "redistribute/unpack_pair.hpp"

#include <algorithm>

namespace arges {

namespace {

/// Stride of an arithmetic progression that starts at list[0], or -1.
std::int64_t progression(const std::vector<std::int64_t>& list) {
    if (list.size() < 2) return 1;
    const auto stride = list[1] - list[0];
    for (std::size_t i = 2; i < list.size(); ++i)
        if (list[i] - list[i - 1] != stride) return -1;
    return stride;
}

/// The movement that names the target's elements without reading anything: a scalar broadcast over all labels.
ExchangeSpec naming(const ExchangeSpec& spec) {
    ExchangeSpec result = spec;
    result.from = Layout(spec.to.grid(), {}, Symmetry::none(0), {});
    result.from_labels.clear();
    result.from_offset.clear();
    result.terms = {spec.identity()};
    return result;
}

/// Calls f(offset) for each element of the target that the labels name.
template <class F>
void for_each_named(const ExchangeSpec& spec, std::int64_t rank, F&& f) {
    const ExchangeLists lists(naming(spec), rank);
    for (const auto& m : lists.receives()) {
        if (m.peer != rank) continue;
        std::vector<std::size_t> digit(m.groups.size(), 0);
        for (std::int64_t i = 0; i < m.count; ++i) {
            std::int64_t at = 0;
            for (std::size_t g = 0; g < digit.size(); ++g) at += m.groups[g]->to[digit[g]];
            f(at);
            for (std::size_t g = 0; g < digit.size() && ++digit[g] == m.groups[g]->to.size(); ++g) digit[g] = 0;
        }
    }
}

}  // namespace

Exchange::Exchange(const Communicator* comm, const ExchangeSpec& spec, std::int64_t rank, LoopUse loops)
    : comm_(comm),
      spec_(spec),
      rank_(rank),
      lists_(spec_, rank, loops),
      same_order_(!lists_.single_source() && spec_.to.copies() > 1) {
    if (lists_.loops() != nullptr) return;
    for (const auto& m : lists_.sends()) pack_.push_back(axes(m, true, false));
    for (const auto& m : lists_.receives()) {
        if (m.peer == rank_)
            direct_ = axes(m, false, false);
        else
            unpack_.push_back(axes(m, false, true));
    }
}

std::int64_t Exchange::list_bytes() const {
    auto sum = lists_.bytes();
    for (const auto& list : dense_lists_) sum += static_cast<std::int64_t>(list.size() * sizeof(std::int64_t));
    return sum;
}

std::vector<Piece> Exchange::pieces(const std::vector<ExchangeMessage>& messages, std::byte* buffer,
                                    std::int64_t element_bytes) const {
    std::vector<Piece> result;
    for (const auto& m : messages) {
        if (m.peer == rank_) continue;
        result.push_back({m.peer, buffer, m.count * element_bytes});
        buffer += m.count * element_bytes;
    }
    return result;
}

/// Axes of a message's transfer. Packing writes to a dense buffer and unpacking reads from one; the rank's own
/// elements go straight from source to target. Factors are applied on the side that fills the target.
Exchange::MessageAxes Exchange::axes(const ExchangeMessage& message, bool pack, bool unpack) {
    MessageAxes result;
    result.count = message.count;
    std::int64_t dense = 1;
    for (const auto* group : message.groups) {
        local::TransferAxis axis;
        axis.count = group->count();
        if (const auto& p = group->progression) {
            axis.from_stride = unpack ? dense : p->from_stride;
            axis.to_stride = pack ? dense : p->to_stride;
            if (!unpack) result.from += p->from;
            if (!pack) result.to += p->to;
            if (!pack) result.factor ^= p->factor;
            dense *= axis.count;
            result.axes.push_back(axis);
            continue;
        }
        const auto from_stride = unpack ? dense : progression(group->from);
        const auto to_stride = pack ? dense : progression(group->to);
        const bool has_factor = !pack && !group->factor.empty();
        if (has_factor) axis.factor = group->factor.data();
        if (from_stride >= 0 && to_stride >= 0 && !has_factor) {
            axis.from_stride = from_stride;
            axis.to_stride = to_stride;
            if (!unpack) result.from += group->from[0];
            if (!pack) result.to += group->to[0];
        } else {
            auto dense_list = [&] {
                auto& list = dense_lists_.emplace_back(static_cast<std::size_t>(axis.count));
                for (std::int64_t i = 0; i < axis.count; ++i) list[static_cast<std::size_t>(i)] = i * dense;
                return list.data();
            };
            axis.from = unpack ? dense_list() : group->from.data();
            axis.to = pack ? dense_list() : group->to.data();
        }
        dense *= axis.count;
        result.axes.push_back(axis);
    }
    return result;
}

template <Exchange::Step step, class T>
void Exchange::loop(const ExchangeMessage& message, const T* from, T* to, T alpha, local::TransferMode mode) const {
    const auto& loops = *lists_.loops();
    const auto& group = *message.groups[0];
    const auto from_place = step == Step::unpack ? group.peer : loops.from_place(rank_);
    const auto to_place = step == Step::pack ? group.peer : loops.to_place(rank_);
    const auto& parts = loops.parts();
    FirstError error;
    const auto run_part = [&](std::size_t p) {
        auto at = group.part_begin[p];  // in the message
        loops.for_each_run(parts[p], from_place, to_place, [&](const ExchangeRun& run) {
            const T* const source = step == Step::unpack ? from + at : from + run.from;
            T* const target = step == Step::pack ? to + at : to + run.to;
            at += run.count;
            const auto read = [&](std::int64_t i) { return step == Step::unpack ? source[i] : source[run.from_offsets[i]]; };
            if constexpr (step == Step::pack) {
                for (std::int64_t i = 0; i < run.count; ++i) target[i] = read(i);
                return;
            }
            auto factor = run.factor;
            if (mode.conjugate) factor ^= 2;
            if (run.factors == nullptr && (factor & 2) == 0) {
                const T scale = (factor & 1) != 0 ? -alpha : alpha;
                if (mode.accumulate)
                    for (std::int64_t i = 0; i < run.count; ++i) target[run.to_offsets[i]] += scale * read(i);
                else
                    for (std::int64_t i = 0; i < run.count; ++i) target[run.to_offsets[i]] = scale * read(i);
                return;
            }
            for (std::int64_t i = 0; i < run.count; ++i) {
                const auto bits = static_cast<std::uint8_t>(run.factors != nullptr ? factor ^ run.factors[i] : factor);
                const T value = alpha * related_value(bits, read(i));
                T& element = target[run.to_offsets[i]];
                element = mode.accumulate ? element + value : value;
            }
        });
    };
    // Parts of different terms may have the same targets: one term after the other.
    for (std::size_t first = 0; first < parts.size();) {
        auto last = first;
        while (last < parts.size() && parts[last].term == parts[first].term) ++last;
#pragma omp parallel for schedule(dynamic) if (message.count > 65536)
        for (std::size_t p = first; p < last; ++p) error.run([&] { run_part(p); });
        first = last;
    }
    error.rethrow();
}

template <class T>
void Exchange::prepare_target(T* to, T beta, bool& accumulate) const {
    const auto local = spec_.to.local_size(rank_);
    if (lists_.pattern()) {
        if (beta == T(0))
            for_each_named(spec_, rank_, [&](std::int64_t at) { to[at] = T(0); });
        else
            scale_named(spec_, rank_, to, beta);
        return;
    }
    if (beta == T(0)) {
        if (lists_.single_source() && lists_.written() == local)
            accumulate = false;
        else
            std::fill(to, to + local, T(0));
    } else if (beta != T(1)) {
        for (std::int64_t i = 0; i < local; ++i) to[i] *= beta;
    }
}

template <class T>
void Exchange::run(const T* from, T* to, T alpha, T beta, bool conjugate, Workspace& workspace) {
    const Workspace::Scope scope(workspace);
    T* const send = workspace.take<T>(volume().sent);
    T* const receive = workspace.take<T>(volume().received);
    FirstError error;
    std::int64_t offset = 0;
    error.run([&] {
        auto m = pack_.begin();
        for (const auto& message : lists_.sends()) {
            if (lists_.loops() != nullptr) {
                loop<Step::pack>(message, from, send + offset, T(1), {});
            } else {
                local::transfer<T>(m->axes, from + m->from, send + offset, T(1), {});
                ++m;
            }
            offset += message.count;
        }
    });
    PendingExchange pending;
    if (comm_ != nullptr)
        pending = comm_->start(pieces(lists_.sends(), reinterpret_cast<std::byte*>(send), sizeof(T)),
                               pieces(lists_.receives(), reinterpret_cast<std::byte*>(receive), sizeof(T)));
    bool accumulate = true;
    error.run([&] {
        prepare_target(to, beta, accumulate);
        if (lists_.split() != nullptr) split_pair(*lists_.split(), from, to, alpha, conjugate);
        if (lists_.pair() != nullptr) unpack_pair(*lists_.pair(), from, to, alpha, conjugate, accumulate);
    });
    const auto transfer = [&](const MessageAxes& m, const T* source, T* target) {
        local::transfer<T>(m.axes, source + m.from, target + m.to, (m.factor & 1) != 0 ? -alpha : alpha, {conjugate != ((m.factor & 2) != 0), accumulate});
    };
    auto take_own = [&] {
        for (const auto& message : lists_.receives())
            if (lists_.loops() != nullptr && message.peer == rank_) loop<Step::direct>(message, from, to, alpha, {conjugate, accumulate});
        if (direct_)
            transfer(*direct_, from, to);
    };
    if (!same_order_) error.run(take_own);
    if (comm_ != nullptr) comm_->finish(pending);
    error.rethrow();
    offset = 0;
    auto m = unpack_.begin();
    for (const auto& message : lists_.receives()) {
        if (message.peer == rank_) {
            if (same_order_) take_own();
            continue;
        }
        if (lists_.loops() != nullptr) {
            loop<Step::unpack>(message, receive + offset, to, alpha, {conjugate, accumulate});
        } else {
            transfer(*m, receive + offset, to);
            ++m;
        }
        offset += message.count;
    }
}

template <class T>
void scale_named(const ExchangeSpec& spec, std::int64_t rank, T* to, T beta) {
    if (beta != T(1)) for_each_named(spec, rank, [&](std::int64_t at) { to[at] *= beta; });
}

#define ARGES_INSTANTIATE(T)                                                          \
    template void Exchange::run(const T*, T*, T, T, bool, Workspace&);                \
    template void scale_named(const ExchangeSpec&, std::int64_t, T*, T);
ARGES_FOR_EACH_ELEMENT_TYPE(ARGES_INSTANTIATE)

}  // namespace arges
