/// Minimizes a function of all factors at once by L-BFGS, where elements may have a lower bound.
#pragma once

#include "decompose/cp/cp_als.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace arges::decompose {

/// The owned rows of all factors, one after the other.
template <class T>
using FactorVector = std::vector<T>;

/// A function of the factors of a tensor. All calls are collective unless marked local.
template <class T>
class FactorObjective {
public:
    FactorObjective(CpData<T>& data, Factors<T>& factors);
    virtual ~FactorObjective() = default;
    FactorObjective(const FactorObjective&) = delete;
    FactorObjective& operator=(const FactorObjective&) = delete;

    /// Value at x; `gradient` gets the gradient. Not finite where x is too far away.
    virtual double evaluate(const FactorVector<T>& x, FactorVector<T>& gradient) = 0;
    /// Of the last point. @throws Error if it is none
    virtual double fit() const = 0;
    /// What to multiply the model by before the first step. Of the last point.
    virtual double best_scale() const = 0;
    /// Elements are not negative. Local.
    virtual bool is_bounded() const { return false; }

    /// The factors as they are. Local.
    FactorVector<T> point() const;
    double dot(const FactorVector<T>& a, const FactorVector<T>& b) const;
    const Communicator& comm() const { return data_.comm(); }

protected:
    /// The factors become x; Gram matrices are made where they are wanted, while rows move.
    void place(const FactorVector<T>& x, bool with_grams);
    static double local_dot(const T* a, const T* b, std::int64_t count);

    CpData<T>& data_;
    Factors<T>& factors_;
    Buffer<T> products_data_;
    std::vector<sparse::RowMatrix<T>> products_;  // of all modes, since all factors change at once
};

/// Takes steps until `after` says so, or there is none. At the end columns have length 1 and lambda their weights. Collective.
/// @param step notes the fit in the state; false: there was none
template <class T>
void run_steps(CpData<T>& data, CpState<T>& state, int max_iterations, const AfterIteration& after, const std::function<bool()>& step);

/// Minimizes it by run_steps(). @throws Error where the iteration diverges
template <class T>
void run_lbfgs(FactorObjective<T>& objective, CpData<T>& data, CpState<T>& state, int max_iterations, const AfterIteration& after);

/// By mode, what to multiply factors by so that their model becomes a multiple of itself. Pure.
std::vector<double> factor_scales(double multiple, int order);

}  // namespace arges::decompose
