/// The routines of LAPACK, ScaLAPACK and the BLACS that the library calls. Elements are addresses, so that routines of all element types
/// have the same signatures. The hidden lengths of characters stand at the end.
#pragma once

#include <mpi.h>

#include <cstddef>

namespace arges::linalg {

using Int = const int*;
using Char = const char*;
using In = const void*;
using Length = std::size_t;

extern "C" {

int Csys2blacs_handle(MPI_Comm comm);
void Cfree_blacs_system_handle(int handle);
void Cblacs_gridmap(int* context, int* ranks, int leading_dimension, int rows, int columns);
void Cblacs_gridexit(int context);
void Cblacs_set(int context, int what, int* value);
void pb_topget_(Int context, Char operation, Char scope, char* topology, Length, Length, Length);
void pb_topset_(Int context, Char operation, Char scope, Char topology, Length, Length, Length);

// x: prefix; og: or, un; sy: sy, he
#define ARGES_DECLARE(x, og, sy)                                                                                                           \
    void x##geqrt_(Int m, Int n, Int nb, void* a, Int lda, void* t, Int ldt, void* work, int* info);                                       \
    void x##larfb_(Char side, Char trans, Char direct, Char storev, Int m, Int n, Int k, In v, Int ldv, In t, Int ldt, void* c, Int ldc,   \
                   void* work, Int ldwork, Length, Length, Length, Length);                                                                \
    void x##tpqrt_(Int m, Int n, Int l, Int nb, void* a, Int lda, void* b, Int ldb, void* t, Int ldt, void* work, int* info);              \
    void x##tpmqrt_(Char side, Char trans, Int m, Int n, Int k, Int l, Int nb, In v, Int ldv, In t, Int ldt, void* a, Int lda, void* b,    \
                    Int ldb, void* work, int* info, Length, Length);                                                                       \
    void x##gebrd_(Int m, Int n, void* a, Int lda, void* d, void* e, void* tauq, void* taup, void* work, Int lwork, int* info);            \
    void x##og##mbr_(Char vect, Char side, Char trans, Int m, Int n, Int k, In a, Int lda, In tau, void* c, Int ldc, void* work,           \
                     Int lwork, int* info, Length, Length, Length);                                                                        \
    void x##potrf_(Char uplo, Int n, void* a, Int lda, int* info, Length);                                                                 \
    void x##trsm_(Char side, Char uplo, Char trans, Char diag, Int m, Int n, In alpha, In a, Int lda, void* b, Int ldb, Length, Length,    \
                  Length, Length);                                                                                                         \
    void p##x##geqrf_(Int m, Int n, void* a, Int ia, Int ja, Int desc, void* tau, void* work, Int lwork, int* info);                       \
    void p##x##og##gqr_(Int m, Int n, Int k, void* a, Int ia, Int ja, Int desc, In tau, void* work, Int lwork, int* info);                 \
    void p##x##gebrd_(Int m, Int n, void* a, Int ia, Int ja, Int desc, void* d, void* e, void* tauq, void* taup, void* work, Int lwork,    \
                      int* info);                                                                                                          \
    void p##x##og##mbr_(Char vect, Char side, Char trans, Int m, Int n, Int k, In a, Int ia, Int ja, Int desc, In tau, void* c, Int ic,    \
                        Int jc, Int descc, void* work, Int lwork, int* info, Length, Length, Length);                                      \
    void p##x##potrf_(Char uplo, Int n, void* a, Int ia, Int ja, Int desc, int* info, Length);                                             \
    void p##x##trsm_(Char side, Char uplo, Char trans, Char diag, Int m, Int n, In alpha, In a, Int ia, Int ja, Int desc, void* b, Int ib, \
                     Int jb, Int descb, Length, Length, Length, Length);                                                                   \
    void p##x##gemr2d_(Int m, Int n, In a, Int ia, Int ja, Int desc, void* b, Int ib, Int jb, Int descb, Int context);                     \
    void p##x##sy##trd_(Char uplo, Int n, void* a, Int ia, Int ja, Int desc, void* d, void* e, void* tau, void* work, Int lwork,           \
                        int* info, Length);
ARGES_DECLARE(s, or, sy)
ARGES_DECLARE(d, or, sy)
ARGES_DECLARE(c, un, he)
ARGES_DECLARE(z, un, he)
#undef ARGES_DECLARE

#define ARGES_DECLARE_REAL(x)                                                                                                              \
    void x##syevd_(Char jobz, Char uplo, Int n, void* a, Int lda, void* w, void* work, Int lwork, int* iwork, Int liwork, int* info,       \
                   Length, Length);                                                                                                        \
    void p##x##syevd_(Char jobz, Char uplo, Int n, void* a, Int ia, Int ja, Int desc, void* w, void* z, Int iz, Int jz, Int descz,         \
                      void* work, Int lwork, int* iwork, Int liwork, int* info, Length, Length);                                           \
    void x##bdsdc_(Char uplo, Char compq, Int n, void* d, void* e, void* u, Int ldu, void* vt, Int ldvt, void* q, int* iq, void* work,     \
                   int* iwork, int* info, Length, Length);                                                                                 \
    void x##sterf_(Int n, void* d, void* e, int* info);
ARGES_DECLARE_REAL(s)
ARGES_DECLARE_REAL(d)
#undef ARGES_DECLARE_REAL

#define ARGES_DECLARE_COMPLEX(x)                                                                                                           \
    void x##heevd_(Char jobz, Char uplo, Int n, void* a, Int lda, void* w, void* work, Int lwork, void* rwork, Int lrwork, int* iwork,     \
                   Int liwork, int* info, Length, Length);                                                                                 \
    void p##x##heevd_(Char jobz, Char uplo, Int n, void* a, Int ia, Int ja, Int desc, void* w, void* z, Int iz, Int jz, Int descz,         \
                      void* work, Int lwork, void* rwork, Int lrwork, int* iwork, Int liwork, int* info, Length, Length);
ARGES_DECLARE_COMPLEX(c)
ARGES_DECLARE_COMPLEX(z)
#undef ARGES_DECLARE_COMPLEX

void dsyev_(Char jobz, Char uplo, Int n, double* a, Int lda, double* w, double* work, Int lwork, int* info, Length, Length);
void dpotri_(Char uplo, Int n, double* a, Int lda, int* info, Length);

}  // extern "C"

/// each(name, routine) for what MatrixKernels hold of a type. x: its prefix; r: that of the real type; og: or, un; sy: sy, he
#define ARGES_MATRIX_ROUTINES(each, x, r, og, sy)                                                                                          \
    each(geqrt, x##geqrt_) each(larfb, x##larfb_) each(tpqrt, x##tpqrt_) each(tpmqrt, x##tpmqrt_) each(gebrd, x##gebrd_)                   \
        each(ormbr, x##og##mbr_) each(potrf, x##potrf_) each(trsm, x##trsm_) each(pgeqrf, p##x##geqrf_) each(porgqr, p##x##og##gqr_)       \
            each(pgebrd, p##x##gebrd_) each(pormbr, p##x##og##mbr_) each(ppotrf, p##x##potrf_) each(ptrsm, p##x##trsm_)                    \
                each(pgemr2d, p##x##gemr2d_) each(psytrd, p##x##sy##trd_) each(bdsdc, r##bdsdc_) each(sterf, r##sterf_)

}  // namespace arges::linalg
