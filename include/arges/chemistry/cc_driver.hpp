/// @file chemistry/cc_driver.hpp
/// From a file of integrals to correlation energies.
#pragma once

#include "arges/chemistry/cc_checkpoint.hpp"
#include "arges/chemistry/fcidump.hpp"
#include "arges/chemistry/frozen_orbitals.hpp"
#include "arges/chemistry/rtriples.hpp"
#include "arges/chemistry/solver.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace arges::chemistry {

/// What to compute. MP2 comes with every method where the orbitals allow it, and an iterative
/// method with its (T). The names that begin with r are for closed shells: spin-adapted, over
/// spatial orbitals; the others are over spin orbitals.
enum class Method { mp2, ccsd, ccsd_t, rccsd, rccsd_t, ccsdt, ccsdtq };

/// Reads "mp2", "ccsd", "ccsd(t)", "rccsd", "rccsd(t)", "ccsdt" or "ccsdtq", upper or lower case.
/// @throws InvalidArgument for anything else, with these names
Method parse_method(std::string_view text);
/// "mp2", "ccsd(t)", ...: what parse_method() reads.
std::string name_of(Method method);
/// "MP2", "CCSD(T)", ...
std::string to_string(Method method);

/// What to compute, and how.
struct CcOptions {
    Method method = Method::ccsd;    ///< what to compute
    SolverOptions solver{};          ///< of the amplitude equations
    CheckpointOptions checkpoint{};  ///< of the amplitudes
    FrozenOrbitals frozen{};         ///< orbitals to leave out
    bool find_core = false;          ///< freeze core_orbitals() instead of `frozen.core`
    IntegralOptions integrals{};     ///< of the file
    /// Amplitudes to start from, of the names and extents of this calculation's, e.g. those of another geometry; it must live until the
    /// end. Those that it has not, and all if it is null, start at first order. A checkpoint goes before it. Its tensors are only read.
    const TensorSet* guess = nullptr;
    bool keep_amplitudes = false;  ///< CcResult::amplitudes are wanted
};

/// A correlation energy in hartree.
struct MethodEnergy {
    Method method = Method::mp2;  ///< what was computed
    double correlation = 0;       ///< in hartree
};

/// Times in seconds, on the slowest rank.
struct CcSeconds {
    double reading = 0;      ///< the file
    double preparation = 0;  ///< Fock matrix, blocks of integrals, MP2
    double iteration = 0;    ///< of the amplitude equations, the median; 0 without iterations
    double triples = 0;      ///< (T)
};

/// Energies in hartree: `scf` is the total energy of the reference, the others are correlation
/// energies.
struct CcResult {
    FcidumpHeader header = {};                ///< orbitals and electrons
    double scf = 0;                           ///< total energy of the reference determinant
    std::vector<MethodEnergy> energies = {};  ///< of the methods computed, in this order
    int iterations = 0;                       ///< of the amplitude equations
    CcSeconds seconds{};                      ///< measured
    CcSeconds forecast_seconds{};             ///< what the machine model gives for them: see plan_coupled_cluster()
    std::int64_t peak_memory_bytes = 0;       ///< largest resident size of a rank, measured
    std::int64_t forecast_memory_bytes = 0;   ///< what was expected: see plan_coupled_cluster()
    std::int64_t forecast_taken_bytes = 0;    ///< of that, what the calculation takes: tensors, workspace, plans and their lists, copies
    std::int64_t ranks = 0;                   ///< that the forecasts are for
    Torus torus{};                            ///< likewise
    FrozenOrbitals frozen{};                  ///< orbitals that were left out
    std::int64_t round_off_repeats = 0;       ///< entries of the file that repeat an integral up to round-off
    TensorSet amplitudes{};                   ///< T1, T2, ..., as AmplitudeFile has them; see CcOptions::keep_amplitudes

    /// Correlation energy of a method; none if it was not computed.
    std::optional<double> energy(Method method) const;
};

/// What a caller may show while the work goes on. Called on every rank; any may be empty.
struct CcProgress {
    std::function<void(const CcResult&)> planned = {};    ///< sizes and memory forecast are known
    std::function<void(const CcResult&)> reference = {};  ///< scf and mp2 are known
    Progress iteration = {};                              ///< after every iteration
    Progress saved = {};                                  ///< the checkpoint of an iteration is whole
    PartDone triples = {};                                ///< now and then during (T)
};

/// Sizes and forecasts of a calculation, which is not done; only the head of the file is read. Collective; the same result on
/// every rank.
///
/// The memory is what a rank takes at most: what the process holds already, tensors, workspace, plans and the lists of their
/// movements, copies within products, buffers of reading, and what the heap leaves unused between them. The same statements are
/// gone through on a dry run with the same torus and memory limit. Times come from the machine model (`arges calibrate`).
/// @param world    whose memory limit counts
/// @param path     file of integrals
/// @param options  what to compute
/// @param machine  to plan for, with as many ranks as the world where it says none; without it that of the world. Rank 0 reads its files
/// @throws InvalidArgument as run_coupled_cluster(); OutOfMemory if the calculation does not fit into the memory limit
CcResult plan_coupled_cluster(const World& world, const std::string& path, const CcOptions& options,
                              const std::optional<PlannedMachine>& machine = {});

/// Likewise for integrals in memory, of which only the header is known; what they take is in the forecast, and nothing for reading.
CcResult plan_coupled_cluster(const World& world, const FcidumpHeader& header, const CcOptions& options,
                              const std::optional<PlannedMachine>& machine = {});

/// Reads the file and computes the energies. Collective; the same result on every rank.
/// The forecasts are those of plan_coupled_cluster().
/// @throws InvalidArgument for a file that is not complete and consistent, or a method that its
///         orbitals do not allow; NotConverged; OutOfMemory before the start if the forecast cannot
///         be met; InvalidArgument if path, options or forms differ between ranks, or the guess has other extents
CcResult run_coupled_cluster(const World& world, const std::string& path, const CcOptions& options, const CcProgress& progress = {});

/// Computes the energies of integrals in memory, which are gone afterwards. Collective; the same result on every rank.
/// @param data     as empty_fcidump() makes it, filled
/// @param options  what to compute
/// @param progress what to show meanwhile
/// @throws as for a file, and InvalidArgument if the tensors are not those of the header
CcResult run_coupled_cluster(Fcidump data, const CcOptions& options, const CcProgress& progress = {});

}  // namespace arges::chemistry
