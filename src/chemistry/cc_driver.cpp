#include "chemistry/cc_driver.hpp"

#include "chemistry/mp2.hpp"
#include "base/process_memory.hpp"
#include "chemistry/triples.hpp"
#include "comm/communicator.hpp"

#include <algorithm>
#include <cctype>

namespace arges::chemistry {

namespace {

/// Integrals without values, with the shapes that a file with this header would give.
Fcidump empty_fcidump(const World& world, const FcidumpHeader& header) {
    const std::int64_t n = header.orbitals;
    return {header,
            0.0,
            {},
            Tensor<double>(world, {n, n}, "pq", "sym(p,q)", "h"),
            Tensor<double>(world, {n, n, n, n}, "pqrs", "sym(sym(p,q),sym(r,s))", "(pq|rs)")};
}

/// Everything behind the file; the energies go to `result`.
void compute(Fcidump data, const std::string& source, const CcOptions& options,
             const CcProgress& progress, CcResult& result) {
    // 1. The reference determinant, and whether perturbation theory may start from it.
    const Reference reference = build_reference(data, source);
    if (options.method != Method::ccsd)
        require_canonical(reference, source + ": " + to_string(options.method));
    result.scf = reference.energy;

    // 2. Spin-orbital integrals; the spatial ones are not needed any more.
    const bool only_mp2 = options.method == Method::mp2;
    const SpinIntegrals integrals = build_integrals(
        data, reference, only_mp2 ? IntegralSet::second_order : IntegralSet::coupled_cluster);
    data = {};

    // 3. MP2.
    if (reference.is_canonical()) result.mp2 = mp2_energy(integrals);
    if (progress.reference) progress.reference(result);
    if (only_mp2) return;

    // 4. CCSD.
    const CcsdResult solution = solve_ccsd(integrals, options.ccsd, progress.iteration);
    result.ccsd = solution.energy;
    result.iterations = solution.iterations;
    result.seconds_per_iteration = solution.seconds / std::max(1, solution.iterations);

    // 5. (T).
    if (options.method == Method::ccsd_t)
        result.ccsd_t = solution.energy + triples_energy(integrals, solution.amplitudes);
}

}  // namespace

Method parse_method(std::string_view text) {
    std::string lower(text);
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return std::tolower(c); });
    if (lower == "mp2") return Method::mp2;
    if (lower == "ccsd") return Method::ccsd;
    if (lower == "ccsd(t)") return Method::ccsd_t;
    throw InvalidArgument("unknown method '" + std::string(text) + "'; use mp2, ccsd or ccsd(t)");
}

std::string to_string(Method method) {
    switch (method) {
    case Method::mp2: return "MP2";
    case Method::ccsd: return "CCSD";
    default: return "CCSD(T)";
    }
}

std::int64_t forecast_memory(const World& world, const FcidumpHeader& header,
                             const CcOptions& options) {
    World dry = World::dry_run(world.size(), world.torus());
    dry.set_memory_limit(world.memory_limit());
    CcResult unused;
    compute(empty_fcidump(dry, header), "dry run", options, {}, unused);
    return dry.memory_peak();
}

CcResult run_coupled_cluster(const World& world, const std::string& path, const CcOptions& options,
                             const CcProgress& progress) {
    const FcidumpHeader header = read_fcidump_header(world, path);
    const Communicator comm(world.communicator());
    CcResult result;
    result.orbitals = header.orbitals;
    result.electrons = header.electrons;
    result.ranks = world.size();
    result.forecast_memory_bytes =
        comm.maximum(current_process_memory()) + forecast_memory(world, header, options);
    if (progress.planned) progress.planned(result);

    compute(read_fcidump(world, path), path, options, progress, result);
    result.peak_memory_bytes = comm.maximum(peak_process_memory());
    return result;
}

}  // namespace arges::chemistry
