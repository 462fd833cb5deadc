/// Chooses how a contraction is computed on one rank, and computes it in one of three ways.
#pragma once

#include "local/blas.hpp"
#include "local/contract.hpp"
#include "local/fold.hpp"
#include "local/pack.hpp"

#include <cstdint>
#include <vector>

namespace arges::local {

/// Matrix products inside of loops.
struct GemmPlan {
    std::vector<FoldAxis> m, n,
        k;                          ///< axes of the matrix product, each group in the order in which it is one index
    std::vector<FoldAxis> loops;    ///< one matrix product, or several that add up, for every combination
    std::vector<FoldAxis> k_loops;  ///< products for the same part of C that add up
    bool pack_a = false;            ///< copy A first: it is not a matrix along these axes
    bool pack_b = false;            ///< likewise B
    bool pack_c = false;            ///< compute into a buffer and copy to C
    double cost = 0;                ///< estimated nanoseconds
};

/// The order in which an operand of a plan is copied for BLAS: the matrix first, its group with the smallest stride first, then the loops.
CopyOrder copy_order(GemmPlan& plan, std::vector<FoldAxis>& rows, std::vector<FoldAxis>& columns, OperandStride stride);

/// How a matrix of a product lies.
struct BlasOperand {
    std::int64_t ld = 1;
    bool transposed = false;
};

/// The matrix products of a plan as BLAS takes them. Where C is stored by rows, its transpose is computed from the transposed operands in
/// the other order: `left` then belongs to B.
struct MatrixProduct {
    explicit MatrixProduct(const GemmPlan& plan);
    GemmSize size;
    bool flipped = false;
    BlasOperand left, right;
    std::int64_t result_ld = 1;
    std::int64_t right_step = 1, result_step = 1;  ///< of the vectors that are multiplied, and result, where there is one column
};

/// Loops with a vector axis innermost, for contractions with too few or too small matrix products.
struct VectorPlan {
    FoldAxis vector;                   ///< the innermost axis, over which the compiler vectorizes
    bool sums = false;                 ///< the vector axis is summed over
    std::vector<FoldAxis> outer = {};  ///< other axes of C, batch axes last, else the smallest stride in C first
    std::vector<FoldAxis> k = {};      ///< other axes that are summed over
    std::int64_t rows = 0;             ///< runs along the vector axis of A and B that are needed several times in turn
    bool pack_a = false;               ///< copy A first, with the vector axis contiguous
    bool pack_b = false;               ///< likewise B
    bool pack_c = false;               ///< compute into such a copy and write it to C
    double cost = 0;                   ///< estimated nanoseconds
};

/// A product of a large operand, which is read once, with a small one.
struct SkinnyPlan {
    bool swapped = false;              ///< the large operand is B; it is called A here
    std::vector<FoldAxis> m, n, k;     ///< the groups, each in the order of its operand in memory
    std::vector<FoldAxis> batch = {};  ///< one product for every combination
    double cost = 0;                   ///< estimated nanoseconds
};

/// The cheapest way to compute a simplified contraction without empty axes by matrix products.
GemmPlan plan_gemm(const FoldedContraction& f);

/// The best vector axis of a simplified contraction without empty axes.
VectorPlan plan_vector(const FoldedContraction& f);

/// The cheaper way to compute a simplified contraction without empty axes as a product of a large
/// operand with a small one; costs infinity where there are too many columns.
SkinnyPlan plan_skinny(const FoldedContraction& f, int threads);

/// Estimated nanoseconds, beyond the plan's cost, in which BLAS reads the operands and does not
/// multiply.
double reading_cost(const GemmPlan& plan);

/// Bytes into which BLAS copies parts of the operands of a plan on a thread, at most.
std::int64_t blas_memory(const GemmPlan& plan, std::int64_t element_bytes);

/// Elements of the copies that a plan makes.
std::int64_t packed_elements(const GemmPlan& plan);
std::int64_t packed_elements(const VectorPlan& plan);

/// True if an operand can be given to BLAS: one of its two axis groups has stride 1, the other one
/// leading dimension.
bool is_matrix(std::span<const FoldAxis> rows, std::span<const FoldAxis> columns, OperandStride stride);

/// Computes a contraction as planned. @throws OutOfMemory
template <class T>
void contract_gemm(GemmPlan plan, Operands<T> operands, Workspace<T>& workspace);

/// Computes a contraction as planned: the large operand is read once, in the order in which it is
/// stored, while the processor multiplies. Real element types only. @throws OutOfMemory
template <class T>
void contract_skinny(const SkinnyPlan& plan, Operands<T> operands);

/// Computes a contraction as planned. @throws OutOfMemory
template <class T>
void contract_vectors(VectorPlan plan, Operands<T> operands, Workspace<T>& workspace);

}  // namespace arges::local
