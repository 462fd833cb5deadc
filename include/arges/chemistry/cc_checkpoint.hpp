/// @file chemistry/cc_checkpoint.hpp
/// Amplitudes in a file, to continue from.
#pragma once

#include "arges/chemistry/reference.hpp"
#include "arges/chemistry/solver.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <utility>

namespace arges::chemistry {

/// Where and how often amplitudes are saved.
struct CheckpointOptions {
    std::string path = {};  ///< empty: no checkpoint
    int interval = 5;       ///< iterations between two checkpoints; one more is written at the end
    bool restart = false;   ///< start from the amplitudes in the file, if there is one yet
};

/// Writes amplitudes of one calculation to a file, and reads them back on any number of ranks. The
/// file has the tensors T1, T2, ... and the values `method`, `orbitals` ("spin" or "spatial"),
/// `orbital_order`, `occupied_alpha`, `occupied_beta`, `virtual_alpha`, `virtual_beta` (numbers of
/// orbitals), `reference_energy`, `iteration` and `energy`.
///
/// T2(abij) has two virtual and then two occupied indices, and so on. An index over spin orbitals
/// counts all alpha orbitals first, then all beta ones (SpinSpace): i = 0, ..., occupied_alpha - 1
/// are alpha, i = occupied_alpha, ... beta. Orbitals of a spin are in the order of the integrals,
/// without frozen ones; semicanonical ones ascend in energy.
class AmplitudeFile {
public:
    /// @param options    where and how often
    /// @param method     for the file, e.g. "ccsdt"
    /// @param spatial    amplitudes are over spatial orbitals
    /// @param reference  what the amplitudes belong to
    /// @throws InvalidArgument for an interval below 1
    AmplitudeFile(CheckpointOptions options, std::string method, bool spatial, const Reference& reference);

    /// Makes sure that the file can be written. Replaces amplitudes by those of the same names in
    /// the file, if a restart is asked for and the file is there; others stay as they are, so that CCSDT may start from
    /// CCSD. Collective.
    /// @throws InvalidArgument if the file cannot be written, or has amplitudes of other sizes, of
    ///         another molecule, over other orbitals, or of other numbers of alpha and beta electrons
    void load(TensorSet& amplitudes) const;
    /// Writes the file if it is time to; true if it was. Collective.
    bool save(const TensorSet& amplitudes, const IterationReport& report, bool last) const;

private:
    CheckpointOptions options_;
    std::string method_, orbitals_;
    double reference_energy_;
    std::array<std::pair<const char*, std::int64_t>, 4> counts_;  // of orbitals, by their names in the file
};

}  // namespace arges::chemistry
