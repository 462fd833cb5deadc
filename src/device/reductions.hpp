/// Sums and extrema of rows on a device, in an order that depends on their length only.
#pragma once

#include "arges/element_kernels.hpp"
#include "device/machine.hpp"

namespace arges::device {

/// What a sum leaves on the device for the host.
template <class M, class V>
V fetched(const Buffer<V>& room) {
    V value;
    M::space().copy(&value, room.data(), sizeof(V));
    return value;
}

/// One sum over a row of the table's sum_row.
template <class N>
struct RowOf {
    local::RowSum what;
    std::int64_t count, stride;
    const double* weights;
    const N *a, *b;
    int exponent;
    using Value = typename Parts<N>::wide;
    Value* result;

    ARGES_ON_DEVICE Value none() const { return Value(0); }
    ARGES_ON_DEVICE Value add(Value x, Value y) const { return x + y; }
    ARGES_ON_DEVICE Value term(std::int64_t i) const {
        const Value x = Value(a[i * stride]);
        if (what == local::RowSum::value) return x;
        if (what == local::RowSum::cancelled) return x - x;
        if (what == local::RowSum::real) return without_imaginary(x);
        if (what == local::RowSum::magnitude) return Value(magnitude(a[i * stride]));
        if (what == local::RowSum::square) return Value(square(a[i * stride], exponent));
        const Value product = related(2, x) * Value(b[i * stride]);
        return what == local::RowSum::product ? product : without_imaginary(product);
    }
    ARGES_ON_DEVICE Value partial(std::int64_t, std::int64_t first, std::int64_t step) const {
        Value sum(0);
        for (auto i = first; i < count; i += step)
            if (weights == nullptr)
                sum = sum + term(i);
            else if (weights[i] != 0)
                sum = sum + times_real<Value>(weights[i], term(i));
        return sum;
    }
    ARGES_ON_DEVICE void store(std::int64_t, Value sum) const { *result = sum; }
};

template <class M, class N>
local::WideSum sum_row(local::RowSum what, const local::ElementRow& row, const void* elements, const void* others, int exponent) {
    if (row.count == 0) return {};
    Range range;
    range.stride(row.count, row.stride);
    Reached<M, N> a(elements, range), b(others, range);
    Lists<M> lists;
    using Value = typename Parts<N>::wide;
    Buffer<Value> room(1, &M::space());
    sums<M>(1, row.count,
            RowOf<N>{what, row.count, row.stride, lists.put(row.weights, row.count), a.data(), b.data(), exponent, room.data()});
    const auto sum = fetched<M>(room);
    if constexpr (is_complex<Value>)
        return {.number = {sum.re, sum.im}};
    else
        return {.number = sum};
}

/// The first of the best elements.
template <class N>
struct BestOf {
    struct Value {
        typename Parts<N>::real key;  ///< larger is better
        std::int64_t place;           ///< -1: none
    };
    local::Best what;
    std::int64_t count;
    const N* elements;
    Value* result;

    ARGES_ON_DEVICE Value at(std::int64_t i) const {
        if constexpr (!is_complex<N>) {
            if (what == local::Best::least) return {-elements[i], i};
            if (what == local::Best::largest) return {elements[i], i};
        }
        return {magnitude(elements[i]), i};
    }
    ARGES_ON_DEVICE Value none() const { return {0, -1}; }
    ARGES_ON_DEVICE Value add(Value x, Value y) const {
        if (x.place < 0) return y;
        if (y.place < 0) return x;
        const bool x_nan = is_nan(x.key), y_nan = is_nan(y.key);
        if (x_nan != y_nan) return x_nan ? x : y;
        if (x.key == y.key || x_nan) return x.place < y.place ? x : y;
        return x.key > y.key ? x : y;
    }
    ARGES_ON_DEVICE Value partial(std::int64_t, std::int64_t first, std::int64_t step) const {
        Value best = none();
        for (auto i = first; i < count; i += step) best = add(best, at(i));
        return best;
    }
    ARGES_ON_DEVICE void store(std::int64_t, Value best) const { *result = best; }
};

template <class M, class N>
std::int64_t place_of_best(local::Best what, const void* elements, std::int64_t count) {
    Reached<M, N> a(elements, {0, count - 1});
    Buffer<typename BestOf<N>::Value> room(1, &M::space());
    sums<M>(1, count, BestOf<N>{what, count, a.data(), room.data()});
    return fetched<M>(room).place;
}

/// The weights of elements that are not zero.
template <class N>
struct NonzeroSum {
    std::int64_t count, stride;
    const double* weights;
    const N* elements;
    double* result;
    using Value = double;
    ARGES_ON_DEVICE double none() const { return 0; }
    ARGES_ON_DEVICE double add(double x, double y) const { return x + y; }
    ARGES_ON_DEVICE double partial(std::int64_t, std::int64_t first, std::int64_t step) const {
        double sum = 0;
        for (auto i = first; i < count; i += step)
            if (elements[i * stride] != N(0)) sum += weights[i];
        return sum;
    }
    ARGES_ON_DEVICE void store(std::int64_t, double sum) const { *result = sum; }
};

template <class M, class N>
std::int64_t count_nonzero(const void* elements, std::int64_t stride, std::span<const double> weights) {
    if (weights.empty()) return 0;
    Range range;
    range.stride(std::ssize(weights), stride);
    Reached<M, N> a(elements, range);
    Lists<M> lists;
    Buffer<double> room(1, &M::space());
    sums<M>(1, std::ssize(weights), NonzeroSum<N>{std::ssize(weights), stride, lists.put(weights), a.data(), room.data()});
    return static_cast<std::int64_t>(fetched<M>(room));
}

}  // namespace arges::device
