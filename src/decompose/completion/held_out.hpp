/// Elements that are held out of a completion.
#pragma once

#include "decompose/completion/completion_factors.hpp"
#include "decompose/completion/elements.hpp"
#include "decompose/distribution/sparse_share.hpp"

#include <memory>
#include <vector>

namespace arges::decompose {

/// Moves elements that a hash of their indices names, about `part` of all, out of `nonzeros`. Local.
template <class T>
sparse::Nonzeros<T> split_off(sparse::Nonzeros<T>& nonzeros, double part, std::uint64_t seed);

/// Held-out elements, each on any rank, with the rows that they need. All calls are collective unless marked local.
template <class T>
class HeldOut {
public:
    HeldOut(CompletionFactors<T>& factors, sparse::Nonzeros<T> elements);

    /// Elements of all ranks. Local.
    std::int64_t count() const { return count_; }
    /// Those with a row that no element is fitted by, where the model is zero. Local.
    std::int64_t unknown() const { return unknown_; }
    /// Root of the mean squared difference between elements and model, with the factors as they are.
    double rmse();

private:
    CompletionFactors<T>& factors_;
    Elements<T> elements_;                             // of which all rows are known
    std::vector<ModeRows> rows_;                       // that they need
    std::vector<std::vector<std::int64_t>> position_;  // of owned rows in the factors, by mode
    std::vector<Buffer<T>> data_;
    std::vector<std::unique_ptr<RowExchange<T>>> exchange_;
    std::int64_t count_ = 0, unknown_ = 0;
    double unknown_squares_ = 0;
};

/// Memory of the constructor of a HeldOut and of rmse() with so many elements on a rank, an upper bound; what it holds at first is the
/// elements. Pure.
MemoryTally held_out_memory(const SparseShare& share, std::int64_t count);

}  // namespace arges::decompose
