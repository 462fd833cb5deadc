/// Contractions on a device: matrix products of operands that are copied where they are no matrices, and sums where they are small.
#pragma once

#include "device/transfers.hpp"
#include "local/contract_plan.hpp"
#include "local/row_products.hpp"

namespace arges::device {

/// Axes of a contraction for a kernel.
struct SummedAxes {
    std::array<local::FoldAxis, most_axes> axis{};
    int axes = 0;
    explicit SummedAxes(const std::vector<local::FoldAxis>& given) {
        if (given.size() > most_axes)
            throw Unsupported("a product over more than " + std::to_string(most_axes) + " axes on a device; set ARGES_DEVICE=none");
        for (const auto& one : given) axis[axes++] = one;
    }
    ARGES_ON_DEVICE void place(std::int64_t number, std::int64_t& a, std::int64_t& b, std::int64_t& c) const {
        for (int i = 0; i < axes; ++i) {
            const auto digit = i + 1 < axes ? take_digit(number, axis[i].size) : number;
            a += digit * axis[i].stride_a;
            b += digit * axis[i].stride_b;
            c += digit * axis[i].stride_c;
        }
    }
};

/// C = alpha * (the sum over k of A * B, or of A) + beta * C, element by element.
template <class N>
struct ProductSums {
    SummedAxes out, k;
    std::int64_t terms;
    N alpha, beta;
    const N *a, *b;  ///< b null: ones
    N* c;
    using Value = N;

    ARGES_ON_DEVICE N none() const { return N(0); }
    ARGES_ON_DEVICE N add(N x, N y) const { return x + y; }
    ARGES_ON_DEVICE N partial(std::int64_t group, std::int64_t first, std::int64_t step) const {
        std::int64_t at_a = 0, at_b = 0, at_c = 0;
        out.place(group, at_a, at_b, at_c);
        N sum(0);
        for (auto t = first; t < terms; t += step) {
            auto in_a = at_a, in_b = at_b;
            k.place(t, in_a, in_b, at_c);
            sum = sum + (b != nullptr ? a[in_a] * b[in_b] : a[in_a]);
        }
        return sum;
    }
    ARGES_ON_DEVICE void store(std::int64_t group, N sum) const {
        std::int64_t at_a = 0, at_b = 0, at_c = 0;
        out.place(group, at_a, at_b, at_c);
        const N value = terms > 0 ? alpha * sum : N(0);
        c[at_c] = beta == N(0) ? value : value + beta * c[at_c];
    }
};

/// One call of the table's contract: T as BLAS has it, N as kernels have it.
template <class M, class T>
class Contraction {
public:
    using N = number_of<T>;

    /// @param b  null: ones
    void run(local::FoldedContraction f, N alpha, const N* a, const N* b, N beta, N* c) {
        const auto m = local::entries(f.m), n = local::entries(f.n), k = local::entries(f.k);
        constexpr std::int64_t least_edge = 8, least_terms = 4, least_products = 4096;
        if (b == nullptr || k < least_terms || std::max(m, n) < least_edge || m * n * k < least_products) {
            auto out = local::sorted_by(local::join({f.m, f.n, f.batch}), &local::FoldAxis::stride_c);
            const auto terms = local::sorted_by(f.k, &local::FoldAxis::stride_a);
            return sums<M>(m * n * local::entries(f.batch), k, ProductSums<N>{SummedAxes(out), SummedAxes(terms), k, alpha, beta, a, b, c});
        }
        auto plan = best(f, alpha == N(0));
        if (auto* const halved = axis_to_halve(f); halved != nullptr && local::packed_elements(plan) * sizeof(N) > most_copied) {
            const auto whole = *halved;
            halved->size = whole.size / 2;
            run(f, alpha, a, b, beta, c);
            const auto first = halved->size;
            halved->size = whole.size - first;
            return run(f, alpha, a + first * whole.stride_a, b + first * whole.stride_b, whole.stride_c == 0 ? N(1) : beta,
                       c + first * whole.stride_c);
        }
        by_matrices(plan, alpha, a, b, beta, c);
    }

private:
    using Axes = std::vector<local::FoldAxis>;
    static constexpr std::size_t most_copied = std::size_t{1} << 30;

    static local::FoldAxis* axis_to_halve(local::FoldedContraction& f) {
        local::FoldAxis* longest = nullptr;
        for (auto* axes : {&f.batch, &f.m, &f.n, &f.k})
            for (auto& axis : *axes)
                if (axis.size > 1 && (longest == nullptr || axis.size > longest->size)) longest = &axis;
        return longest;
    }

    /// Each group in the order of one of its operands; the orders that copy least.
    static local::GemmPlan best(const local::FoldedContraction& f, bool pack_c) {
        using local::FoldAxis;
        local::GemmPlan found;
        std::int64_t least = -1;
        for (const auto m_by : {&FoldAxis::stride_a, &FoldAxis::stride_c})
            for (const auto n_by : {&FoldAxis::stride_b, &FoldAxis::stride_c})
                for (const auto k_by : {&FoldAxis::stride_a, &FoldAxis::stride_b}) {
                    local::GemmPlan plan{.m = local::sorted_by(f.m, m_by),
                                         .n = local::sorted_by(f.n, n_by),
                                         .k = local::sorted_by(f.k, k_by),
                                         .loops = local::sorted_by(f.batch, &FoldAxis::stride_c),
                                         .k_loops = {}};
                    plan.pack_a = !local::is_matrix(plan.m, plan.k, &FoldAxis::stride_a);
                    plan.pack_b = !local::is_matrix(plan.k, plan.n, &FoldAxis::stride_b);
                    const local::MatrixProduct product(plan);
                    plan.pack_c = pack_c || !local::is_matrix(plan.m, plan.n, &FoldAxis::stride_c) ||
                                  (product.size.n == 1 && product.result_step > 1);
                    const auto copied = local::packed_elements(plan);
                    if (least >= 0 && copied >= least) continue;
                    least = copied;
                    found = std::move(plan);
                }
        return found;
    }

    static void by_matrices(local::GemmPlan& plan, N alpha, const N* a, const N* b, N beta, N* c) {
        using local::FoldAxis;
        Buffer<N> room_a, room_b, room_c;
        if (plan.pack_a) a = packed(local::copy_order(plan, plan.m, plan.k, &FoldAxis::stride_a), &FoldAxis::stride_a, a, room_a);
        if (plan.pack_b) b = packed(local::copy_order(plan, plan.k, plan.n, &FoldAxis::stride_b), &FoldAxis::stride_b, b, room_b);
        if (!plan.pack_c) return multiply(plan, alpha, a, b, beta, c);
        auto axes = local::use_copy(local::copy_order(plan, plan.m, plan.n, &FoldAxis::stride_c), &FoldAxis::stride_c);
        room_c = Buffer<N>(local::count(axes), &M::space());
        for (auto& axis : axes) std::swap(axis.from_stride, axis.to_stride);
        if (beta != N(0) && beta != N(1)) {
            auto in_place = axes;
            for (auto& axis : in_place) axis.from_stride = axis.to_stride;
            transfer<M, N>(in_place, c, c, beta, {});
        }
        // BLAS does not read what it multiplies by zero, and would hide a NaN.
        const bool is_zero = alpha == N(0);
        multiply(plan, is_zero ? N(1) : alpha, a, b, N(0), room_c.data());
        transfer<M, N>(axes, room_c.data(), c, is_zero ? alpha : N(1), {.accumulate = beta != N(0)});
    }

    static const N* packed(const local::CopyOrder& order, local::OperandStride stride, const N* data, Buffer<N>& room) {
        const auto axes = local::use_copy(order, stride);
        room = Buffer<N>(local::count(axes), &M::space());
        transfer<M, N>(axes, data, room.data(), N(1), {});
        return room.data();
    }

    /// The longest axis of the batch in one call.
    static void multiply(const local::GemmPlan& plan, N alpha, const N* a, const N* b, N beta, N* c) {
        const local::MatrixProduct product(plan);
        Axes loops = plan.loops;
        local::FoldAxis batch;
        if (const auto longest = std::max_element(loops.begin(), loops.end(), [](auto& x, auto& y) { return x.size < y.size; });
            longest != loops.end()) {
            batch = *longest;
            loops.erase(longest);
        }
        const auto number = [](N x) {
            T result;
            std::memcpy(static_cast<void*>(&result), &x, sizeof x);
            return result;
        };
        local::FoldWalker at(loops, 0);
        for (auto i = local::entries(loops); i > 0; --i, at.next()) {
            const T *left = reinterpret_cast<const T*>(a + at.at().a), *right = reinterpret_cast<const T*>(b + at.at().b);
            auto step_left = batch.stride_a, step_right = batch.stride_b;
            if (product.flipped) {
                std::swap(left, right);
                std::swap(step_left, step_right);
            }
            M::template multiply<T>({product.size.m, product.size.n, product.size.k, batch.size, number(alpha), number(beta), left, right,
                                     reinterpret_cast<T*>(c + at.at().c), product.left.transposed, product.right.transposed,
                                     product.left.ld, product.right.ld, std::max(product.result_ld, product.size.m), step_left, step_right,
                                     batch.stride_c});
        }
    }
};

/// The offsets of an operand.
inline Range range_of(const local::FoldedContraction& f, local::OperandStride stride) {
    Range range;
    for (const auto* axes : {&f.m, &f.n, &f.k, &f.batch})
        for (const auto& axis : *axes) range.stride(axis.size, axis.*stride);
    return range;
}

/// As the tables' contract: arrays may be the host's. @param b  null: ones
template <class M, class T, class N = number_of<T>>
void contract(const local::FoldedContraction& given, N alpha, const void* a, const void* b, N beta, void* c) {
    const auto f = local::simplify(given);
    const auto written = local::join({f.m, f.n, f.batch});
    if (local::entries(written) == 0) return;
    const bool empty = local::entries(f.k) == 0;
    if (empty && beta == N(1)) return;
    const auto of_c = range_of(f, &local::FoldAxis::stride_c);
    Reached<M, N> left(empty ? nullptr : a, empty ? Range() : range_of(f, &local::FoldAxis::stride_a)),
        right(empty ? nullptr : b, empty ? Range() : range_of(f, &local::FoldAxis::stride_b)),
        result(c, of_c, beta != N(0) || local::entries(written) != of_c.size());
    Contraction<M, T>().run(f, alpha, left.data(), right.data(), beta, result.data());
    result.write_back();
}

/// Products with a packed pair node, element by element of the result.
template <class N>
struct RowSums {
    local::RowProduct x;
    N alpha;
    const N *a, *b;
    N* c;
    std::int64_t count = 0;  ///< terms()
    using Value = N;

    std::int64_t groups() const { return entries(false) * x.columns; }
    std::int64_t terms() const { return entries(true); }
    std::int64_t entries(bool summed) const {
        std::int64_t product = 1;
        for (const auto& child : x.child)
            for (const auto& factor : child)
                if (factor.summed == summed) product *= factor.count;
        return product;
    }
    ARGES_ON_DEVICE N none() const { return N(0); }
    ARGES_ON_DEVICE N add(N y, N z) const { return y + z; }
    /// Adds what the digits of a number give to the children's indices and an offset.
    ARGES_ON_DEVICE void place(bool summed, std::int64_t number, std::int64_t (&index)[2], std::int64_t& at) const {
        for (int i = 0; i < 2; ++i) {
            std::int64_t weight = 1;
            for (int j = 0; j < 2; ++j) {
                const auto& factor = x.child[i][j];
                if (factor.summed == summed) {
                    const auto digit = take_digit(number, factor.count);
                    index[i] += weight * digit;
                    at += digit * factor.stride;
                }
                weight *= factor.count;
            }
        }
    }
    /// A(p, q) from the rows that are here.
    ARGES_ON_DEVICE N element(std::int64_t p, std::int64_t q) const {
        const auto low = p < q ? p : q, high = p < q ? q : p;
        auto row = high - x.first_row;
        if (row < 0 || (low == high && x.strict) || (p > q && x.once)) return N(0);
        if (take_digit(row, x.row_step) != 0 || row >= x.rows) return N(0);
        const N value = a[x.row_start(row) + low];
        if (p > q) return times_real<N>(static_cast<typename Parts<N>::real>(x.swapped), value);
        return p == q && x.once ? times_real<N>(typename Parts<N>::real(0.5), value) : value;
    }
    ARGES_ON_DEVICE N partial(std::int64_t group, std::int64_t first, std::int64_t step) const {
        std::int64_t at = 0, free[2] = {0, 0};
        const auto column = take_digit(group, x.columns);
        place(false, group, free, at);
        N sum(0);
        for (auto t = first; t < count; t += step) {
            std::int64_t index[2] = {free[0], free[1]}, from = column;
            place(true, t, index, from);
            sum = sum + element(index[0], index[1]) * b[from];
        }
        return sum;
    }
    ARGES_ON_DEVICE void store(std::int64_t group, N sum) const {
        std::int64_t index[2] = {0, 0}, at = take_digit(group, x.columns);
        place(false, group, index, at);
        c[at] = c[at] + alpha * sum;
    }
};

template <class M, class N>
void multiply_rows(const local::RowProduct& product, N alpha, const void* a, const void* b, void* c, std::int64_t result) {
    if (product.columns == 0 || product.rows == 0) return;
    Range of_b{0, product.columns - 1};
    for (const auto& child : product.child)
        for (const auto& factor : child)
            if (factor.summed) of_b.stride(factor.count, factor.stride);
    Reached<M, N> left(a, {0, product.elements() - 1}), right(b, of_b), sum(c, {0, result - 1});
    RowSums<N> f{product, alpha, left.data(), right.data(), sum.data()};
    f.count = f.terms();
    sums<M>(f.groups(), f.count, f);
    sum.write_back();
}

}  // namespace arges::device
