/// Coupled cluster with single and double excitations.
#pragma once

#include "arges/error.hpp"
#include "chemistry/amplitudes.hpp"
#include "chemistry/integrals.hpp"

#include <functional>

namespace arges::chemistry {

/// An iteration that ended above its tolerance; its message says how far it came.
class NotConverged : public Error {
public:
    using Error::Error;
};

/// When to stop and how to speed up.
struct CcsdOptions {
    int max_iterations = 100;
    double tolerance =
        1e-8;              ///< for the residual norm, and for the change of the energy in hartree
    int diis_vectors = 8;  ///< 0: no DIIS
};

/// One line of the iteration table.
struct IterationReport {
    int iteration = 0;    ///< counted from 1
    double energy = 0;    ///< correlation energy in hartree
    double residual = 0;  ///< norm of the residuals of the amplitude equations
    double seconds = 0;   ///< of this iteration
};
/// Called on every rank after every iteration.
using Progress = std::function<void(const IterationReport&)>;

/// Converged amplitudes.
struct CcsdResult {
    Amplitudes amplitudes;
    double energy = 0;   ///< correlation energy in hartree
    int iterations = 0;  ///< evaluations of the residuals
    double seconds = 0;  ///< of all iterations
};

/// Residuals of the amplitude equations: zero for the solution. Collective.
Amplitudes ccsd_residuals(const SpinIntegrals& integrals, const Amplitudes& t);

/// Correlation energy of any amplitudes. Collective.
double ccsd_energy(const SpinIntegrals& integrals, const Amplitudes& t);

/// Solves the amplitude equations by quasi-Newton steps (division by orbital energies) with DIIS.
/// Collective. On a dry run a fixed number of iterations is gone through.
/// @throws NotConverged after max_iterations, or if the residual grows beyond all bounds
CcsdResult solve_ccsd(const SpinIntegrals& integrals, const CcsdOptions& options,
                      const Progress& progress);

}  // namespace arges::chemistry
