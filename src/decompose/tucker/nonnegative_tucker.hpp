/// Non-negative Tucker decompositions, of sparse and dense tensors alike (HALS for the factors: Phan and Cichocki, Neurocomputing 74, 2011;
/// accelerated projected gradients for the core).
#pragma once

#include "arges/tucker.hpp"
#include "comm/communicator.hpp"
#include "decompose/cp/gram_solver.hpp"
#include "sparse/row_matrix.hpp"

#include <cstdint>
#include <vector>

namespace arges::decompose {

/// A tensor, and the factors of a model, that the iterations change. All calls are collective unless marked local.
template <class T>
class TuckerData {
public:
    virtual ~TuckerData() = default;
    /// Local.
    virtual double norm_squared() const = 0;
    /// This rank's rows of a factor; each row is on one rank. Local.
    virtual sparse::RowMatrix<T> owned(int mode) = 0;
    /// Which they are. Local.
    virtual std::vector<std::int64_t> owned_rows(int mode) const = 0;
    /// Rows of a factor have changed.
    virtual void changed(int mode) = 0;
    /// This rank's rows of X_(mode) times the Kronecker product of the other factors, until the next call; the last of the other modes is
    /// the fastest in its columns.
    virtual sparse::RowMatrix<T> product(int mode) = 0;
};

/// The iteration. Each update makes the squared error smaller, or leaves it.
template <class T>
class NonnegativeTucker {
public:
    /// Begins with the factors that there are, which are not negative, and a core of random numbers. Collective.
    NonnegativeTucker(const Communicator& comm, TuckerData<T>& data, std::vector<int> ranks, std::uint64_t seed);

    /// All factors and the core once. Collective.
    void iterate();
    /// |X - model| / |X| after an iteration, from norms. Local.
    double error() const { return error_; }
    /// Columns of the factors have length 1. Collective.
    TuckerModel<T> model(const World& world, const std::vector<std::int64_t>& lengths);

private:
    int order() const { return ranks_.size(); }
    void update_factor(int mode, sparse::RowMatrix<const T> product);
    void update_core(std::vector<double> inner);
    std::vector<double> times_grams(std::vector<double> core, const std::vector<Gram>& grams, int but) const;
    void make_gram(int mode);

    const Communicator& comm_;
    TuckerData<T>& data_;
    std::vector<int> ranks_;
    std::vector<Gram> grams_;   // A^T A by mode
    std::vector<double> core_;  // the last mode fastest
    double error_ = 1;
};

/// Iterates and fills in what is known of it. Collective.
template <class T>
void run_nonnegative(const Communicator& comm, TuckerData<T>& data, const TuckerOptions& options, const TuckerProgress& progress,
                     const World& world, const std::vector<std::int64_t>& lengths, TuckerResult<T>& result);

/// The same of a dense tensor with plain blocks and this squared norm. Collective.
template <class T>
void run_nonnegative(const Tensor<T>& tensor, double norm_squared, const TuckerOptions& options, const TuckerProgress& progress,
                     TuckerResult<T>& result);

}  // namespace arges::decompose
