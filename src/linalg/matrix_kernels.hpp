/// What is done with the elements of matrices, as a table for each element type: routines of LAPACK and ScaLAPACK, and loops over arrays on
/// the host. The algorithms of this folder are compiled once, and reach elements through these tables only.
#pragma once

#include "arges/element_kernels.hpp"
#include "linalg/fortran.hpp"

#include <complex>
#include <cstdint>
#include <vector>

namespace arges::linalg {

/// Arrays are given by address. Real numbers beside complex elements are of the same precision, and their table is `reals`.
struct MatrixKernels {
    const ElementKernels& (*elements)();  ///< the table that tensors get
    const MatrixKernels* reals;           ///< of the real type; for real elements this table
    std::int64_t size;                    ///< bytes of an element
    double epsilon;                       ///< round-off
    const char* adjoint;                  ///< "C" or "T", for LAPACK

    /// @name Routines by their names without prefixes; P? ones begin with p. They are described in fortran.hpp; bdsdc and sterf are of the
    /// real type.
    /// @{
#define ARGES_MEMBER(name, routine) decltype(&routine) name;
    ARGES_MATRIX_ROUTINES(ARGES_MEMBER, d, d, or, sy)
#undef ARGES_MEMBER
    decltype(&zheevd_) heevd;    ///< ?SYEVD for real elements, which has no array of reals
    decltype(&pzheevd_) pheevd;  ///< likewise
    /// @}

    /// False if an element is infinite or not a number.
    bool (*all_finite)(const void* elements, std::int64_t count);
    /// The numbers that elements are.
    std::vector<double> (*real_parts)(const void* elements, std::int64_t count);
    /// Elements that are real numbers, given as such or rounded.
    void (*set)(const double* values, std::int64_t count, void* elements);
    /// Likewise from an array of the real type.
    void (*set_reals)(const void* reals, std::int64_t count, void* elements);
    /// The largest |a - b| and |a|, from those of before on.
    void (*compare)(const void* a, const void* b, std::int64_t count, double& difference, double& size);
    /// d / |d|, 1 where d is zero.
    void (*phases)(const std::complex<double>* d, std::int64_t count, void* phases);
    /// to[i] = factors[i] * from[i], with conjugates of the factors if that is said.
    void (*multiply)(const void* factors, bool conjugate, const void* from, void* to, std::int64_t count);
    /// Multiplies elements by a factor, unless that is one.
    void (*scale)(const void* factor, void* elements, std::int64_t count);
    /// Makes the diagonal of a width x columns triangle R real and not negative, and gives the phases that it had.
    void (*make_diagonal_real)(void* R, std::int64_t width, std::int64_t columns, void* phases);
};

/// The table of an element type. @throws Unsupported for types that are none of BLAS
const MatrixKernels& matrix_kernels(const ElementKernels& elements);

}  // namespace arges::linalg
