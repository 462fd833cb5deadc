/// Factor matrices of decompositions, distributed by rows.
#pragma once

#include "base/buffer.hpp"
#include "decompose/cp/cp_operator.hpp"
#include "decompose/cp/gram_solver.hpp"

#include <cstdint>
#include <vector>

namespace arges::decompose {

/// One matrix for each mode. All calls are local unless marked collective.
template <class T>
class FactorMatrices {
public:
    /// Adds a mode with these rows, which must stay, and numbers from 0 to 1 less `shift` that depend on seed, mode, row and column only:
    /// the same for any number of ranks and any distribution.
    void add(const ModeRows& rows, int columns, std::uint64_t seed, double shift = 0);
    /// Takes a model's rows; those that it does not have become zero. Collective.
    void take(const Communicator& comm, const ModelFactors<T>& model);

    int order() const { return data_.size(); }
    const ModeRows& rows(int mode) const { return *rows_[mode]; }
    /// All rows that this rank has of a mode, those of other owners last.
    sparse::RowMatrix<T> matrix(int mode);
    sparse::RowMatrix<T> owned(int mode);
    /// Views of all modes.
    std::vector<sparse::RowMatrix<const T>> views() const;
    /// Bytes on this rank.
    std::int64_t bytes() const;
    /// The model with these weights, components by falling weight.
    /// @param lengths  of the tensor
    /// @param divisors of the columns of all modes, or by mode, zero ones of columns that become zero; none: columns stay as they are
    /// @param releases frees the matrices, which must not be used any more, one after the other
    CpModel<T> model(const World& world, const std::vector<std::int64_t>& lengths, const std::vector<double>& weights,
                     const std::vector<double>& divisors, bool releases);

protected:
    std::vector<Buffer<T>> data_;

private:
    std::vector<const ModeRows*> rows_;
    std::vector<int> columns_;
};

/// Those of a CP decomposition, with the rows of a CpData, and the Gram matrices over all ranks.
template <class T>
class Factors : public FactorMatrices<T> {
public:
    Factors(CpData<T>& tensor, std::uint64_t seed);

    int columns() const { return columns_; }
    /// A^T A over all ranks.
    const Gram& gram(int mode) const { return grams_[mode]; }
    void set_gram(int mode, Gram gram) { grams_[mode] = std::move(gram); }
    /// From the rows as they are. Collective.
    void make_gram(CpData<T>& data, int mode);
    /// Columns of a factor get length 1, as its Gram matrix says, which is scaled with them; returns what the lengths were.
    std::vector<double> unit_columns(int mode);
    /// Element-wise product of the Gram matrices of all modes but one; -1: of all.
    Gram gram_product(int but) const;

private:
    int columns_;
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
