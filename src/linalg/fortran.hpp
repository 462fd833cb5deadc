/// The routines of LAPACK, ScaLAPACK and the BLACS that the library calls, by element type. The hidden lengths of characters
/// stand at the end.
#pragma once

#include "arges/scalar.hpp"

#include <mpi.h>

#include <complex>
#include <cstddef>

namespace arges::linalg {

using Int = const int*;
using Char = const char*;
using Length = std::size_t;
using ComplexFloat = std::complex<float>;
using ComplexDouble = std::complex<double>;

extern "C" {

int Csys2blacs_handle(MPI_Comm comm);
void Cfree_blacs_system_handle(int handle);
void Cblacs_gridmap(int* context, int* ranks, int leading_dimension, int rows, int columns);
void Cblacs_gridexit(int context);
void Cblacs_set(int context, int what, int* value);
void pb_topget_(Int context, Char operation, Char scope, char* topology, Length, Length, Length);
void pb_topset_(Int context, Char operation, Char scope, Char topology, Length, Length, Length);

// x: prefix; T: element type; R: its real type; og: or, un
#define ARGES_DECLARE(x, T, R, og)                                                                                                         \
    void x##geqrt_(Int m, Int n, Int nb, T* a, Int lda, T* t, Int ldt, T* work, int* info);                                                \
    void x##larfb_(Char side, Char trans, Char direct, Char storev, Int m, Int n, Int k, const T* v, Int ldv, const T* t, Int ldt, T* c,   \
                   Int ldc, T* work, Int ldwork, Length, Length, Length, Length);                                                          \
    void x##tpqrt_(Int m, Int n, Int l, Int nb, T* a, Int lda, T* b, Int ldb, T* t, Int ldt, T* work, int* info);                          \
    void x##tpmqrt_(Char side, Char trans, Int m, Int n, Int k, Int l, Int nb, const T* v, Int ldv, const T* t, Int ldt, T* a, Int lda,    \
                    T* b, Int ldb, T* work, int* info, Length, Length);                                                                    \
    void x##gebrd_(Int m, Int n, T* a, Int lda, R* d, R* e, T* tauq, T* taup, T* work, Int lwork, int* info);                              \
    void x##og##mbr_(Char vect, Char side, Char trans, Int m, Int n, Int k, const T* a, Int lda, const T* tau, T* c, Int ldc, T* work,     \
                     Int lwork, int* info, Length, Length, Length);                                                                        \
    void x##potrf_(Char uplo, Int n, T* a, Int lda, int* info, Length);                                                                    \
    void x##potri_(Char uplo, Int n, T* a, Int lda, int* info, Length);                                                                    \
    void x##trsm_(Char side, Char uplo, Char trans, Char diag, Int m, Int n, const T* alpha, const T* a, Int lda, T* b, Int ldb, Length,   \
                  Length, Length, Length);                                                                                                 \
    void p##x##geqrf_(Int m, Int n, T* a, Int ia, Int ja, Int desc, T* tau, T* work, Int lwork, int* info);                                \
    void p##x##og##gqr_(Int m, Int n, Int k, T* a, Int ia, Int ja, Int desc, const T* tau, T* work, Int lwork, int* info);                 \
    void p##x##gebrd_(Int m, Int n, T* a, Int ia, Int ja, Int desc, R* d, R* e, T* tauq, T* taup, T* work, Int lwork, int* info);          \
    void p##x##og##mbr_(Char vect, Char side, Char trans, Int m, Int n, Int k, const T* a, Int ia, Int ja, Int desc, const T* tau, T* c,   \
                        Int ic, Int jc, Int descc, T* work, Int lwork, int* info, Length, Length, Length);                                 \
    void p##x##potrf_(Char uplo, Int n, T* a, Int ia, Int ja, Int desc, int* info, Length);                                                \
    void p##x##trsm_(Char side, Char uplo, Char trans, Char diag, Int m, Int n, const T* alpha, const T* a, Int ia, Int ja, Int desc,      \
                     T* b, Int ib, Int jb, Int descb, Length, Length, Length, Length);                                                     \
    void p##x##gemr2d_(Int m, Int n, const T* a, Int ia, Int ja, Int desc, T* b, Int ib, Int jb, Int descb, Int context);
ARGES_DECLARE(s, float, float, or)
ARGES_DECLARE(d, double, double, or)
ARGES_DECLARE(c, ComplexFloat, float, un)
ARGES_DECLARE(z, ComplexDouble, double, un)
#undef ARGES_DECLARE

#define ARGES_DECLARE_REAL(x, R)                                                                                                           \
    void x##syev_(Char jobz, Char uplo, Int n, R* a, Int lda, R* w, R* work, Int lwork, int* info, Length, Length);                        \
    void x##syevd_(Char jobz, Char uplo, Int n, R* a, Int lda, R* w, R* work, Int lwork, int* iwork, Int liwork, int* info, Length,        \
                   Length);                                                                                                                \
    void p##x##syevd_(Char jobz, Char uplo, Int n, R* a, Int ia, Int ja, Int desc, R* w, R* z, Int iz, Int jz, Int descz, R* work,         \
                      Int lwork, int* iwork, Int liwork, int* info, Length, Length);                                                       \
    void p##x##sytrd_(Char uplo, Int n, R* a, Int ia, Int ja, Int desc, R* d, R* e, R* tau, R* work, Int lwork, int* info, Length);        \
    void x##bdsdc_(Char uplo, Char compq, Int n, R* d, R* e, R* u, Int ldu, R* vt, Int ldvt, R* q, int* iq, R* work, int* iwork,           \
                   int* info, Length, Length);                                                                                             \
    void x##sterf_(Int n, R* d, R* e, int* info);
ARGES_DECLARE_REAL(s, float)
ARGES_DECLARE_REAL(d, double)
#undef ARGES_DECLARE_REAL

#define ARGES_DECLARE_COMPLEX(x, T, R)                                                                                                     \
    void x##heevd_(Char jobz, Char uplo, Int n, T* a, Int lda, R* w, T* work, Int lwork, R* rwork, Int lrwork, int* iwork, Int liwork,     \
                   int* info, Length, Length);                                                                                             \
    void p##x##heevd_(Char jobz, Char uplo, Int n, T* a, Int ia, Int ja, Int desc, R* w, T* z, Int iz, Int jz, Int descz, T* work,         \
                      Int lwork, R* rwork, Int lrwork, int* iwork, Int liwork, int* info, Length, Length);                                 \
    void p##x##hetrd_(Char uplo, Int n, T* a, Int ia, Int ja, Int desc, R* d, R* e, T* tau, T* work, Int lwork, int* info, Length);
ARGES_DECLARE_COMPLEX(c, ComplexFloat, float)
ARGES_DECLARE_COMPLEX(z, ComplexDouble, double)
#undef ARGES_DECLARE_COMPLEX

}  // extern "C"

/// The routines of an element type, by their names without prefixes.
template <class T>
struct Fortran;

#define ARGES_ROUTINES(x, T, og, sy)                                                                                                       \
    template <>                                                                                                                            \
    struct Fortran<T> {                                                                                                                    \
        static constexpr auto geqrt = x##geqrt_;                                                                                           \
        static constexpr auto larfb = x##larfb_;                                                                                           \
        static constexpr auto tpqrt = x##tpqrt_;                                                                                           \
        static constexpr auto tpmqrt = x##tpmqrt_;                                                                                         \
        static constexpr auto gebrd = x##gebrd_;                                                                                           \
        static constexpr auto ormbr = x##og##mbr_;                                                                                         \
        static constexpr auto potrf = x##potrf_;                                                                                           \
        static constexpr auto potri = x##potri_;                                                                                           \
        static constexpr auto trsm = x##trsm_;                                                                                             \
        static constexpr auto syevd = x##sy##evd_;                                                                                         \
        static constexpr auto pgeqrf = p##x##geqrf_;                                                                                       \
        static constexpr auto porgqr = p##x##og##gqr_;                                                                                     \
        static constexpr auto pgebrd = p##x##gebrd_;                                                                                       \
        static constexpr auto pormbr = p##x##og##mbr_;                                                                                     \
        static constexpr auto ppotrf = p##x##potrf_;                                                                                       \
        static constexpr auto ptrsm = p##x##trsm_;                                                                                         \
        static constexpr auto pgemr2d = p##x##gemr2d_;                                                                                     \
        static constexpr auto psyevd = p##x##sy##evd_;                                                                                     \
        static constexpr auto psytrd = p##x##sy##trd_;                                                                                     \
    };
ARGES_ROUTINES(s, float, or, sy)
ARGES_ROUTINES(d, double, or, sy)
ARGES_ROUTINES(c, ComplexFloat, un, he)
ARGES_ROUTINES(z, ComplexDouble, un, he)
#undef ARGES_ROUTINES

/// Routines that exist for real types only.
template <class R>
struct FortranReal;
template <>
struct FortranReal<float> {
    static constexpr auto bdsdc = sbdsdc_;
    static constexpr auto sterf = ssterf_;
    static constexpr auto syev = ssyev_;
};
template <>
struct FortranReal<double> {
    static constexpr auto bdsdc = dbdsdc_;
    static constexpr auto sterf = dsterf_;
    static constexpr auto syev = dsyev_;
};

}  // namespace arges::linalg
