/// The sum of a loss over the known elements of a tensor, as a function of the factors of a model.
#pragma once

#include "arges/loss.hpp"
#include "decompose/cp/element_loss.hpp"
#include "decompose/cp/lbfgs.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>

namespace arges::decompose {

/// The known elements of a tensor, those of all ranks, and losses that models are measured by.
struct KnownElements {
    double count = 0, sum = 0, squares = 0;  ///< with weights: sums of these, and of values times these
    double least_loss = 0;                   ///< the least that there can be
    double constant_loss = 0;                ///< of the best constant
    double constant = 0;                     ///< which that is
    Loss loss{};
    double elements = 0;        ///< how many
    double largest_weight = 1;  ///< of an element

    /// 1 - |X - model| / |X| of gaussian; of others 0 for the best constant, 1 for the least loss. Pure.
    /// @throws Error unless the loss is finite
    double fit(double model_loss) const;
};
/// Collective.
/// @param values     of this rank @param skips_nan those that are not a number are unknown
/// @param zeros      so many elements more are zero, of all ranks
/// @param weights    of the values, on all ranks or on none; none: all count once
/// @throws InvalidArgument on every rank for values that the loss is not for or that are not finite, and where none is known or all are
/// zero
template <class T>
KnownElements known_elements(const Communicator& comm, const std::string& title, std::span<const T> values, bool skips_nan, double zeros,
                             const Loss& loss, const std::type_identity_t<std::optional<std::span<const T>>>& weights = {});

/// Sums over known elements of the model m and the tensor x.
struct ModelSums {
    double model = 0, squares = 0, inner = 0;
};

/// What to multiply the model by at the start: its mean becomes the best constant, or, of losses of squares, it comes as near as a multiple
/// can be. Pure.
double start_scale(const KnownElements& known, const ModelSums& sums);

/// The sum of a loss, and its gradient. All calls are collective.
template <class T>
class LossObjective : public FactorObjective<T> {
public:
    LossObjective(CpData<T>& data, Factors<T>& factors, const KnownElements& known, double regularization);

    double evaluate(const FactorVector<T>& x, FactorVector<T>& gradient) override;
    double fit() const override { return known_.fit(loss_); }
    double best_scale() const override { return start_scale(known_, model_sums()); }
    bool is_bounded() const override { return loss_of_element_->is_bounded(); }
    /// Of the last point. Local.
    double loss() const { return loss_; }

protected:
    /// The loss, of all ranks; the owned rows of `gradients`, which are zero before, get its gradient.
    virtual double add_losses(std::span<sparse::RowMatrix<T>> gradients) = 0;
    virtual ModelSums model_sums() const = 0;

    const KnownElements& known_;
    std::unique_ptr<ElementLoss> loss_of_element_;

private:
    double regularization_, loss_ = 0;
};

/// Minimizes it by L-BFGS, and notes losses in the state.
template <class T>
void run_loss(LossObjective<T>& objective, CpData<T>& data, CpState<T>& state, int max_iterations, const AfterIteration& after);

}  // namespace arges::decompose
