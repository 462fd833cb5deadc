/// Stored elements of a sparse tensor as losses and rows need them: one after the other, by their rows in each mode.
#pragma once

#include "decompose/completion/device_elements.hpp"
#include "decompose/completion/elements.hpp"
#include "decompose/cp/cp_als.hpp"
#include "decompose/cp/loss_objective.hpp"
#include "decompose/distribution/distribute.hpp"
#include "decompose/distribution/sparse_share.hpp"

#include <memory>
#include <vector>

namespace arges::decompose {

/// A sparse tensor of which elements are gone through.
template <class T>
class ElementOperator : public CpData<T> {
public:
    /// Collective. @param distributed gives its elements up
    /// @param batches  elements are divided into so many, by a hash of the seed and their indices
    /// @param device  that has them, too, for sums over rows; null: none
    ElementOperator(const Communicator& comm, Distributed<T> distributed, int columns, int batches, std::uint64_t seed,
                    const ElementKernels* device = nullptr);

    // Local.
    const ModeRows& rows(int mode) const override { return rows_[mode]; }
    std::span<const ModeRows> all_rows() const { return rows_; }
    int batches() const { return by_row_.size(); }
    const RowElements<T>& by_row(int mode, int batch = 0) const { return by_row_[batch][mode]; }
    /// The elements of a row are on several ranks.
    bool folds() const { return folds_; }
    /// Null: there is none.
    DeviceElements<T>* device() const { return device_.get(); }
    /// Elements of this rank, for one mode.
    std::int64_t count() const;
    /// Memory of the elements and of exchanges, in bytes.
    std::int64_t bytes() const;
    /// Frees the elements.
    void drop() {
        by_row_.clear();
        device_.reset();
    }

private:
    std::vector<ModeRows> rows_;
    bool folds_;
    std::vector<std::vector<RowElements<T>>> by_row_;  // by batch and mode
    std::unique_ptr<DeviceElements<T>> device_;
};

/// Sums over the stored elements, or over all where those that are not stored are zeros. Collective.
template <class T>
ModelSums model_sums_of(ElementOperator<T>& data, Factors<T>& factors, bool with_zeros);
/// By mode: the sums of the columns of factors. Collective.
template <class T>
std::vector<std::vector<double>> column_sums(const Communicator& comm, Factors<T>& factors);

/// Notes the sum of the squares of the residuals of the stored elements and the fit; columns have their weights. Collective.
template <class T>
void note_fit(ElementOperator<T>& data, CpState<T>& state, const KnownElements& known);

/// Alternating least squares row by row, or without negative elements, over the stored elements only. Collective.
/// @throws Error where the iteration diverges
template <class T>
void run_rows(ElementOperator<T>& data, CpState<T>& state, const KnownElements& known, bool is_nonnegative, const IterationOptions& options,
              const AfterIteration& after);

/// The loss of the elements. Collective.
/// @param with_zeros elements that are not stored are zeros: gaussian and poisson only
template <class T>
std::unique_ptr<LossObjective<T>> element_objective(ElementOperator<T>& data, Factors<T>& factors, const KnownElements& known,
                                                    bool with_zeros, double regularization);

/// Batches of run_sgd() for so many stored elements. Pure.
int sgd_batches(std::int64_t elements);
/// Minimizes the sum of a loss by stochastic gradients: see cp_decompose(). Every rank has all rows, and the elements of those that it
/// owns. Collective.
/// @param with_zeros elements that are not stored are zeros
template <class T>
void run_sgd(ElementOperator<T>& data, CpState<T>& state, const KnownElements& known, bool with_zeros, std::uint64_t seed,
             const IterationOptions& options, const AfterIteration& after);
/// Memory of run_sgd() beside the factors and elements, an upper bound. Pure. @param factor bytes of all rows  @param elements of all ranks
std::int64_t sgd_memory(const SparseShare& share, std::int64_t elements);

}  // namespace arges::decompose
