/// A few columns of a row, held in registers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace arges::sparse {

/// Columns that one pass over the nonzeros works on at most, unless their number is known when compiling.
constexpr int max_lane_columns = 64;

/// R columns, R a multiple of 4 known when compiling: arithmetic on vectors of at most 32 bytes, which GCC and Clang map to
/// whatever the processor has.
template <class T, int R>
class Lanes {
    static constexpr int width = std::min(R, static_cast<int>(32 / sizeof(T)));
    static constexpr int vectors = R / width;
    static_assert(R % width == 0);
    typedef T Vector __attribute__((vector_size(width * sizeof(T))));
    /// Rows lie on any boundary.
    static Vector at(const T* p, int i) {
        Vector v;
        std::memcpy(&v, p + i * width, sizeof v);
        return v;
    }
    static void put(T* p, int i, const Vector& v) { std::memcpy(p + i * width, &v, sizeof v); }

public:
    explicit Lanes(int) {}
    void clear() {
        for (int i = 0; i < vectors; ++i) v_[i] = Vector{};
    }
    void load(const T* a) {
        for (int i = 0; i < vectors; ++i) v_[i] = at(a, i);
    }
    /// this = s a
    void load_scaled(T s, const T* a) {
        for (int i = 0; i < vectors; ++i) v_[i] = s * at(a, i);
    }
    /// this = b a
    void load_product(const Lanes& b, const T* a) {
        for (int i = 0; i < vectors; ++i) v_[i] = b.v_[i] * at(a, i);
    }
    void scale(T s) {
        for (int i = 0; i < vectors; ++i) v_[i] *= s;
    }
    void multiply(const T* a) {
        for (int i = 0; i < vectors; ++i) v_[i] *= at(a, i);
    }
    /// this += s
    void add(T s) {
        for (int i = 0; i < vectors; ++i) v_[i] += s;
    }
    void add(const Lanes& b) {
        for (int i = 0; i < vectors; ++i) v_[i] += b.v_[i];
    }
    /// this += s a
    void add_scaled(T s, const T* a) {
        for (int i = 0; i < vectors; ++i) v_[i] += s * at(a, i);
    }
    /// this += s a b
    void add_scaled(T s, const T* a, const T* b) {
        for (int i = 0; i < vectors; ++i) v_[i] += (s * at(a, i)) * at(b, i);
    }
    /// this += s a b c
    void add_scaled(T s, const T* a, const T* b, const T* c) {
        for (int i = 0; i < vectors; ++i) v_[i] += (s * at(a, i)) * (at(b, i) * at(c, i));
    }
    /// this += b a
    void add_product(const Lanes& b, const T* a) {
        for (int i = 0; i < vectors; ++i) v_[i] += b.v_[i] * at(a, i);
    }
    void store(T* out) const {
        for (int i = 0; i < vectors; ++i) put(out, i, v_[i]);
    }
    void add_to(T* out) const {
        for (int i = 0; i < vectors; ++i) put(out, i, at(out, i) + v_[i]);
    }
    /// out += b this
    void add_product_to(const Lanes& b, T* out) const {
        for (int i = 0; i < vectors; ++i) put(out, i, at(out, i) + b.v_[i] * v_[i]);
    }
    void add_scaled_to(T s, T* out) const {
        for (int i = 0; i < vectors; ++i) put(out, i, at(out, i) + s * v_[i]);
    }

private:
    Vector v_[vectors];
};

/// Any number of columns up to max_lane_columns.
template <class T>
class Lanes<T, 0> {
public:
    explicit Lanes(int columns) : n_(columns) {}
    void clear() { std::fill(v_, v_ + n_, T(0)); }
    void load(const T* a) {
        each([&](int r) { v_[r] = a[r]; });
    }
    void load_scaled(T s, const T* a) {
        each([&](int r) { v_[r] = s * a[r]; });
    }
    void load_product(const Lanes& b, const T* a) {
        each([&](int r) { v_[r] = b.v_[r] * a[r]; });
    }
    void scale(T s) {
        each([&](int r) { v_[r] *= s; });
    }
    void multiply(const T* a) {
        each([&](int r) { v_[r] *= a[r]; });
    }
    void add(T s) {
        each([&](int r) { v_[r] += s; });
    }
    void add(const Lanes& b) {
        each([&](int r) { v_[r] += b.v_[r]; });
    }
    void add_scaled(T s, const T* a) {
        each([&](int r) { v_[r] += s * a[r]; });
    }
    void add_scaled(T s, const T* a, const T* b) {
        each([&](int r) { v_[r] += (s * a[r]) * b[r]; });
    }
    void add_scaled(T s, const T* a, const T* b, const T* c) {
        each([&](int r) { v_[r] += (s * a[r]) * (b[r] * c[r]); });
    }
    void add_product(const Lanes& b, const T* a) {
        each([&](int r) { v_[r] += b.v_[r] * a[r]; });
    }
    void store(T* out) const {
        each([&](int r) { out[r] = v_[r]; });
    }
    void add_to(T* out) const {
        each([&](int r) { out[r] += v_[r]; });
    }
    void add_product_to(const Lanes& b, T* out) const {
        each([&](int r) { out[r] += b.v_[r] * v_[r]; });
    }
    void add_scaled_to(T s, T* out) const {
        each([&](int r) { out[r] += s * v_[r]; });
    }

private:
    template <class F>
    void each(F&& f) const {
#pragma omp simd
        for (int r = 0; r < n_; ++r) f(r);
    }
    int n_;
    alignas(64) T v_[max_lane_columns];
};

/// Asks the memory for the first columns of a row that is soon read: R of them, or `columns` if R is 0.
template <int R, class T>
[[gnu::always_inline]] inline void prefetch_row(const T* row, int columns) {
    const auto* bytes = reinterpret_cast<const char*>(row);
    if constexpr (R > 0) {
#pragma GCC unroll 8
        for (std::size_t i = 0; i < R * sizeof(T); i += 64) __builtin_prefetch(bytes + i);
    } else {
        for (std::size_t i = 0; i < static_cast<std::size_t>(columns) * sizeof(T); i += 64) __builtin_prefetch(bytes + i);
    }
}

/// Calls f(std::integral_constant<int, R>, first column, number of columns) until all columns are done. R is their number (4, 8,
/// 16 or 32), or 0 for another number below max_lane_columns. Example: 80 columns are 32, 32 and 16; 17 columns are 17 (R = 0).
template <class F>
void for_column_chunks(int columns, F&& f) {
    for (int first = 0; first < columns;) {
        const int left = columns - first;
        int taken = left;
        if (left >= max_lane_columns || left == 48 || left == 32)
            f(std::integral_constant<int, 32>(), first, taken = 32);
        else if (left == 16)
            f(std::integral_constant<int, 16>(), first, taken);
        else if (left == 8)
            f(std::integral_constant<int, 8>(), first, taken);
        else if (left == 4)
            f(std::integral_constant<int, 4>(), first, taken);
        else
            f(std::integral_constant<int, 0>(), first, taken);
        first += taken;
    }
}

}  // namespace arges::sparse
