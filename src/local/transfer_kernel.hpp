/// The innermost two loops of a transfer.
#pragma once

#include "local/scalar.hpp"
#include "local/transpose_block.hpp"

#include <algorithm>
#include <cstdint>

namespace arges::local {

/// The part of an axis that one kernel call covers: entry i reads at from[i] and writes at to[i],
/// relative to the call's pointers. A null list means i.
struct KernelAxis {
    std::int64_t count = 0;
    const std::int64_t* from = nullptr;
    const std::int64_t* to = nullptr;
    const std::uint8_t* factor = nullptr;  ///< null: none
    std::int64_t to_stride = 0;            ///< 0 where `to` is not strided

    std::int64_t from_at(std::int64_t i) const { return from ? from[i] : i; }
    std::int64_t to_at(std::int64_t i) const { return to ? to[i] : i; }
};

/// One tile of a transfer.
template <class T>
struct KernelCall {
    KernelAxis inner = {}, outer = {};
    const T* from = nullptr;
    T* to = nullptr;
    std::uint8_t factor = 0;  ///< bits of the axes that the kernel does not run over
};

/// What is the same for all tiles of a transfer.
template <class T>
struct KernelSettings {
    T alpha;
    bool conjugated = false;
    bool stream = false;  ///< write around the caches
};

/// What happens to an element on its way. Plain: nothing.
template <class T, bool scaled, bool conjugated>
struct Value {
    static constexpr bool plain = !scaled && !conjugated;
    T alpha;
    T operator()(T x) const {
        if constexpr (conjugated) x = conjugate(x);
        if constexpr (scaled) x = multiply(alpha, x);
        return x;
    }
};

template <bool accumulate, class T>
inline void store(T& target, T value) {
    if constexpr (accumulate)
        target += value;
    else
        target = value;
}

/// One contiguous run on both sides.
template <class T, class V, bool accumulate>
inline void move_run(const T* from, T* to, std::int64_t count, V value, bool stream) {
    if constexpr (V::plain && !accumulate) {
        if (stream) return stream_copy(from, to, count);
        if (count > 16) return void(std::copy_n(from, count, to));
    }
#pragma omp simd
    for (std::int64_t i = 0; i < count; ++i) store<accumulate>(to[i], value(from[i]));
}

/// Both sides contiguous along the inner axis.
template <class T, class V, bool accumulate>
void move_runs(const KernelCall<T>& call, V value, bool may_stream) {
    const bool stream = may_stream && call.inner.count * sizeof(T) >= 128;
    for (std::int64_t j = 0; j < call.outer.count; ++j)
        move_run<T, V, accumulate>(call.from + call.outer.from_at(j), call.to + call.outer.to_at(j), call.inner.count, value, stream);
}

/// Any offsets; the longer axis innermost.
template <class T, class V, bool accumulate>
void move_elements(const KernelCall<T>& call, V value) {
    const bool swap = call.outer.count > call.inner.count;
    const KernelAxis &fast = swap ? call.outer : call.inner, &slow = swap ? call.inner : call.outer;
    const std::int64_t *from_list = fast.from, *to_list = fast.to;
    for (std::int64_t j = 0; j < slow.count; ++j) {
        const T* from = call.from + slow.from_at(j);
        T* to = call.to + slow.to_at(j);
        if (!to_list && !from_list)
            for (std::int64_t i = 0; i < fast.count; ++i) store<accumulate>(to[i], value(from[i]));
        else if (!to_list)
            for (std::int64_t i = 0; i < fast.count; ++i) store<accumulate>(to[i], value(from[from_list[i]]));
        else if (!from_list)
            for (std::int64_t i = 0; i < fast.count; ++i) store<accumulate>(to[to_list[i]], value(from[i]));
        else
            for (std::int64_t i = 0; i < fast.count; ++i) store<accumulate>(to[to_list[i]], value(from[from_list[i]]));
    }
}

/// Any offsets, with factors on one or both axes. `bits` holds those of the whole call.
template <class T, bool accumulate>
void move_with_factors(const KernelCall<T>& call, T alpha, std::uint8_t bits) {
    const KernelAxis &inner = call.inner, &outer = call.outer;
    for (std::int64_t j = 0; j < outer.count; ++j) {
        const std::uint8_t outer_bits = bits ^ (outer.factor ? outer.factor[j] : 0);
        const T* from = call.from + outer.from_at(j);
        T* to = call.to + outer.to_at(j);
        for (std::int64_t i = 0; i < inner.count; ++i) {
            const std::uint8_t all = outer_bits ^ (inner.factor ? inner.factor[i] : 0);
            const T x = from[inner.from_at(i)];
            const T y = multiply(alpha, (all & 2) ? conjugate(x) : x);
            store<accumulate>(to[inner.to_at(i)], (all & 1) ? -y : y);
        }
    }
}

/// Calls visit(v) with the Value for the call's sign and conjugation.
template <class T, class Visitor>
void with_value(const KernelCall<T>& call, const KernelSettings<T>& settings, Visitor visit) {
    const std::uint8_t bits = call.factor ^ (settings.conjugated ? 2 : 0);
    const T alpha = (bits & 1) ? -settings.alpha : settings.alpha;
    if (is_complex<T> && (bits & 2))
        visit(Value<T, true, true>{alpha});
    else if (alpha != T(1))
        visit(Value<T, true, false>{alpha});
    else
        visit(Value<T, false, false>{alpha});
}

/// Moves one tile, whatever its axes are like.
template <bool accumulate, class T>
void move_tile(const KernelCall<T>& call, const KernelSettings<T>& settings) {
    if (call.inner.factor || call.outer.factor)
        return move_with_factors<T, accumulate>(call, settings.alpha, call.factor ^ (settings.conjugated ? 2 : 0));
    with_value(call, settings, [&]<class V>(V value) {
        if (!call.inner.from && !call.inner.to)
            move_runs<T, V, accumulate>(call, value, settings.stream);
        else
            move_elements<T, V, accumulate>(call, value);
    });
}

}  // namespace arges::local
