/// Factors of a tensor completion, distributed by rows, and the movements of their rows.
#pragma once

#include "arges/cpd.hpp"
#include "base/buffer.hpp"
#include "decompose/cp/factors.hpp"
#include "decompose/distribution/row_exchange.hpp"
#include "decompose/distribution/sparse_share.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace arges::decompose {

/// Factors with the movements of their rows. All calls are collective unless marked local.
template <class T>
class CompletionFactors : public FactorMatrices<T> {
public:
    /// @param counts elements of the rows that this rank owns, by mode, of all ranks @param shift of the start: FactorMatrices::add()
    CompletionFactors(const Communicator& comm, std::span<const ModeRows> rows, std::vector<Buffer<double>> counts, int columns,
                      std::uint64_t seed, double shift);

    // Local.
    int columns() const { return weights_.size(); }
    const Communicator& comm() const { return comm_; }
    /// Weights of the components, as of the last balance(): products of the lengths of their columns.
    const std::vector<double>& weights() const { return weights_; }
    /// Sum of the squares of all factors, likewise, those of a row as often as it has elements: the regularization's part of the loss.
    double weighted_squares() const { return weighted_squares_; }
    /// Elements of the local rows of a mode, of all ranks, where this rank owns the row.
    const Buffer<double>& counts(int mode) const { return counts_[mode]; }
    /// Seconds in movements.
    double& communication_seconds() { return communication_seconds_; }

    /// Brings the rows of other owners up to date.
    void expand(int mode);
    /// Takes a model's rows; those that it does not have become zero.
    void start_from(const CpModel<T>& model);
    /// Multiplies all elements. Local.
    void scale(double factor);
    /// Gives the columns of a component the same part of weighted_squares() in all modes, where their product stays: it is least then.
    /// Columns of a weight of zero become zero.
    void balance();
    /// The model after balance(), components by falling weight, columns of length 1. Local.
    CpModel<T> model(const World& world, const std::vector<std::int64_t>& lengths);

    /// Factors as they were.
    struct Copy {
        std::vector<Buffer<T>> data;
        std::vector<double> weights, lengths;
        double weighted_squares = 0;
    };
    /// Local.
    Copy copy() const;
    /// Local.
    void take_back(const Copy& copy);

private:
    const Communicator& comm_;
    using FactorMatrices<T>::data_;
    std::vector<std::unique_ptr<RowExchange<T>>> exchange_;
    std::vector<Buffer<double>> counts_;
    std::vector<double> weights_, lengths_;  // lengths of the columns, by mode
    double weighted_squares_ = 0;
    double communication_seconds_ = 0;
};

/// Memory of the constructor of CompletionFactors. Pure.
std::int64_t completion_factors_memory(const SparseShare& share);

}  // namespace arges::decompose
