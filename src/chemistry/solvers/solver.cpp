// Amplitude equations by quasi-Newton steps, division by orbital energies, with DIIS (Pulay, Chem. Phys. Lett. 73, 393 (1980)).
#include "arges/chemistry/solver.hpp"

#include "arges/chemistry/diis.hpp"
#include "base/stopwatch.hpp"
#include "chemistry/solvers/work_clock.hpp"
#include "comm/collective_call.hpp"
#include "interface/world/world_state.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

namespace arges::chemistry {

namespace {

std::string progress_text(const IterationReport& last, const SolverOptions& options) {
    char text[160] = {};
    std::snprintf(text, sizeof text, " after %d iterations: residual %.2e, correlation energy %.10f, tolerance %.1e", last.iteration,
                  last.residual, last.energy, options.tolerance);
    return text;
}

/// Throws if the latest iteration has led away from a solution.
void check_divergence(const std::string& method, const IterationReport& last, const SolverOptions& options) {
    if (!std::isfinite(last.residual) || !std::isfinite(last.energy) || last.residual > 1e8)
        throw NotConverged(method + " diverged" + progress_text(last, options) + "; check that the orbitals are those of the ground state");
}

double median(std::vector<double> values) {
    const auto middle = values.begin() + std::ssize(values) / 2;
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

/// Moves the amplitudes by one step; returns the norm of the residuals before it.
double take_step(const AmplitudeEquations& equations, TensorSet& t, Diis& diis) {
    TensorSet step = equations.residuals(t);
    const double residual = step.norm();
    for (Tensor<double>& member : step.members()) equations.divide(member);
    t.add(1.0, step);
    diis.extrapolate(t, step);
    return residual;
}

void check(const AmplitudeEquations& equations, const TensorSet& start, const SolverOptions& options) {
    const auto require = [&](bool right, const char* problem) {
        if (!right) throw InvalidArgument("solve_amplitudes: " + equations.method + ": " + problem);
    };
    require(equations.residuals && equations.energy && equations.divide, "residuals, energy and divide must all be functions");
    require(!start.members().empty(), "there are no amplitudes to start from");
    require(options.max_iterations >= 1, "max_iterations must be 1 or more");
    require(options.tolerance >= 0, "the tolerance must be zero or more");
    require(options.diis_vectors >= 0, "diis_vectors must be 0 or more");
    require(options.seconds >= 0, "the seconds must be 0 or more");
}

}  // namespace

Solution solve_amplitudes(const AmplitudeEquations& equations, TensorSet start, const SolverOptions& options, const SolverHooks& hooks) {
    check(equations, start, options);
    const World world = start.members().front().world();
    const Stopwatch total;
    std::vector<double> seconds;
    Solution result{std::move(start)};
    TensorSet& t = result.amplitudes;
    Diis diis(options.diis_vectors);
    result.energy = equations.energy(t);
    for (;;) {
        const WorkClock clock(world);
        const double residual = take_step(equations, t, diis);
        const double energy_before = result.energy;
        result.energy = equations.energy(t);
        const IterationReport report{++result.iterations, result.energy, residual, clock.seconds()};
        seconds.push_back(report.seconds);
        const auto progress = [&] {
            if (hooks.progress) hooks.progress(report);
        };
        world.is_dry_run() ? progress() : CollectiveCall::run_callback(world.state()->communicator(), progress);

        if (!world.is_dry_run()) check_divergence(equations.method, report, options);
        const bool converged = residual <= options.tolerance && std::abs(result.energy - energy_before) <= options.tolerance;
        const bool is_late = options.seconds > 0 && !world.is_dry_run() && world.maximum(total.seconds() >= options.seconds ? 1 : 0) == 1;
        const bool is_end = is_late || report.iteration >= options.max_iterations;
        // A dry run goes on until DIIS holds all its vectors.
        const bool last = world.is_dry_run() ? is_end || report.iteration >= options.diis_vectors + 2 : converged;
        if (hooks.save) hooks.save(t, report, last || is_end);
        if (last) {
            result.seconds_per_iteration = median(std::move(seconds));
            return result;
        }
        if (is_end && !world.is_dry_run())
            throw NotConverged(equations.method + " did not converge" + progress_text(report, options) +
                               (is_late ? ", when the time was over; go on from a checkpoint, or allow more seconds"
                                        : "; allow more iterations or a larger tolerance"));
    }
}

}  // namespace arges::chemistry
