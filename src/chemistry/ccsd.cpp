#include "chemistry/ccsd.hpp"

#include "base/stopwatch.hpp"
#include "chemistry/diis.hpp"
#include "chemistry/mp2.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace arges::chemistry {

namespace {

std::string progress_text(const IterationReport& last, const CcsdOptions& options) {
    char text[160] = {};
    std::snprintf(text, sizeof text,
                  " after %d iterations: residual %.2e, correlation energy %.10f, tolerance %.1e",
                  last.iteration, last.residual, last.energy, options.tolerance);
    return text;
}

/// Throws if the latest iteration makes it pointless to go on.
void check_progress(const IterationReport& last, const CcsdOptions& options) {
    const bool diverged =
        !std::isfinite(last.residual) || !std::isfinite(last.energy) || last.residual > 1e8;
    if (diverged)
        throw NotConverged("CCSD diverged" + progress_text(last, options) +
                           "; check that the orbitals are those of the RHF ground state");
    if (last.iteration >= options.max_iterations)
        throw NotConverged("CCSD did not converge" + progress_text(last, options) +
                           "; allow more iterations or a larger tolerance");
}

/// Iterations that a dry run goes through: then DIIS holds all its vectors.
int dry_iterations(const CcsdOptions& options) {
    return std::min(options.max_iterations, options.diis_vectors + 2);
}

}  // namespace

CcsdResult solve_ccsd(const SpinIntegrals& integrals, const CcsdOptions& options,
                      const Progress& progress) {
    const World& world = integrals.oovv.world();
    const Stopwatch total;
    CcsdResult result{
        {integrals.spaces.tensor(world, "ai", "", "T1"), first_order_doubles(integrals)}};
    Amplitudes& t = result.amplitudes;
    Diis diis(options.diis_vectors);
    result.energy = ccsd_energy(integrals, t);
    for (;;) {
        const Stopwatch watch;
        Amplitudes step = ccsd_residuals(integrals, t);
        const double residual = std::sqrt(step.dot(step));
        divide_by_denominators(step.t1, integrals);
        divide_by_denominators(step.t2, integrals);
        t.add(1.0, step);
        diis.extrapolate(t, step);

        const double energy_before = result.energy;
        result.energy = ccsd_energy(integrals, t);
        const IterationReport report{++result.iterations, result.energy, residual, watch.seconds()};
        result.seconds = total.seconds();
        if (progress) progress(report);
        const bool converged = residual <= options.tolerance &&
                               std::abs(result.energy - energy_before) <= options.tolerance;
        if (world.is_dry_run() ? report.iteration >= dry_iterations(options) : converged)
            return result;
        if (!world.is_dry_run()) check_progress(report, options);
    }
}

}  // namespace arges::chemistry
