/// @file sparse_loops.hpp
/// What the loops of products with sparse factors are told. The loops themselves are compiled for each algebra (sparse_kernels.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace arges::local {

/// Dense factors of one sparse product at most.
inline constexpr std::size_t max_dense_factors = 64;

/// Which of two factors acts on the elements of the other one, or is a mask beside it.
enum class Acting { none, first, second, first_mask, second_mask };

/// One number for each nonzero: 32 bits wide where all numbers allow it. Both null: zeros, or the places themselves.
struct NonzeroNumbers {
    const std::uint32_t* narrow = nullptr;  ///< one for each nonzero, or null
    const std::int64_t* wide = nullptr;     ///< likewise
};

/// A label that the sparse factor does not have, with its steps in the arrays of those that do.
struct SparseLoopAxis {
    std::int64_t size = 1;              ///< number of entries
    std::int64_t result = 0;            ///< step in the result; 0 where it is summed
    std::vector<std::int64_t> factors;  ///< steps in the dense factors
};

/// result[target[run] + ...] += alpha * sum over the run's nonzeros, and over axes that the result lacks, of value * product of dense
/// factors. The targets of runs differ from each other.
struct SparseLoop {
    std::int64_t runs = 0;                 ///< of nonzeros with one target
    const std::int64_t* start = nullptr;   ///< runs + 1 numbers: first nonzero of each run
    const std::int64_t* target = nullptr;  ///< of each run: offset in the result; null: run number times `result_step`
    std::int64_t result_step = 1;          ///< elements of the result for each run, where there are no targets
    const void* values = nullptr;          ///< of the nonzeros
    NonzeroNumbers places;                 ///< where the value of each nonzero is; none: in order
    std::vector<const void*> factors;      ///< arrays of the dense factors
    std::vector<NonzeroNumbers> offsets;   ///< by factor: where the row of each nonzero begins in it; none: at 0
    std::vector<SparseLoopAxis> axes;      ///< outermost first
    const void* alpha = nullptr;           ///< single element; null: one
    void* result = nullptr;                ///< overlaps with no factor
    Acting acting = Acting::none;          ///< the nonzeros (first) or the one dense factor (second); then there is no alpha
};

/// A sparse matrix by rows, its columns ascending in each.
struct SparseRows {
    std::int64_t rows = 0;                  ///< number of rows
    const std::int64_t* start = nullptr;    ///< rows + 1 numbers: first nonzero of each row
    const std::uint32_t* column = nullptr;  ///< of each nonzero
    const void* values = nullptr;           ///< of the nonzeros
    NonzeroNumbers places;                  ///< where the value of each nonzero is; none: in order
};

/// values of c = alpha * a * b where the nonzeros of c are known (Gustavson 1978), or of alpha * (a * b) * mask where the mask has them.
struct SparseRowProduct {
    SparseRows a;                           ///< first factor
    SparseRows b;                           ///< second factor: columns of a are its rows; transposed where `by_dots`
    std::int64_t width = 0;                 ///< columns of b as it is given
    const std::int64_t* start = nullptr;    ///< of the rows of c
    const std::uint32_t* column = nullptr;  ///< of the nonzeros of c, ascending in each row
    const void* alpha = nullptr;            ///< single element; null: one
    void* result = nullptr;                 ///< values of c; with a mask, in its own order
    void* sums = nullptr;                   ///< room for `threads` times `width` elements
    int threads = 1;                        ///< that share the work
    const void* mask = nullptr;             ///< values of the mask; null: there is none, and a * b has no other nonzeros than c
    NonzeroNumbers mask_places;             ///< where the value for each nonzero of c is; none: in order
    std::uint32_t* marks = nullptr;         ///< with a mask: as many numbers as `sums` has elements, all zero
    bool by_dots = false;                   ///< with a mask: its nonzeros are inner products of rows, instead of sums of rows under it
    Acting acting = Acting::none;           ///< a (first) or b (second); then there is no alpha, the mask is ones, and not `by_dots`
};

}  // namespace arges::local

namespace arges {

/// The loops over nonzeros for one algebra. Threads share the work; results do not depend on their number.
struct SparseKernels {
    /// See local::SparseLoop.
    void (*multiply)(const local::SparseLoop& loop) = nullptr;
    /// See local::SparseRowProduct; null for algebras without a product.
    void (*multiply_rows)(const local::SparseRowProduct& product) = nullptr;
    /// result[i] = sum of from[places[k]] for start[i] <= k < start[i + 1]; no run is empty.
    void (*add_runs)(std::int64_t runs, const std::int64_t* start, const std::int64_t* places, const void* from, void* result) = nullptr;
};

}  // namespace arges
