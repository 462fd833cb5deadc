/// From an FCIDUMP file to correlation energies.
#pragma once

#include "chemistry/ccsd.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace arges::chemistry {

/// How far to go; each method includes those before it.
enum class Method { mp2, ccsd, ccsd_t };

/// Reads "mp2", "ccsd" or "ccsd(t)", upper or lower case.
/// @throws InvalidArgument for anything else
Method parse_method(std::string_view text);
/// "MP2", "CCSD" or "CCSD(T)".
std::string to_string(Method method);

/// What to compute.
struct CcOptions {
    Method method = Method::ccsd;
    CcsdOptions ccsd{};
};

/// Energies in hartree: `scf` is the total energy of the reference, the others are correlation
/// energies. A method that was not asked for, or that does not apply to the orbitals (MP2 over
/// non-canonical ones), has none.
struct CcResult {
    std::int64_t orbitals = 0;   ///< spatial orbitals
    std::int64_t electrons = 0;  ///< correlated electrons
    double scf = 0;
    std::optional<double> mp2 = {};
    std::optional<double> ccsd = {};
    std::optional<double> ccsd_t = {};   ///< with the CCSD part
    int iterations = 0;                  ///< of CCSD
    double seconds_per_iteration = 0;    ///< mean; 0 without iterations
    std::int64_t peak_memory_bytes = 0;  ///< largest resident size of a rank, measured
    std::int64_t forecast_memory_bytes =
        0;  ///< what was expected before the start: see forecast_memory()
    std::int64_t ranks = 0;
};

/// What a caller may show while the work goes on. Called on every rank; any may be empty.
struct CcProgress {
    std::function<void(const CcResult&)> planned = {};    ///< sizes and memory forecast are known
    std::function<void(const CcResult&)> reference = {};  ///< scf and mp2 are known
    Progress iteration = {};                              ///< after every iteration of CCSD
};

/// Bytes that tensors and operations of a calculation hold on a rank at most: the same statements,
/// gone through on a dry run of as many ranks with the same torus and memory limit. Local.
std::int64_t forecast_memory(const World& world, const FcidumpHeader& header,
                             const CcOptions& options);

/// Reads the file and computes the energies. Collective; the same result on every rank.
/// The forecast is that of forecast_memory() plus what the process holds before the start.
/// @throws InvalidArgument for a file that is not a complete and consistent RHF file, or for MP2 or
///         CCSD(T) over orbitals that are not canonical; NotConverged; OutOfMemory before the start
///         if the forecast cannot be met
CcResult run_coupled_cluster(const World& world, const std::string& path, const CcOptions& options,
                             const CcProgress& progress = {});

}  // namespace arges::chemistry
