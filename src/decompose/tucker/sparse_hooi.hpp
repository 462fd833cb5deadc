/// Higher-order orthogonal iteration of sparse tensors, at ranks that may change between iterations.
#pragma once

#include "arges/tucker.hpp"
#include "base/buffer.hpp"
#include "decompose/cp/factors.hpp"
#include "decompose/distribution/choose_distribution.hpp"
#include "decompose/distribution/row_exchange.hpp"
#include "sparse/ttmc.hpp"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace arges::decompose {

/// Columns of the core beside a mode that are supported.
constexpr int max_core_width = 4096;

/// The iteration: TTMc on each rank's nonzeros, a fold to the owners of rows, the leading singular vectors from a Gram matrix of columns.
/// All calls are collective unless marked local.
template <class T>
class SparseHooi {
public:
    /// Random factors, the same on any number of ranks. @param missing  elements that are not stored are unknown
    SparseHooi(const Communicator& comm, Distributed<T> distributed, std::vector<int> ranks, std::uint64_t seed, bool missing);

    /// Squared norm of the tensor. Local.
    double norm_squared() const { return norm_squared_; }
    const std::vector<int>& ranks() const { return ranks_; }
    /// |X - model| / |X|, known exactly after an iteration: from norms, or, with missing elements, from those that are stored. Local.
    double error() const;
    /// Slices of each mode that are not empty.
    std::vector<std::int64_t> nonempty() const;

    /// Takes the factors of a model with these ranks instead of random ones, and its core where elements are missing.
    void start_from(const TuckerModel<T>& model);
    /// All modes once. Missing elements are those of the model before it: the tensor is that model and, at the elements that are stored,
    /// what it leaves.
    void iterate();

    /// Factors get random columns beside their own; an iteration must follow.
    void grow_to(const std::vector<int>& ranks);
    /// Keeps leading columns and the leading part of the core.
    void cut_to(const std::vector<int>& ranks);

    /// All that changes.
    struct State {
        std::vector<int> ranks;
        std::vector<std::vector<T>> rows;  ///< owned ones, by mode
        std::vector<double> core;
    };
    State state();
    void restore(const State& state);

    /// The core, spread over the ranks.
    Tensor<T> core(const World& world) const;
    TuckerModel<T> model(const World& world, const std::vector<std::int64_t>& lengths);

private:
    int order() const { return ranks_.size(); }
    int columns(int m) const { return ranks_[m]; }
    std::int64_t width(int m) const;
    const ModeRows& rows_of(int m) const { return distributed_.rows[m]; }
    sparse::RowMatrix<T> owned(int m) { return factors_.owned(m); }
    void expand(int m) { expand_[m]->expand(factors_.matrix(m)); }

    void make_factors();
    void change_ranks(const std::vector<int>& ranks, const std::vector<std::vector<T>>& rows);
    std::pair<std::vector<double>, Gram> eigen(sparse::RowMatrix<const T> rows);
    void make_orthonormal(int m);
    void subtract_model();
    void add_model(int m, const std::vector<T>& before, const std::vector<double>& core, sparse::RowMatrix<T> product);
    void turn(int m, const std::vector<T>& before, std::vector<double>& core);
    void take_singular_vectors(int m, sparse::RowMatrix<const T> product);
    std::vector<double> core_first_fastest() const;

    const Communicator& comm_;
    Distributed<T> distributed_;
    std::vector<int> ranks_;
    std::uint64_t seed_;
    bool is_missing_;
    double norm_squared_ = 0, left_ = 0;    // left_: squares of stored elements less the model
    std::vector<sparse::Ttmc<T>> kernels_;  // by mode
    FactorMatrices<T> factors_;
    Buffer<T> product_;
    std::vector<double> core_;  // the last mode fastest, as the columns of TTMc
    std::vector<std::unique_ptr<RowExchange<T>>> expand_, fold_;
};

}  // namespace arges::decompose
