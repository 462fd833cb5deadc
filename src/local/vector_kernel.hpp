/// Contraction loops with a vector axis innermost.
#pragma once

#include "local/scalar.hpp"

#include <cstdint>
#include <span>

namespace arges::local {

/// Where A and B are for every product that is summed into an element of C.
struct ProductOffsets {
    std::span<const std::int64_t> a, b;
};

/// Strides of the vector axis.
struct VectorStrides {
    std::int64_t a = 0, b = 0, c = 0;
};

/// C = alpha * sum + beta * C.
template <class T>
struct Update {
    T alpha, beta;
    void operator()(T& c, T sum) const {
        if (beta == T(0))
            c = multiply(alpha, sum);
        else
            c = multiply(alpha, sum) + multiply(beta, c);
    }
};

/// The innermost loops. `known_a` and `known_b` are the strides of A and B where they are 0 or 1,
/// and -1 where they are not known in advance.
template <class T, int known_a, int known_b>
struct VectorLoop {
    VectorStrides strides;
    ProductOffsets products;
    Update<T> update;

    static constexpr int widest = 128 / static_cast<int>(sizeof(T));

    std::int64_t step_a() const { return known_a >= 0 ? known_a : strides.a; }
    std::int64_t step_b() const { return known_b >= 0 ? known_b : strides.b; }

    /// Computes `count` elements of C along the vector axis: `width` at a time while they last,
    /// then fewer.
    template <int width = widest>
    void run(const T* a, const T* b, T* c, std::int64_t count) const {
        for (; count >= width; count -= width) {
            T sum[width] = {};
            for (std::size_t p = 0; p < products.a.size(); ++p) add<width>(a + products.a[p], b + products.b[p], sum);
            if (strides.c == 1)
                for (int i = 0; i < width; ++i) update(c[i], sum[i]);
            else
                for (int i = 0; i < width; ++i) update(c[i * strides.c], sum[i]);
            a += width * step_a();
            b += width * step_b();
            c += width * strides.c;
        }
        if constexpr (width > 1) run<width / 2>(a, b, c, count);
    }

    /// The sum over `count` entries of the vector axis and all products.
    T sum(const T* a, const T* b, std::int64_t count) const {
        T partial[widest] = {};
        T rest = 0;
        for (std::size_t p = 0; p < products.a.size(); ++p) {
            const T *at_a = a + products.a[p], *at_b = b + products.b[p];
            std::int64_t i = 0;
            for (; i + widest <= count; i += widest) add<widest>(at_a + i * step_a(), at_b + i * step_b(), partial);
            for (; i < count; ++i) rest += multiply(at_a[i * step_a()], at_b[i * step_b()]);
        }
        for (const T& x : partial) rest += x;
        return rest;
    }

private:
    template <int width>
    void add(const T* a, const T* b, T* sum) const {
        const std::int64_t to_next_a = step_a(), to_next_b = step_b();
#pragma omp simd
        for (int i = 0; i < width; ++i) sum[i] += multiply(a[i * to_next_a], b[i * to_next_b]);
    }
};

/// Calls visit(loop) with the loop that fits the strides of A and B.
template <class T, class Visitor>
void with_vector_loop(VectorStrides strides, ProductOffsets products, Update<T> update, Visitor visit) {
    if (strides.a == 1 && strides.b == 1)
        visit(VectorLoop<T, 1, 1>{strides, products, update});
    else if (strides.a == 1 && strides.b == 0)
        visit(VectorLoop<T, 1, 0>{strides, products, update});
    else if (strides.a == 0 && strides.b == 1)
        visit(VectorLoop<T, 0, 1>{strides, products, update});
    else
        visit(VectorLoop<T, -1, -1>{strides, products, update});
}

}  // namespace arges::local
