/// Factor matrices of a CP decomposition, distributed by rows.
#pragma once

#include "base/buffer.hpp"
#include "decompose/cp/cp_operator.hpp"
#include "decompose/cp/gram_solver.hpp"

#include <cstdint>
#include <vector>

namespace arges::decompose {

/// One matrix for each mode, with the rows of a CpOperator, and the Gram matrices over all ranks.
template <class T>
class Factors {
public:
    /// Numbers from 0 to 1 that depend on seed, mode, row and column only: the same for any number of ranks and any distribution.
    Factors(CpOperator<T>& tensor, std::uint64_t seed);

    int order() const { return data_.size(); }
    int columns() const { return columns_; }
    /// All rows that this rank has of a mode, those of other owners last.
    sparse::RowMatrix<T> matrix(int mode);
    sparse::RowMatrix<T> owned(int mode);
    /// Frees a matrix, which must not be used any more.
    void release(int mode) { data_[mode] = {}; }
    /// Views of all modes, for MTTKRP.
    std::vector<sparse::RowMatrix<const T>> views() const;
    /// A^T A over all ranks.
    const Gram& gram(int mode) const { return grams_[mode]; }
    void set_gram(int mode, Gram gram) { grams_[mode] = std::move(gram); }
    /// Element-wise product of the Gram matrices of all modes but one; -1: of all.
    Gram gram_product(int but) const;
    /// Bytes on this rank.
    std::int64_t bytes() const;

private:
    int columns_;
    std::vector<std::int64_t> owned_, rows_;
    std::vector<Buffer<T>> data_;
    std::vector<Gram> grams_;
};

/// The start value of one element.
double start_value(std::uint64_t seed, int mode, std::int64_t row, int column);

/// Sums a Gram matrix over the ranks. Collective.
void sum_over_ranks(const Communicator& comm, Gram& gram);
/// The same of a symmetric one, of which the lower triangle moves, and of the inner product. Collective.
void sum_over_ranks(const Communicator& comm, RowSums& sums);
/// How many numbers that is for so many columns.
constexpr std::int64_t row_sum_count(std::int64_t columns) { return columns * (columns + 1) / 2 + 1; }

}  // namespace arges::decompose
