#include "arges/chemistry/cc_driver.hpp"

#include "arges/chemistry/cc_equations.hpp"
#include "arges/chemistry/mp2.hpp"
#include "arges/chemistry/rccsd.hpp"
#include "arges/chemistry/triples.hpp"
#include "base/memory_tally.hpp"
#include "base/stopwatch.hpp"
#include "chemistry/integrals/integral_file.hpp"
#include "chemistry/solvers/check_arguments.hpp"
#include "chemistry/solvers/work_clock.hpp"
#include "comm/collective_call.hpp"
#include "comm/communicator.hpp"
#include "interface/world/world_state.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>
#include <utility>

namespace arges::chemistry {

namespace {

constexpr std::pair<Method, const char*> method_names[] = {
    {Method::mp2, "mp2"},          {Method::ccsd, "ccsd"},   {Method::ccsd_t, "ccsd(t)"}, {Method::rccsd, "rccsd"},
    {Method::rccsd_t, "rccsd(t)"}, {Method::ccsdt, "ccsdt"}, {Method::ccsdtq, "ccsdtq"}};

/// Code of MPI, BLAS and the kernels, and buffers that MPI and BLAS make, when they are first used (measured with MPICH and OpenBLAS).
constexpr std::int64_t first_use_bytes = std::int64_t(6) << 20;
/// One part in so many of what a calculation takes is for large arrays that end on whole pages, see array_memory(), and for holes of the
/// heap between blocks that come and go (measured: up to a sixteenth). To give freed memory back at once would take a quarter of the time.
constexpr std::int64_t page_slack = 12;

bool is_spin_adapted(Method method) { return method == Method::rccsd || method == Method::rccsd_t; }

/// What a calculation goes by.
struct Task {
    const Reference& reference;
    const CcOptions& options;
    const CcProgress& progress;
    const WorkClock& clock;  // runs since the file was read
};

/// Replaces amplitudes of the start by those of the same names in the guess. Collective.
/// @throws InvalidArgument if one has other extents
void take_guess(const TensorSet& guess, TensorSet& start) {
    for (Tensor<double>& member : start.members()) {
        if (!guess.contains(member.name())) continue;
        const Tensor<double>& given = guess[member.name()];
        if (given.extents() != member.extents() || !(given.world() == member.world()))
            throw InvalidArgument("the guess: " + member.name() +
                                  " has not the extents of this calculation, or is on another world; give amplitudes of the same method "
                                  "for as many orbitals and electrons, or none");
        std::string letters = "abcdefghijklmnop";
        letters.resize(given.extents().size());
        member[letters] = canonical(given[letters]);
    }
}

/// Solves the amplitude equations of a method; energy and time go to `result`.
TensorSet solve(const AmplitudeEquations& equations, TensorSet start, Method method, const Task& task, CcResult& result) {
    const AmplitudeFile file(task.options.checkpoint, name_of(method), is_spin_adapted(method), task.reference);
    if (task.options.guess != nullptr && !start.members().front().world().is_dry_run()) take_guess(*task.options.guess, start);
    file.load(start);
    const auto save = [&](const TensorSet& amplitudes, const IterationReport& report, bool last) {
        if (file.save(amplitudes, report, last) && task.progress.saved) task.progress.saved(report);
    };
    const SolverHooks hooks{task.progress.iteration, save};
    Solution solution = solve_amplitudes(equations, std::move(start), task.options.solver, hooks);
    result.energies.push_back({method, solution.energy});
    result.iterations = solution.iterations;
    result.seconds.iteration = solution.seconds_per_iteration;
    return std::move(solution.amplitudes);
}

/// MP2, CCSD, CCSD(T), CCSDT and CCSDTQ.
void compute_over_spin_orbitals(Fcidump data, const Task& task, CcResult& result) {
    const Method method = task.options.method;
    const bool only_mp2 = method == Method::mp2;
    const SpinIntegrals integrals =
        build_integrals(data, task.reference, only_mp2 ? IntegralSet::second_order : IntegralSet::coupled_cluster);
    data = Fcidump();  // the spatial integrals are not needed any more
    result.energies.push_back({Method::mp2, mp2_energy(integrals)});
    if (task.progress.reference) task.progress.reference(result);
    result.seconds.preparation = task.clock.seconds();
    if (only_mp2) return;

    const bool triples = method == Method::ccsd_t;
    const Method iterated = triples ? Method::ccsd : method;
    const int rank = iterated == Method::ccsd ? 2 : iterated == Method::ccsdt ? 3 : 4;
    TensorSet t = solve(cc_equations(integrals, rank), first_order_amplitudes(integrals, rank), iterated, task, result);
    if (triples) {
        const WorkClock clock(integrals.oovv.world());
        result.energies.push_back({Method::ccsd_t, result.energies.back().correlation + triples_energy(integrals, t)});
        result.seconds.triples = clock.seconds();
    }
    if (task.options.keep_amplitudes) result.amplitudes = std::move(t);
}

/// Spin-adapted MP2, CCSD and CCSD(T).
void compute_over_orbitals(Fcidump data, const Task& task, CcResult& result) {
    const bool only_mp2 = task.options.method == Method::mp2;
    const SpatialIntegrals integrals =
        build_spatial_integrals(data, task.reference, only_mp2 ? IntegralSet::second_order : IntegralSet::coupled_cluster);
    data = Fcidump();
    if (task.reference.is_canonical() || only_mp2) result.energies.push_back({Method::mp2, rmp2_energy(integrals)});
    if (task.progress.reference) task.progress.reference(result);
    result.seconds.preparation = task.clock.seconds();
    if (only_mp2) return;

    TensorSet t = solve(rccsd_equations(integrals), rmp2_amplitudes(integrals), Method::rccsd, task, result);
    if (task.options.method == Method::rccsd_t) {
        const WorkClock clock(integrals.V.world());
        const double triples = rtriples_energy(integrals, t, task.progress.triples);
        result.energies.push_back({Method::rccsd_t, result.energies.back().correlation + triples});
        result.seconds.triples = clock.seconds();
    }
    if (task.options.keep_amplitudes) result.amplitudes = std::move(t);
}

/// Refuses orbitals that a method does not work over.
void check_method(Method method, const FcidumpHeader& header, const std::string& source) {
    if (!is_spin_adapted(method) || header.closed_shell()) return;
    throw InvalidArgument(
        source + ": " + to_string(method) + " is for closed shells over restricted orbitals, but the file has " +
        (header.form == OrbitalForm::restricted ? "MS2=" + std::to_string(header.ms2) : std::string("unrestricted orbitals")) + "; use " +
        (method == Method::rccsd ? "ccsd" : "ccsd(t)") + ", which takes any reference");
}

/// Where orbitals are in another order than in the file, the first ones are not those that a user has counted.
void check_frozen_core(const Fcidump& data, const FrozenOrbitals& frozen, const std::string& source) {
    if (data.header.file_orbitals.empty() || frozen.core == 0 || data.one_electron.world().is_dry_run()) return;
    const std::int64_t core = core_orbitals(data, source);
    if (frozen.core > core)
        throw InvalidArgument(source + ": " + std::to_string(frozen.core) + " orbitals are to be frozen, and only the first " +
                              std::to_string(core) +
                              " are of inner shells; the file has orbitals by irreducible representation, so others " +
                              "are not ordered by energy: freeze fewer, or order them by energy");
}

/// Everything behind the file; the energies go to `result`.
void compute(Fcidump data, const std::string& source, const CcOptions& options, const CcProgress& progress, CcResult& result) {
    const WorkClock clock(data.two_electron.world());
    result.frozen = options.frozen;
    if (options.find_core)
        result.frozen.core = core_orbitals(data, source);
    else
        check_frozen_core(data, options.frozen, source);
    if (result.frozen.any()) data = without_frozen(data, result.frozen);
    Reference reference = build_reference(data, source);
    result.scf = reference.energy;
    if (!reference.is_semicanonical()) {
        data = semicanonical(data, reference);
        reference = build_reference(data, source);
    }
    if (options.method == Method::rccsd_t && !reference.is_canonical())
        throw InvalidArgument(source + ": RCCSD(T) needs RHF orbitals, but the Fock matrix has an " +
                              "element between an occupied and a virtual orbital that is not zero" +
                              "; use ccsd(t), which takes any orbitals");
    const bool spatial = is_spin_adapted(options.method) || (options.method == Method::mp2 && data.header.closed_shell());
    (spatial ? compute_over_orbitals : compute_over_spin_orbitals)(std::move(data), {reference, options, progress, clock}, result);
}

}  // namespace

Method parse_method(std::string_view text) {
    std::string lower(text);
    std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
    for (const auto& [method, name] : method_names)
        if (lower == name) return method;
    throw InvalidArgument("unknown method '" + std::string(text) + "'; use mp2, ccsd, ccsd(t), rccsd, rccsd(t), ccsdt or ccsdtq");
}

std::string name_of(Method method) {
    const auto* const found =
        std::find_if(std::begin(method_names), std::end(method_names), [&](const auto& entry) { return entry.first == method; });
    if (found == std::end(method_names)) throw InvalidArgument("there is no such method");
    return found->second;
}

std::string to_string(Method method) {
    std::string text = name_of(method);
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
    return text;
}

std::optional<double> CcResult::energy(Method method) const {
    for (const MethodEnergy& entry : energies)
        if (entry.method == method) return entry.correlation;
    return std::nullopt;
}

namespace {

/// Of all options but the extents of the guess, which its statements compare.
std::uint64_t digest_of(const CcOptions& options) {
    const auto& solver = options.solver;
    const auto& file = options.checkpoint;
    return Digest()
        .add(options.method, solver.max_iterations, solver.tolerance, solver.diis_vectors, solver.seconds, file.path, file.interval,
             file.restart, options.frozen.core, options.frozen.virtuals, options.find_core, options.guess != nullptr,
             options.keep_amplitudes)
        .value();
}

std::uint64_t digest_of(const std::optional<PlannedMachine>& machine) {
    const auto given = machine.value_or(PlannedMachine());
    return Digest()
        .add(machine.has_value(), given.ranks.value_or(-1), given.torus.lengths(), given.ranks_per_node, given.file, given.coordinates)
        .value();
}

/// Compares what the ranks were given. Collective. @throws InvalidArgument on every rank if it differs
template <class... Arguments>
void require_same(const World& world, const Arguments&... arguments) {
    const CollectiveCall call(ranks_of(world), "coupled cluster", arguments...);
}

/// Where integrals come from.
struct IntegralSource {
    std::string title;  ///< for messages
    FcidumpHeader header;
    std::int64_t reading_memory = 0;                                 ///< beside the tensors
    std::function<double(std::int64_t ranks)> reading_seconds = {};  ///< none: they are in memory
};

IntegralSource source_of(const IntegralFile& file, const std::string& path) {
    return {path, file.header(), file.reading_memory(), [&file](std::int64_t ranks) { return file.reading_seconds(ranks); }};
}

/// Forecasts on a dry run. @param dry  a fresh one
void forecast(World& dry, const IntegralSource& source, const CcOptions& options, CcResult& result) {
    try {
        CcResult gone_through;
        Fcidump empty = empty_fcidump(dry, source.header);
        dry.state()->note_working(source.reading_memory);
        compute(std::move(empty), "dry run", options, {}, gone_through);
        result.forecast_taken_bytes = dry.state()->taken_peak();
        result.forecast_seconds = gone_through.seconds;
        result.forecast_seconds.reading = source.reading_seconds ? source.reading_seconds(dry.size()) : 0;
    } catch (const OutOfMemory& error) {
        throw OutOfMemory(source.title + ": " + to_string(options.method) + " does not fit into the memory limit of " +
                          std::to_string(dry.memory_limit()) + " bytes per rank: " + error.what());
    }
}

CcResult plan(const World& world, const IntegralSource& source, const CcOptions& options, const std::optional<PlannedMachine>& machine) {
    CcResult result;
    result.header = source.header;
    check_method(options.method, result.header, source.title);
    const Communicator comm(world.communicator());
    std::string torus;
    comm.agree([&] {
        if (comm.rank() != 0) return;  // all would find the same
        auto planned = machine.value_or(PlannedMachine{world.size(), world.torus()});
        if (!planned.has_ranks()) planned.ranks = world.size();
        World dry = World::dry_run(planned);
        result.ranks = dry.size();
        torus = dry.torus().to_string();
        dry.set_memory_limit(world.memory_limit());
        dry.set_group_mapping(world.group_mapping());
        forecast(dry, source, options, result);
    });
    comm.broadcast(&result.ranks, sizeof result.ranks, 0);
    comm.broadcast(torus, 0);
    result.torus = Torus::parse(torus);
    comm.broadcast(&result.forecast_taken_bytes, sizeof result.forecast_taken_bytes, 0);
    comm.broadcast(&result.forecast_seconds, sizeof result.forecast_seconds, 0);
    // After the dry run, which has brought in the code of the planner already.
    const std::int64_t base = comm.maximum(current_process_memory()) + first_use_bytes;
    result.forecast_memory_bytes = base + result.forecast_taken_bytes + result.forecast_taken_bytes / page_slack;
    return result;
}

/// Computes, and completes the measurements. Collective.
CcResult run(Fcidump data, const std::string& title, const CcOptions& options, const CcProgress& progress, CcResult result) {
    const Communicator comm(data.two_electron.world().communicator());
    result.round_off_repeats = data.round_off_repeats;
    compute(std::move(data), title, options, progress, result);
    result.peak_memory_bytes = comm.maximum(peak_process_memory());
    for (double* const seconds : {&result.seconds.reading, &result.seconds.preparation, &result.seconds.iteration, &result.seconds.triples})
        *seconds = static_cast<double>(comm.maximum(std::llround(*seconds * 1e6))) / 1e6;
    return result;
}

}  // namespace

CcResult plan_coupled_cluster(const World& world, const std::string& path, const CcOptions& options,
                              const std::optional<PlannedMachine>& machine) {
    require_same(world, path, digest_of(options), digest_of(machine));
    const IntegralFile file(world, path);
    return plan(world, source_of(file, path), options, machine);
}

CcResult plan_coupled_cluster(const World& world, const FcidumpHeader& header, const CcOptions& options,
                              const std::optional<PlannedMachine>& machine) {
    require_same(world, digest_of(header), digest_of(options), digest_of(machine));
    return plan(world, {"integrals in memory", header}, options, machine);
}

CcResult run_coupled_cluster(const World& world, const std::string& path, const CcOptions& options, const CcProgress& progress) {
    require_same(world, path, digest_of(options));
    IntegralFile file(world, path);
    CcResult result = plan(world, source_of(file, path), options, {});
    if (progress.planned) progress.planned(result);

    const Stopwatch watch;
    Fcidump data = file.read(options.integrals);
    result.seconds.reading = watch.seconds();
    return run(std::move(data), path, options, progress, std::move(result));
}

CcResult run_coupled_cluster(Fcidump data, const CcOptions& options, const CcProgress& progress) {
    const World& world = data.two_electron.world();
    world.agree([&] { check_hamiltonian(data, "coupled cluster"); });
    require_same(world, digest_of(data), digest_of(options));
    const IntegralSource source{"integrals in memory", data.header};
    CcResult result = plan(world, source, options, {});
    if (progress.planned) progress.planned(result);
    return run(std::move(data), source.title, options, progress, std::move(result));
}

}  // namespace arges::chemistry
