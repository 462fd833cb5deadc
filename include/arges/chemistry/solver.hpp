/// @file chemistry/solver.hpp
/// Iterations that make residuals of amplitude equations zero.
#pragma once

#include "arges/chemistry/tensor_set.hpp"
#include "arges/error.hpp"

#include <functional>
#include <string>

namespace arges::chemistry {

/// An iteration that ended above its tolerance; its message says how far it came.
class NotConverged : public Error {
public:
    using Error::Error;
};

/// When to stop and how to speed up.
struct SolverOptions {
    int max_iterations = 100;  ///< 1 or more
    double tolerance = 1e-8;   ///< for the residual norm, and for the change of the energy in hartree
    int diis_vectors = 8;      ///< 0: no DIIS
    double seconds = 0;        ///< no further iteration begins when the iterations have taken so long on a rank; 0: never mind
};

/// One line of the iteration table.
struct IterationReport {
    int iteration = 0;    ///< counted from 1
    double energy = 0;    ///< correlation energy in hartree
    double residual = 0;  ///< norm of the residuals of the amplitude equations
    double seconds = 0;   ///< of this iteration; on a dry run as modelled
};
/// Called on every rank after every iteration.
using Progress = std::function<void(const IterationReport&)>;

/// What is to be solved. Functions are collective.
struct AmplitudeEquations {
    std::string method;                                         ///< for messages
    std::function<TensorSet(const TensorSet&)> residuals = {};  ///< zero for the solution
    std::function<double(const TensorSet&)> energy = {};        ///< correlation energy
    std::function<void(Tensor<double>&)> divide = {};           ///< by the denominators of a rank
};

/// What happens between iterations. Either may be empty.
struct SolverHooks {
    Progress progress = {};  ///< called on every rank after every iteration
    /// Called after every iteration, with true at the last one. Collective.
    std::function<void(const TensorSet&, const IterationReport&, bool last)> save = {};
};

/// Converged amplitudes.
struct Solution {
    TensorSet amplitudes = {};         ///< of the names and shapes of the start
    double energy = 0;                 ///< correlation energy in hartree
    int iterations = 0;                ///< evaluations of the residuals
    double seconds_per_iteration = 0;  ///< the median
};

/// Solves the equations by quasi-Newton steps (division by orbital energies) with DIIS over all
/// amplitudes together. Collective. On a dry run a fixed number of iterations is gone through.
/// @param equations  what is to be zero
/// @param start      amplitudes of the first iteration
/// @param options    when to stop and how to speed up
/// @param hooks      what happens between iterations
/// @throws InvalidArgument for an empty function or set, or an option that makes no sense;
/// NotConverged after max_iterations or the seconds, or if the residual grows beyond all bounds
Solution solve_amplitudes(const AmplitudeEquations& equations, TensorSet start, const SolverOptions& options = {},
                          const SolverHooks& hooks = {});

}  // namespace arges::chemistry
