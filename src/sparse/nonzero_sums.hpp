/// Sums over nonzeros on a device, as functions of ElementKernels take them. All arrays are in the space of the table.
#pragma once

#include "arges/loss.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

namespace arges::sparse {

constexpr int most_matrices = 30;  ///< each factor of a tensor of max_sparse_order twice, but for one mode

/// Nonzeros of a piece of a slice of so many: as many pieces as nonzeros in each, so that both loops are short.
inline constexpr std::int64_t least_piece_length = 64;
inline std::int64_t piece_length(std::int64_t nonzeros) {
    return std::max(least_piece_length, static_cast<std::int64_t>(std::ceil(std::sqrt(static_cast<double>(nonzeros)))));
}

/// A matrix of which each nonzero takes a row.
struct NonzeroRows {
    const std::uint32_t* index = nullptr;  ///< the row, by nonzero
    const void* rows = nullptr;            ///< the matrix, row by row
    std::int64_t columns = 1;              ///< of the matrix
    const std::int32_t* take = nullptr;    ///< column c of the sums takes column take[c] of the matrix; null: c
};

/// out(i, c) = sum over the nonzeros x of row i of value(x) * product over the matrices of their elements. Nonzeros are sorted by row and
/// cut into pieces, each of one row. The sums of the pieces of a row that has several are kept, and added up in their order.
struct NonzeroSums {
    std::int64_t distance = 0;              ///< of rows of `out`
    std::int64_t first = 0, count = 0;      ///< columns of the sums
    std::int64_t pieces = 0;                ///< at least one for each row
    const std::int64_t* begins = nullptr;   ///< first nonzero of each piece, and the end
    const std::int64_t* targets = nullptr;  ///< row of a piece that is alone; ~p, of one of several: it is number p of these
    std::int64_t cut_rows = 0;              ///< rows of several pieces
    const std::int64_t* cut = nullptr;      ///< these
    const std::int64_t* parts = nullptr;    ///< number of the first piece of each among such pieces, and the end
    void* kept = nullptr;                   ///< `count` sums for each piece of a row of several
    const void* values = nullptr;           ///< by nonzero; null: ones
    const void* weights = nullptr;          ///< likewise: the values are multiplied by them
    std::span<const NonzeroRows> matrices;  ///< 1 to most_matrices
    void* out = nullptr;                    ///< the sums, from column 0
};

/// A model at nonzeros: the sum over columns of the product of the matrices' elements.
struct NonzeroFit {
    std::int64_t count = 0, columns = 0;    ///< of nonzeros, and of all matrices
    const void* values = nullptr;           ///< by nonzero
    const void* weights = nullptr;          ///< likewise; null: ones
    std::span<const NonzeroRows> matrices;  ///< likewise 1 to most_matrices, all columns of each
};

/// What such a model costs at nonzeros, and the derivatives of that by the model, both times the weights.
struct NonzeroLosses {
    NonzeroFit model;
    Loss loss{};
    bool to_zero = false;         ///< without what the model would cost if the value were zero
    void* derivatives = nullptr;  ///< by nonzero
};

}  // namespace arges::sparse
