#include "chemistry/cc_driver.hpp"

#include "base/process_memory.hpp"
#include "chemistry/cc_equations.hpp"
#include "chemistry/integral_file.hpp"
#include "chemistry/mp2.hpp"
#include "chemistry/rccsd.hpp"
#include "chemistry/rtriples.hpp"
#include "chemistry/triples.hpp"
#include "comm/communicator.hpp"
#include "interface/world_state.hpp"

#include <algorithm>
#include <cctype>
#include <functional>
#include <utility>

namespace arges::chemistry {

namespace {

constexpr std::pair<Method, const char*> method_names[] = {
    {Method::mp2, "mp2"},      {Method::ccsd, "ccsd"},        {Method::ccsd_t, "ccsd(t)"},
    {Method::rccsd, "rccsd"},  {Method::rccsd_t, "rccsd(t)"}, {Method::ccsdt, "ccsdt"},
    {Method::ccsdtq, "ccsdtq"}};

/// Code of MPI, BLAS and the kernels, and buffers that MPI and BLAS make, when they are first used
/// (measured with MPICH and OpenBLAS: 2 to 3 MB).
constexpr std::int64_t first_use_bytes = std::int64_t(4) << 20;
/// One part in so many of what a calculation takes is left unused by the C library's heap between
/// blocks that come and go (measured: up to a tenth).
constexpr std::int64_t heap_slack = 8;

bool is_spin_adapted(Method method) {
    return method == Method::rccsd || method == Method::rccsd_t;
}

/// What a calculation goes by.
struct Task {
    const Reference& reference;
    const CcOptions& options;
    const CcProgress& progress;
};

/// Solves the amplitude equations of a method; energy and time go to `result`.
TensorSet solve(const AmplitudeEquations& equations, TensorSet start, Method method,
                const Task& task, CcResult& result) {
    const AmplitudeFile file(task.options.checkpoint, name_of(method), is_spin_adapted(method),
                             task.reference);
    file.load(start);
    const auto save = [&](const TensorSet& amplitudes, const IterationReport& report, bool last) {
        if (file.save(amplitudes, report, last) && task.progress.saved) task.progress.saved(report);
    };
    const SolverHooks hooks{task.progress.iteration, save};
    Solution solution = solve_amplitudes(equations, std::move(start), task.options.solver, hooks);
    result.energies.push_back({method, solution.energy});
    result.iterations = solution.iterations;
    result.seconds_per_iteration = solution.seconds / std::max(1, solution.iterations);
    return std::move(solution.amplitudes);
}

/// MP2, CCSD, CCSD(T), CCSDT and CCSDTQ.
void compute_over_spin_orbitals(Fcidump data, const Task& task, CcResult& result) {
    const Method method = task.options.method;
    const bool only_mp2 = method == Method::mp2;
    const SpinIntegrals integrals = build_integrals(
        data, task.reference, only_mp2 ? IntegralSet::second_order : IntegralSet::coupled_cluster);
    data = Fcidump();  // the spatial integrals are not needed any more
    result.energies.push_back({Method::mp2, mp2_energy(integrals)});
    if (task.progress.reference) task.progress.reference(result);
    if (only_mp2) return;

    const bool triples = method == Method::ccsd_t;
    const Method iterated = triples ? Method::ccsd : method;
    const int rank = iterated == Method::ccsd ? 2 : iterated == Method::ccsdt ? 3 : 4;
    const TensorSet t = solve(cc_equations(integrals, rank),
                              first_order_amplitudes(integrals, rank), iterated, task, result);
    if (triples)
        result.energies.push_back(
            {Method::ccsd_t, result.energies.back().correlation + triples_energy(integrals, t)});
}

/// Spin-adapted MP2, CCSD and CCSD(T).
void compute_over_orbitals(Fcidump data, const Task& task, CcResult& result) {
    const bool only_mp2 = task.options.method == Method::mp2;
    const SpatialIntegrals integrals = build_spatial_integrals(
        data, task.reference, only_mp2 ? IntegralSet::second_order : IntegralSet::coupled_cluster);
    data = Fcidump();
    if (task.reference.is_canonical() || only_mp2)
        result.energies.push_back({Method::mp2, rmp2_energy(integrals)});
    if (task.progress.reference) task.progress.reference(result);
    if (only_mp2) return;

    const TensorSet t =
        solve(rccsd_equations(integrals), rmp2_amplitudes(integrals), Method::rccsd, task, result);
    if (task.options.method == Method::rccsd_t)
        result.energies.push_back(
            {Method::rccsd_t, result.energies.back().correlation + rtriples_energy(integrals, t)});
}

/// Refuses orbitals that a method does not work over.
void check_method(Method method, const FcidumpHeader& header, const std::string& source) {
    if (!is_spin_adapted(method) || header.closed_shell()) return;
    throw InvalidArgument(
        source + ": " + to_string(method) +
        " is for closed shells over restricted orbitals, but the file has " +
        (header.form == OrbitalForm::restricted ? "MS2=" + std::to_string(header.ms2)
                                                : std::string("unrestricted orbitals")) +
        "; use " + (method == Method::rccsd ? "ccsd" : "ccsd(t)") + ", which takes any reference");
}

/// Everything behind the file; the energies go to `result`.
void compute(Fcidump data, const std::string& source, const CcOptions& options,
             const CcProgress& progress, CcResult& result) {
    result.frozen = options.frozen;
    if (options.find_core) result.frozen.core = core_orbitals(data, source);
    if (result.frozen.any()) data = without_frozen(data, result.frozen);
    Reference reference = build_reference(data, source);
    result.scf = reference.energy;
    if (!reference.is_semicanonical()) {
        data = semicanonical(data, reference);
        reference = build_reference(data, source);
    }
    if (options.method == Method::rccsd_t && !reference.is_canonical())
        throw InvalidArgument(source +
                              ": RCCSD(T) needs RHF orbitals, but the Fock matrix has an " +
                              "element between an occupied and a virtual orbital that is not zero" +
                              "; use ccsd(t), which takes any orbitals");
    const bool spatial = is_spin_adapted(options.method) ||
                         (options.method == Method::mp2 && data.header.closed_shell());
    (spatial ? compute_over_orbitals : compute_over_spin_orbitals)(
        std::move(data), {reference, options, progress}, result);
}

}  // namespace

Method parse_method(std::string_view text) {
    std::string lower(text);
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return std::tolower(c); });
    for (const auto& [method, name] : method_names)
        if (lower == name) return method;
    throw InvalidArgument("unknown method '" + std::string(text) +
                          "'; use mp2, ccsd, ccsd(t), rccsd, rccsd(t), ccsdt or ccsdtq");
}

std::string name_of(Method method) {
    const auto* const found =
        std::find_if(std::begin(method_names), std::end(method_names),
                     [&](const auto& entry) { return entry.first == method; });
    return found->second;
}

std::string to_string(Method method) {
    std::string text = name_of(method);
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return std::toupper(c); });
    return text;
}

std::optional<double> CcResult::energy(Method method) const {
    for (const MethodEnergy& entry : energies)
        if (entry.method == method) return entry.correlation;
    return std::nullopt;
}

std::int64_t forecast_memory(const World& world, const FcidumpHeader& header,
                             std::int64_t reading_bytes, const CcOptions& options) {
    World dry = World::dry_run(world.size(), world.torus());
    dry.set_memory_limit(world.memory_limit());
    CcResult unused;
    Fcidump empty = empty_fcidump(dry, header);
    dry.state()->note_working(reading_bytes);
    compute(std::move(empty), "dry run", options, {}, unused);
    const std::int64_t taken = dry.memory_peak() + dry.state()->unaccounted_bytes();
    return taken + taken / heap_slack;
}

CcResult run_coupled_cluster(const World& world, const std::string& path, const CcOptions& options,
                             const CcProgress& progress) {
    IntegralFile file(world, path);
    const FcidumpHeader header = file.header();
    check_method(options.method, header, path);
    const Communicator comm(world.communicator());
    CcResult result;
    result.header = header;
    result.ranks = world.size();
    std::int64_t calculation = 0;
    comm.agree([&] {
        if (comm.rank() != 0) return;  // all would find the same
        try {
            calculation = forecast_memory(world, header, file.reading_memory(), options);
        } catch (const OutOfMemory& error) {
            throw OutOfMemory(path + ": " + to_string(options.method) +
                              " does not fit into the memory limit of " +
                              std::to_string(world.memory_limit()) + " bytes per rank: " +
                              error.what());
        }
    });
    comm.broadcast(&calculation, sizeof calculation, 0);
    // After the dry run, which has brought in the code of the planner already.
    result.forecast_memory_bytes =
        comm.maximum(current_process_memory()) + first_use_bytes + calculation;
    if (progress.planned) progress.planned(result);

    Fcidump data = file.read();
    result.round_off_repeats = data.round_off_repeats;
    compute(std::move(data), path, options, progress, result);
    result.peak_memory_bytes = comm.maximum(peak_process_memory());
    return result;
}

}  // namespace arges::chemistry
