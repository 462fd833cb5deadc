// The tables of the element types of BLAS.
#include "linalg/matrix_kernels.hpp"

#include "arges/error.hpp"
#include "local/scalar.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace arges::linalg {

namespace {

/// Loops over elements of a type.
template <class T>
struct Loops {
    using R = real_of<T>;
    static const T* in(const void* elements) { return static_cast<const T*>(elements); }
    static T* out(void* elements) { return static_cast<T*>(elements); }

    /// Without a branch in the loop.
    static bool all_finite(const void* elements, std::int64_t count) {
        const auto* const values = static_cast<const R*>(elements);
        const auto parts = count * std::int64_t{sizeof(T) / sizeof(R)};
        R sum = 0;
#pragma omp simd reduction(+ : sum)
        for (std::int64_t i = 0; i < parts; ++i) sum += values[i] * R(0);
        return sum == R(0);
    }
    static std::vector<double> real_parts(const void* elements, std::int64_t count) {
        std::vector<double> result(count);
        std::transform(in(elements), in(elements) + count, result.begin(), [](T x) { return std::real(x); });
        return result;
    }
    static void set(const double* values, std::int64_t count, void* elements) {
        std::transform(values, values + count, out(elements), [](double x) { return T(static_cast<R>(x)); });
    }
    static void set_reals(const void* reals, std::int64_t count, void* elements) {
        std::copy_n(static_cast<const R*>(reals), count, out(elements));
    }
    static void compare(const void* a, const void* b, std::int64_t count, double& difference, double& size) {
        for (std::int64_t i = 0; i < count; ++i) {
            difference = std::max(difference, static_cast<double>(std::abs(in(a)[i] - in(b)[i])));
            size = std::max(size, static_cast<double>(std::abs(in(a)[i])));
        }
    }
    static void phases(const std::complex<double>* d, std::int64_t count, void* phases) {
        std::transform(d, d + count, out(phases), [](std::complex<double> x) {
            T own = static_cast<R>(x.real());
            if constexpr (local::is_complex<T>) own = T(x);
            const auto size = std::abs(own);
            return size == 0 ? T(1) : own / size;
        });
    }
    static void multiply(const void* factors, bool conjugate, const void* from, void* to, std::int64_t count) {
        for (std::int64_t i = 0; i < count; ++i)
            out(to)[i] = local::multiply(conjugate ? local::conjugate(in(factors)[i]) : in(factors)[i], in(from)[i]);
    }
    static void scale(const void* factor, void* elements, std::int64_t count) {
        const T number = *in(factor);
        if (number != T(1))
            for (std::int64_t i = 0; i < count; ++i) out(elements)[i] = local::multiply(number, in(elements)[i]);
    }
    static void make_diagonal_real(void* R, std::int64_t width, std::int64_t columns, void* phases) {
        T* const r = out(R);
        for (std::int64_t i = 0; i < width; ++i) {
            const T diagonal = r[i + i * width];
            const auto size = std::abs(diagonal);
            const T phase = size == 0 ? T(1) : diagonal / size;
            out(phases)[i] = phase;
            if (phase == T(1)) continue;
            for (std::int64_t j = i; j < columns; ++j) r[i + j * width] *= local::conjugate(phase);
            r[i + i * width] = size;
        }
    }
};

/// Drivers for real elements with the arguments of those for complex ones.
template <auto routine>
void without_reals(Char job, Char uplo, Int n, void* a, Int lda, void* w, void* work, Int lwork, void*, Int, int* integers, Int count,
                   int* info, Length, Length) {
    routine(job, uplo, n, a, lda, w, work, lwork, integers, count, info, 1, 1);
}
template <auto routine>
void without_reals(Char job, Char uplo, Int n, void* a, Int ia, Int ja, Int desc, void* w, void* z, Int iz, Int jz, Int descz, void* work,
                   Int lwork, void*, Int, int* integers, Int count, int* info, Length, Length) {
    routine(job, uplo, n, a, ia, ja, desc, w, z, iz, jz, descz, work, lwork, integers, count, info, 1, 1);
}

template <class T>
const MatrixKernels& table();

#define ARGES_ROUTINE(name, routine) routine,
// As for ARGES_MATRIX_ROUTINES; then the drivers for eigenvalues.
#define ARGES_TABLE(T, x, r, og, sy, evd, pevd)                                                                                            \
    template <>                                                                                                                            \
    const MatrixKernels& table<T>() {                                                                                                      \
        using L = Loops<T>;                                                                                                                \
        static const MatrixKernels kernels{element_kernels<T>,                                                                             \
                                           sizeof(real_of<T>) == sizeof(T) ? &kernels : &table<real_of<T>>(),                              \
                                           sizeof(T),                                                                                      \
                                           std::numeric_limits<real_of<T>>::epsilon(),                                                     \
                                           local::is_complex<T> ? "C" : "T",                                                               \
                                           ARGES_MATRIX_ROUTINES(ARGES_ROUTINE, x, r, og, sy) evd,                                         \
                                           pevd,                                                                                           \
                                           L::all_finite,                                                                                  \
                                           L::real_parts,                                                                                  \
                                           L::set,                                                                                         \
                                           L::set_reals,                                                                                   \
                                           L::compare,                                                                                     \
                                           L::phases,                                                                                      \
                                           L::multiply,                                                                                    \
                                           L::scale,                                                                                       \
                                           L::make_diagonal_real};                                                                         \
        return kernels;                                                                                                                    \
    }
ARGES_TABLE(float, s, s, or, sy, without_reals<ssyevd_>, without_reals<pssyevd_>)
ARGES_TABLE(double, d, d, or, sy, without_reals<dsyevd_>, without_reals<pdsyevd_>)
ARGES_TABLE(std::complex<float>, c, s, un, he, cheevd_, pcheevd_)
ARGES_TABLE(std::complex<double>, z, d, un, he, zheevd_, pzheevd_)
#undef ARGES_TABLE
#undef ARGES_ROUTINE

}  // namespace

const MatrixKernels& matrix_kernels(const ElementKernels& elements) {
    if (*elements.type == typeid(float)) return table<float>();
    if (*elements.type == typeid(double)) return table<double>();
    if (*elements.type == typeid(std::complex<float>)) return table<std::complex<float>>();
    if (*elements.type == typeid(std::complex<double>)) return table<std::complex<double>>();
    throw Unsupported("linear algebra with elements of type " + std::string(elements.name) +
                      "; make a tensor of float, double or complex elements");
}

}  // namespace arges::linalg
