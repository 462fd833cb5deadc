/// Higher-order orthogonal iteration of sparse tensors, at ranks that may change between iterations.
#pragma once

#include "arges/tucker.hpp"
#include "decompose/cp/gram_solver.hpp"
#include "decompose/tucker/sparse_products.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace arges::decompose {

/// The iteration: products with all factors but one, and the leading singular vectors of them from a Gram matrix of columns. All calls are
/// collective unless marked local.
template <class T>
class SparseHooi {
public:
    /// @param products with random factors, which are made orthonormal @param missing  elements that are not stored are unknown
    SparseHooi(SparseProducts<T>& products, bool missing);

    /// |X - model| / |X|, known exactly after an iteration: from norms, or, with missing elements, from those that are stored. Local.
    double error() const;
    /// The core, the last mode fastest. Local.
    const std::vector<double>& core() const { return core_; }

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
    State state() { return {x_.ranks(), x_.all_owned(), core_}; }
    void restore(const State& state);

private:
    void change_ranks(const State& before, const std::vector<int>& ranks);
    std::pair<std::vector<double>, Gram> eigen(sparse::RowMatrix<const T> rows);
    void make_orthonormal(int m);
    void take_singular_vectors(int m, sparse::RowMatrix<const T> product);

    SparseProducts<T>& x_;
    bool is_missing_;
    double left_ = 0;  // squares of stored elements less the model
    std::vector<double> core_;
};

}  // namespace arges::decompose
