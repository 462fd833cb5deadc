/// Losses of elements, with their derivatives by the model.
#pragma once

#include "arges/loss.hpp"

#include <memory>

namespace arges::decompose {

/// A loss f(x, m) of a tensor's element x and a model's element m. All calls are local.
class ElementLoss {
public:
    virtual ~ElementLoss() = default;

    /// Sum of the losses of elements, times their weights w where these are not null, and their derivatives by m, likewise.
    virtual double derivatives(const double* x, const double* m, const double* w, double* derivative, std::int64_t count) const = 0;
    /// f(x, m).
    virtual double value(double x, double m) const = 0;
    /// The m that is best for elements with this mean and mean square; for huber nearly.
    virtual double constant(double mean, double mean_square) const = 0;
    /// The least f(x, m) for this x.
    virtual double least(double x) const = 0;
    /// m must not be negative.
    virtual bool is_bounded() const = 0;
    /// Values x that the loss is for: from `first` to `last`.
    struct Domain {
        double first, last;
    };
    virtual Domain domain() const = 0;
};

/// @throws InvalidArgument for a parameter that a loss cannot have
std::unique_ptr<ElementLoss> make_loss(const Loss& loss);
/// f(x, m) - f(0, m): what a stored element costs beside what it would cost as a zero.
std::unique_ptr<ElementLoss> make_difference_to_zero(const Loss& loss);

/// Elements that are zero have no best m but minus infinity, so that slices of zeros need rows. Pure.
bool has_rows_of_zeros(LossKind kind);

}  // namespace arges::decompose
