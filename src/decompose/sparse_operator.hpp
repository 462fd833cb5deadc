/// A sparse tensor that is dealt out over the ranks, as algorithms use it: MTTKRP, and rows of factor matrices where they are needed.
#pragma once

#include "decompose/distribute.hpp"
#include "sparse/mttkrp.hpp"

#include <memory>
#include <span>
#include <vector>

namespace arges::decompose {

/// Seconds that a rank has spent.
struct Seconds {
    double mttkrp = 0, solve = 0, communication = 0;
};

/// One distribution with its kernels. All calls are collective.
template <class T>
class SparseOperator {
public:
    SparseOperator(const Communicator& comm, Distributed<T> distributed, sparse::Format format, int columns);

    int order() const { return static_cast<int>(distributed_.rows.size()); }
    int columns() const { return columns_; }
    const Communicator& comm() const { return comm_; }
    /// The rows that this rank has of a factor matrix.
    const ModeRows& rows(int mode) const { return distributed_.rows[static_cast<std::size_t>(mode)]; }
    /// Sum of the squares of all values.
    double norm_squared() const { return norm_squared_; }

    /// out = X_(mode) times the Khatri-Rao product of the other factors, for the rows that this rank owns; the rest of `out` is scratch.
    /// @param factors by mode, rows(m).count() x columns(), rows of other owners included
    void mttkrp(int mode, std::span<const sparse::RowMatrix<const T>> factors, sparse::RowMatrix<T> out);
    /// Brings the rows of other owners up to date; between start and finish the matrix must stay as it is.
    void start_expand(int mode, sparse::RowMatrix<T> factor);
    void finish_expand(int mode);

    /// Frees the nonzeros; there can be no mttkrp() any more. Local.
    void drop_nonzeros() { kernels_.clear(); }

    /// Nonzeros of this rank, the largest set.
    std::int64_t nonzeros() const;
    sparse::Format format() const { return kernels_[0]->format(); }
    /// Memory of nonzeros and exchange buffers, in bytes.
    std::int64_t bytes() const;
    Seconds& seconds() { return seconds_; }

private:
    std::size_t set_of(int mode) const { return distributed_.sets.size() == 1 ? 0 : static_cast<std::size_t>(mode); }

    const Communicator& comm_;
    Distributed<T> distributed_;
    int columns_;
    double norm_squared_ = 0;
    std::vector<std::int64_t> counts_;  // nonzeros by set
    std::vector<std::unique_ptr<sparse::Mttkrp<T>>> kernels_;
    std::vector<std::unique_ptr<RowExchange<T>>> exchange_;
    Seconds seconds_;
};

}  // namespace arges::decompose
