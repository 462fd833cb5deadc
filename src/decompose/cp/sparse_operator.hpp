/// A sparse tensor that is distributed over the ranks, as algorithms for CP decompositions use it.
#pragma once

#include "decompose/cp/cp_operator.hpp"
#include "decompose/distribution/distribute.hpp"
#include "sparse/mttkrp.hpp"

#include <memory>
#include <span>
#include <vector>

namespace arges::decompose {

/// One distribution with its kernels. All calls are collective unless marked local.
template <class T>
class SparseOperator : public CpOperator<T> {
public:
    /// @param device  for the format of this name, see make_mttkrp()
    SparseOperator(const Communicator& comm, Distributed<T> distributed, sparse::Format format, int columns,
                   const ElementKernels* device = nullptr);

    const ModeRows& rows(int mode) const override { return distributed_.rows[mode]; }

    /// Frees the nonzeros; there can be no mttkrp() any more. Local.
    void drop_nonzeros() { kernels_.clear(); }

    /// Nonzeros of this rank, the largest set.
    std::int64_t nonzeros() const;
    sparse::Format format() const { return kernels_[0]->format(); }
    /// Memory of nonzeros and exchange buffers, in bytes.
    std::int64_t bytes() const;

protected:
    void factor_changes(int mode) override {
        for (auto& kernel : kernels_) kernel->factor_changes(mode);
    }

private:
    void multiply(int mode, std::span<const sparse::RowMatrix<const T>> factors, sparse::RowMatrix<T> out) override;
    std::size_t set_of(int mode) const { return distributed_.sets.size() == 1 ? 0 : static_cast<std::size_t>(mode); }

    Distributed<T> distributed_;
    std::vector<std::int64_t> counts_;  // nonzeros by set
    std::vector<std::unique_ptr<sparse::Mttkrp<T>>> kernels_;
};

}  // namespace arges::decompose
