/// The block of a dense tensor of which some elements are unknown, or have a loss.
#pragma once

#include "decompose/cp/dense_cp_operator.hpp"
#include "decompose/cp/loss_objective.hpp"

#include <memory>
#include <optional>
#include <span>

namespace arges::decompose {

/// An array beside a block, 1 where elements of that are known, 0 where they are NaN.
template <class T>
struct SecondBlock {
    SecondBlock(const Communicator& comm, const Layout& layout, const T* elements);
    Buffer<T> second;
};

/// Multiplies the second block in the place of the tensor's: unknown elements are filled with those of the model before each iteration of
/// alternating least squares (Tomasi, Bro, Chemom. Intell. Lab. Syst. 75, 2005), with weights all are brought nearer to the model (Kiers,
/// Psychometrika 62, 1997); losses put their derivatives there. Slices without known elements have no rows.
template <class T>
class KnownBlock : SecondBlock<T>, public DenseCpOperator<T> {
public:
    /// Collective. @param elements  as of a DenseCpOperator, NaN where they are unknown; they must stay
    /// @param weights  of these, likewise; null: all count once
    KnownBlock(const Communicator& comm, const Layout& layout, const T* elements, const T* weights, int columns,
               const KnownElements& known);

    void begin_iteration(CpState<T>& state, bool exact) override;
    std::optional<double> fit(CpState<T>& state) override;

    /// As LossObjective has them. Collective.
    double add_losses(const ElementLoss& loss, Factors<T>& factors, std::span<sparse::RowMatrix<T>> gradients);
    ModelSums sums(const std::vector<double>& weights, Factors<T>& factors);

private:
    void factor_changes(int mode) override;
    void fill(const std::vector<double>& weights, Factors<T>& factors);
    /// Sums of what f(elements, weights or null, the model's, those of the second block, their number) gives, over runs of elements.
    /// Collective.
    template <std::size_t n, class F>
    std::array<double, n> over_model(const std::vector<double>& weights, Factors<T>& factors, F&& f);

    using SecondBlock<T>::second;
    const T *elements_, *weights_;
    const KnownElements& known_;
    bool is_filled_ = false;  // with the model as it is
    double residual_ = 0;
};

/// The loss of the known elements. Collective.
template <class T>
std::unique_ptr<LossObjective<T>> block_objective(KnownBlock<T>& data, Factors<T>& factors, const KnownElements& known,
                                                  double regularization);

/// Memory of a KnownBlock beside that of a DenseCpOperator, an upper bound. Pure.
std::int64_t known_block_memory(std::int64_t element_bytes, const Layout& layout, std::int64_t rank, int columns, int threads);

}  // namespace arges::decompose
