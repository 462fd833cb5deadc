/// Amplitudes in a file, to continue from.
#pragma once

#include "chemistry/reference.hpp"
#include "chemistry/solver.hpp"

#include <string>

namespace arges::chemistry {

/// Where and how often amplitudes are saved.
struct CheckpointOptions {
    std::string path = {};  ///< empty: no checkpoint
    int interval = 5;       ///< iterations between two checkpoints; one more is written at the end
    bool restart = false;   ///< start from the amplitudes in the file
};

/// Writes amplitudes of one calculation to a file, and reads them back on any number of ranks. The
/// file has the tensors T1, T2, ... and the values `method`, `orbitals` ("spin" or "spatial"),
/// `reference_energy`, `iteration` and `energy`.
class AmplitudeFile {
public:
    /// @param method     for the file, e.g. "ccsdt"
    /// @param spatial    amplitudes are over spatial orbitals
    AmplitudeFile(CheckpointOptions options, std::string method, bool spatial,
                  const Reference& reference);

    /// Makes sure that the file can be written. Replaces amplitudes by those of the same names in
    /// the file, if a restart is asked for; others stay as they are, so that CCSDT may start from
    /// CCSD. Collective.
    /// @throws InvalidArgument if the file cannot be written, or has amplitudes of other sizes, of
    ///         another molecule, or over other orbitals
    void load(TensorSet& amplitudes) const;
    /// Writes the file if it is time to; true if it was. Collective.
    bool save(const TensorSet& amplitudes, const IterationReport& report, bool last) const;

private:
    CheckpointOptions options_;
    std::string method_, orbitals_;
    double reference_energy_;
};

}  // namespace arges::chemistry
