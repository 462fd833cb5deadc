/// Iterations of CP decompositions over a CpOperator: alternating ones, and those that minimize over all factors at once.
#pragma once

#include "decompose/cp/factors.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace arges::decompose {

/// What the algorithms share.
struct IterationOptions {
    int max_iterations = 50;
    double tolerance = 1e-5;
    double regularization = 0;
};

/// Whether a fit, or an error, has changed so little that iterations may end.
bool is_settled(double fit, double change, double tolerance);

/// Fits of iterations, and how much they are still to change: changes are taken for a geometric series, as those of iterations that
/// converge linearly are. Local.
class FitTrend {
public:
    void add(double fit);
    /// The last change, and what is to come, are less than the tolerance times the fit and times what is left, 1 - fit; or no more can be
    /// told.
    /// @param epsilon  of the elements: fits are not exact
    bool is_settled(double tolerance, double epsilon) const;
    double change() const { return last_; }

private:
    int count_ = 0;
    double fit_ = 0, last_ = 0, before_ = 0;  // the last two changes
};

/// Called after each iteration with its number and the fit; what it returns says whether to go on.
using AfterIteration = std::function<bool(int number, double fit)>;

/// Factors and the weights of their components.
template <class T>
struct CpState {
    Factors<T> factors;
    std::vector<double> lambda;
    double fit = 0;
    double loss = 0;             ///< with missing elements or a loss: over the known elements
    bool is_given = false;       ///< factors are those of a model to start from
    bool is_stationary = false;  ///< of run_opt(): no step makes the function smaller
};

/// 1 - |X - model| / |X| from |X|^2, |model|^2 and the inner product of both.
/// @throws Error if they cannot belong together: the iteration has diverged
double fit_of(double norm_squared, double model_squared, double inner);

/// Iterates until `after` says that it is enough. An iteration is asked to be exact where it is the last one, or where the fit does not
/// change any more, and so is the next one after that, to compare with. Collective.
/// @param iterate      goes over all modes and returns the fit
/// @param fit_may_fall where something else is minimized, too
/// @throws Error where the iteration diverges
template <class T>
void alternate(CpOperator<T>& tensor, CpState<T>& state, const IterationOptions& options, const AfterIteration& after,
               const std::function<double()>& iterate, bool fit_may_fall);

/// Alternating least squares: for each mode A_n = M_n V_n^+ with M_n = X_(n) times the Khatri-Rao product, V_n the product of
/// the other Gram matrices; columns are scaled to length 1. The fit comes from the last mode's M_n. Collective.
/// @throws Error where the iteration diverges
template <class T>
void run_als(CpOperator<T>& tensor, CpState<T>& state, const IterationOptions& options, const AfterIteration& after);

/// The same with factors that have no negative element: within a mode, columns are improved one after the other
/// (hierarchical alternating least squares).
template <class T>
void run_nonnegative(CpOperator<T>& tensor, CpState<T>& state, const IterationOptions& options, const AfterIteration& after);

/// Memory of run_nonnegative() beside the factors. Pure.
/// @param rows of the largest factor
std::int64_t nonnegative_memory(std::int64_t rows, std::int64_t columns, std::int64_t element_bytes);

/// Minimizes |X - model|^2 / 2 + regularization * (sum of the squares of all factors) / 2 by L-BFGS with a line search that
/// meets the weak Wolfe conditions (Nocedal and Wright, algorithms 7.4 and 7.5). The gradient in mode n is A_n V_n - M_n. At
/// the end columns have length 1 and lambda their weights. Ends where there is no gradient, or no step to a smaller value.
/// Collective. @throws Error where the iteration diverges
template <class T>
void run_opt(CpOperator<T>& tensor, CpState<T>& state, const IterationOptions& options, const AfterIteration& after);

/// Memory of run_opt() for factors of these sizes, an upper bound; steps are remembered as long as it goes on. Pure.
/// @param owned elements of all factors that the rank owns @param products elements of all factors that it has
std::int64_t opt_memory(std::int64_t owned, std::int64_t products, std::int64_t element_bytes, int max_iterations);

}  // namespace arges::decompose
