/// A sparse tensor times the factors of a Tucker model in all modes but one, and these factors, on what each rank has.
#pragma once

#include "arges/tucker.hpp"
#include "base/buffer.hpp"
#include "decompose/cp/factors.hpp"
#include "decompose/distribution/distribute.hpp"
#include "decompose/distribution/row_exchange.hpp"
#include "sparse/device_nonzeros.hpp"
#include "sparse/ttmc.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace arges::decompose {

/// Columns of the core beside a mode that are supported.
constexpr int max_core_width = 4096;

/// All calls are collective unless marked local.
template <class T>
class SparseProducts {
public:
    /// Factors of random numbers from 0 to 1 less `shift`, the same on any number of ranks.
    /// @param device  that makes the products, which has room for the nonzeros; null: the host does
    SparseProducts(const Communicator& comm, Distributed<T> distributed, std::vector<int> ranks, std::uint64_t seed, double shift,
                   const ElementKernels* device = nullptr);

    /// Squared norm of the tensor; with weights, which are divided by the largest, the sum of weight x^2. Local.
    double norm_squared() const { return norm_squared_; }
    /// Columns of the factors. Local.
    const std::vector<int>& ranks() const { return ranks_; }
    int order() const { return ranks_.size(); }
    int columns(int mode) const { return ranks_[mode]; }
    /// Slices of each mode that are not empty.
    std::vector<std::int64_t> nonempty() const;

    /// Other ranks, with random factors.
    void set_ranks(const std::vector<int>& ranks);
    /// Takes a model's factors.
    void take(const TuckerModel<T>& model) { factors_.take(comm_, model); }
    /// This rank's rows of a factor, and which they are. Local.
    sparse::RowMatrix<T> owned(int mode) { return factors_.owned(mode); }
    std::vector<std::int64_t> owned_rows(int mode) const;
    /// Copies of these rows, by mode. Local.
    std::vector<std::vector<T>> all_owned();
    /// Brings rows that have changed to the ranks that need them.
    void expand(int mode) { expand_[mode]->expand(factors_.matrix(mode)); }

    /// This rank's rows of X_(mode) times the Kronecker product of the other factors, until the next call; the last of the other modes is
    /// the fastest in its columns.
    sparse::RowMatrix<T> product(int mode);
    /// From now on products are those of the nonzeros less a model with these factors, times their weights; returns the sum of the squares
    /// of these differences, times weights.
    /// Not on a device. @param core the last mode fastest
    double subtract_model(const std::vector<double>& core);

    const Communicator& comm() const { return comm_; }

private:
    const ModeRows& rows_of(int mode) const { return distributed_.rows[mode]; }
    std::int64_t width(int mode) const;
    void scale_weights();
    /// Local.
    void multiply_there(int mode, sparse::RowMatrix<T> result);

    const Communicator& comm_;
    Distributed<T> distributed_;
    std::vector<int> ranks_;
    std::uint64_t seed_;
    double shift_, norm_squared_ = 0;
    std::vector<sparse::Ttmc<T>> kernels_;                  // by mode, or
    std::unique_ptr<sparse::DeviceNonzeros<T>> on_device_;  // one for all
    bool any_on_device_ = false;                            // on any rank
    FactorMatrices<T> factors_;
    Buffer<T> product_;
    std::vector<std::unique_ptr<RowExchange<T>>> expand_, fold_;
};

}  // namespace arges::decompose
