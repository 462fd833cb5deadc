/// Elements that are held out of a completion.
#pragma once

#include "decompose/completion/biases.hpp"
#include "decompose/completion/completion_factors.hpp"
#include "decompose/completion/elements.hpp"
#include "decompose/completion/needed_rows.hpp"
#include "decompose/distribution/sparse_share.hpp"
#include "interface/sparse/sparse_state.hpp"

#include <memory>
#include <vector>

namespace arges::decompose {

/// Moves the elements x for which goes[x] out of `nonzeros`. Local.
template <class T>
sparse::Nonzeros<T> split_off(sparse::Nonzeros<T>& nonzeros, const std::vector<bool>& goes);
/// Likewise those that a hash of their indices names, about `part` of all.
template <class T>
sparse::Nonzeros<T> split_off(sparse::Nonzeros<T>& nonzeros, double part, std::uint64_t seed);

/// A tensor of nonzeros of another one, where they are.
template <class T>
SparseTensor<T> tensor_of(const SparseState& like, sparse::Nonzeros<T> nonzeros) {
    SparseTensor<T> result(like.world_handle, like.lengths(), like.name);
    result.state()->replace(std::move(nonzeros), SparsePattern::Place::anywhere);
    return result;
}

/// Held-out elements, each on any rank, with the rows that they need. All calls are collective unless marked local.
template <class T>
class HeldOut {
public:
    /// @param biases     mean and biases of the fitted elements; rows that they do not have count as 0
    /// @param has_biases the factors are those of what is beyond the biases
    HeldOut(CompletionFactors<T>& factors, sparse::Nonzeros<T> elements, const Biases<T>& biases, bool has_biases);

    /// Those with a row that no element is fitted by, where the factors' part of the model is zero. Local.
    std::int64_t unknown() const { return unknown_; }
    /// Root of the mean squared difference between elements and biases, with weights a weighted mean. Local.
    double bias_rmse() const { return bias_rmse_; }
    /// Root of the mean squared difference between elements and model, with the factors as they are.
    double rmse();

private:
    void add_biases(const NeededRows& needed, const Buffer<T>& biases, std::vector<double>& baseline) const;

    CompletionFactors<T>& factors_;
    Elements<T> elements_;            // of which all rows are known
    std::vector<NeededRows> needed_;  // by mode
    std::vector<Buffer<T>> data_;     // of these rows
    std::vector<std::unique_ptr<RowExchange<T>>> exchange_;
    std::int64_t unknown_ = 0;
    double all_weights_ = 0, unknown_squares_ = 0, bias_rmse_ = 0;
};

/// Memory of the constructor of a HeldOut and of rmse() with so many elements on a rank, an upper bound; what it holds at first is the
/// elements. Pure.
MemoryTally held_out_memory(const SparseShare& share, std::int64_t count);

}  // namespace arges::decompose
