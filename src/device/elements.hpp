/// What a device does with each element by itself, and with pair nodes.
#pragma once

#include "arges/functions.hpp"
#include "device/transfers.hpp"
#include "plan/product/pair_split.hpp"

#include <array>
#include <span>
#include <utility>
#include <vector>

namespace arges::device {

template <class N>
struct Fill {
    N* to;
    N value;
    ARGES_ON_DEVICE void operator()(std::int64_t i) const { to[i] = value; }
};
template <class N>
struct Scale {
    N* to;
    N factor;
    ARGES_ON_DEVICE void operator()(std::int64_t i) const { to[i] = factor * to[i]; }
};
template <class N>
struct Divide {
    N* to;
    const N* divisor;
    ARGES_ON_DEVICE void operator()(std::int64_t i) const { to[i] = to[i] / divisor[i]; }
};
template <class N>
struct MakeReal {
    N* to;
    ARGES_ON_DEVICE void operator()(std::int64_t i) const {
        if constexpr (is_complex<N>) to[i].im = 0;
    }
};
template <class From, class N>
struct Convert {
    const From* from;
    N* to;
    ARGES_ON_DEVICE void operator()(std::int64_t i) const { to[i] = N(from[i]); }
};

/// An operand of a function: elements, or a number.
template <class N>
struct FunctionInput {
    const N* elements = nullptr;
    N number = N(0);
    ARGES_ON_DEVICE N at(std::int64_t i) const { return elements != nullptr ? elements[i] : number; }
};

/// A function of elements whose values are of their type. Which one is known when running: all threads take the same way.
template <class N, class Functions>
struct Apply;
template <class N, std::size_t... all>
struct Apply<N, std::index_sequence<all...>> {
    Function function;
    FunctionInput<N> a, b;
    N* to;

    template <Function f>
    ARGES_ON_DEVICE void put(std::int64_t i) const {
        if constexpr (runs_on_device(f, is_complex<N>) && !(is_complex<N> && f == Function::abs)) {
            if constexpr (operands_of(f) == 1)
                to[i] = value_of<f>(a.at(i));
            else
                to[i] = value_of<f>(a.at(i), b.at(i));
        }
    }
    ARGES_ON_DEVICE void operator()(std::int64_t i) const {
        static_cast<void>(((function == static_cast<Function>(all) ? (put<static_cast<Function>(all)>(i), true) : false) || ...));
    }
};
template <class N>
struct Magnitudes {
    FunctionInput<N> a;
    typename Parts<N>::real* to;
    ARGES_ON_DEVICE void operator()(std::int64_t i) const { to[i] = magnitude(a.at(i)); }
};

/// The table's function.
template <class M, class N>
void apply(Function function, std::span<const FunctionOperand> operands, void* results, std::int64_t count) {
    if (count == 0) return;
    std::vector<Reached<M, N>> reached;
    std::array<FunctionInput<N>, 2> inputs{};
    for (std::size_t o = 0; o < operands.size(); ++o) {
        const auto* const elements = operands[o].elements;
        if (operands[o].is_number)
            inputs[o].number = *static_cast<const N*>(elements);
        else
            inputs[o].elements = reached.emplace_back(elements, Range{0, count - 1}).data();
    }
    const auto write = [&]<class R>(R, auto&& f) {
        Reached<M, R> target(results, {0, count - 1}, false);
        f.to = target.data();
        for_each<M>(count, f);
        target.write_back();
    };
    if (is_complex<N> && function == Function::abs) return write(typename Parts<N>::real(), Magnitudes<N>{inputs[0], nullptr});
    write(N(), Apply<N, std::make_index_sequence<function_names.size()>>{function, inputs[0], inputs[1], nullptr});
}

/// The table's functions of `count` elements that follow one another.
template <class M, class N, template <class> class F, class... More>
void change(void* to, std::int64_t count, More... more) {
    if (count == 0) return;
    Reached<M, N> target(to, {0, count - 1});
    for_each<M>(count, F<N>{target.data(), more...});
    target.write_back();
}

/// Elements times the weights of their indices along an axis.
template <class N>
struct ScaleAlong {
    std::array<std::int64_t, most_axes> sizes{}, strides{};
    int axes, axis;
    const double* weights;
    N* data;
    ARGES_ON_DEVICE void operator()(std::int64_t i) const {
        std::int64_t at = 0, index = 0;
        for (int a = 0; a < axes; ++a) {
            const auto digit = take_digit(i, sizes[a]);
            at += digit * strides[a];
            if (a == axis) index = digit;
        }
        data[at] = times_real<N>(static_cast<typename Parts<N>::real>(weights[index]), data[at]);
    }
};

template <class M, class N>
void scale_along(std::span<const std::int64_t> sizes, std::span<const std::int64_t> strides, int axis, std::span<const double> weights,
                 void* data) {
    if (sizes.size() > most_axes)
        throw Unsupported("weights of more than " + std::to_string(most_axes) + " axes on a device; set ARGES_DEVICE=none");
    Range range;
    std::int64_t count = 1;
    for (std::size_t a = 0; a < sizes.size(); ++a) {
        if ((count *= sizes[a]) == 0) return;
        range.stride(sizes[a], strides[a]);
    }
    Reached<M, N> target(data, range);
    Lists<M> lists;
    ScaleAlong<N> f{.axes = static_cast<int>(sizes.size()), .axis = axis, .weights = lists.put(weights), .data = target.data()};
    std::copy(sizes.begin(), sizes.end(), f.sizes.begin());
    std::copy(strides.begin(), strides.end(), f.strides.begin());
    for_each<M>(count, f);
    target.write_back();
}

/// The packed index of the first element of a row of a triangle.
ARGES_ON_DEVICE inline std::int64_t row_of_triangle(std::int64_t larger, bool strict) {
    return strict ? larger * (larger - 1) / 2 : larger * (larger + 1) / 2;
}

/// One part of a tensor with joint pair symmetry, see PairSplit; `i` counts p0, p1, q0, q1.
template <class N>
struct SplitPair {
    PairSplit split;
    const N* from;
    N* to;
    N alpha;
    bool conjugate;

    ARGES_ON_DEVICE N element(std::int64_t p0, std::int64_t q0, std::int64_t p1, std::int64_t q1) const {
        const auto x = p0 + split.p * q0, y = p1 + split.p * q1;
        return x <= y ? from[row_of_triangle(y, false) + x] : from[row_of_triangle(x, false) + y];
    }
    ARGES_ON_DEVICE void operator()(std::int64_t i) const {
        const auto p0 = take_digit(i, split.p), p1 = take_digit(i, split.p), q0 = take_digit(i, split.q), q1 = i;
        const int strict = split.symmetric ? 0 : 1;
        if (p0 + strict > p1 || q0 + strict > q1) return;
        const N one = element(p0, q0, p1, q1), other = element(p1, q0, p0, q1);
        const N value = related(conjugate ? 2U : 0U, split.symmetric ? one + other : one - other);
        N& target = to[(row_of_triangle(p1, strict) + p0) * split.stride_p + (row_of_triangle(q1, strict) + q0) * split.stride_q];
        target = target + alpha * value;
    }
};

template <class M, class N>
void split_pair(const PairSplit& split, const void* from, void* to, N alpha, bool conjugate) {
    const auto pairs = [&](std::int64_t n) { return row_of_triangle(n, !split.symmetric); };
    if (pairs(split.p) == 0 || pairs(split.q) == 0) return;
    Range written;
    written.stride(pairs(split.p), split.stride_p);
    written.stride(pairs(split.q), split.stride_q);
    Reached<M, N> source(from, {0, row_of_triangle(split.p * split.q, false) - 1}), target(to, written);
    for_each<M>(split.p * split.p * split.q * split.q, SplitPair<N>{split, source.data(), target.data(), alpha, conjugate});
    target.write_back();
}

/// A child of a pair node with its lists on the device.
struct UnpackedChild {
    const std::int64_t *from, *to;
    const std::uint8_t* factor;  ///< null: none
    ARGES_ON_DEVICE unsigned factor_at(std::int64_t i) const { return factor != nullptr ? factor[i] : 0U; }
};

/// A dense array from a packed pair node, see PairUnpack; `i` counts entries of the first child, then of the second.
template <class N>
struct UnpackPair {
    UnpackedChild row, column;
    std::int64_t rows;
    bool strict;
    unsigned upper;  ///< the factor where the children are exchanged
    Moved<N> x;

    ARGES_ON_DEVICE void operator()(std::int64_t i) const {
        const auto e0 = take_digit(i, rows), e1 = i;
        const auto c0 = row.from[e0], c1 = column.from[e1];
        if (strict && c0 == c1) return;
        const N value = x.from[c0 <= c1 ? row_of_triangle(c1, strict) + c0 : row_of_triangle(c0, strict) + c1];
        x.put(column.to[e1] + row.to[e0], x.value(row.factor_at(e0) ^ column.factor_at(e1) ^ (c0 > c1 ? upper : 0U), value));
    }
};

template <class M, class N>
void unpack_pair(const PairUnpack& pair, const void* from, void* to, N alpha, bool conjugate, bool accumulate) {
    const auto &rows = pair.child[0], &columns = pair.child[1];
    if (rows.count() == 0 || columns.count() == 0) return;
    Range written;
    for (const auto* child : {&rows, &columns}) extend(written, child->count(), 1, child->to.data());
    const auto most =
        std::max(*std::max_element(rows.from.begin(), rows.from.end()), *std::max_element(columns.from.begin(), columns.from.end()));
    Reached<M, N> source(from, {0, std::max<std::int64_t>(0, row_of_triangle(most + 1, pair.strict) - 1)}), target(to, written);
    Lists<M> lists;
    const auto on_device = [&](const EntryGroup& child) {
        return UnpackedChild{lists.put(child.from), lists.put(child.to), child.factor.empty() ? nullptr : lists.put(child.factor)};
    };
    Moved<N> x;
    x.from = source.data();
    x.to = target.data();
    x.alpha = alpha;
    x.scaled = alpha != N(1);
    x.accumulate = accumulate;
    x.factor = conjugate ? 2U : 0U;
    const unsigned upper = pair.kind == NodeKind::antisymmetric ? 1 : pair.kind == NodeKind::hermitian ? 2 : 0;
    for_each<M>(rows.count() * columns.count(), UnpackPair<N>{on_device(rows), on_device(columns), rows.count(), pair.strict, upper, x});
    target.write_back();
}

}  // namespace arges::device
