/// The machine as plans see it: a few measured constants, its interconnect, and the file that keeps them.
#pragma once

#include "topology/interconnect.hpp"

#include <optional>
#include <string>

namespace arges {

/// Rates that turn flops and bytes into seconds, of one rank. Plans depend on their ratios. `arges calibrate` measures them.
struct MachineModel {
    double flops_per_second = 2e10;
    double bytes_per_second = 4e9;         ///< between ranks
    double copied_bytes_per_second = 6e9;  ///< local copies
    double message_seconds = 5e-6;
    double listed_element_seconds = 5e-9;  ///< to copy one element along lists of offsets
    double cache_bytes = 8 << 20;          ///< a rank's share of the last-level cache: the fast memory of explain()'s intensities
    Interconnect interconnect;
    bool operator==(const MachineModel&) const = default;
};

/// Lines "name = value", one for each constant and for what is known of the interconnect, with a comment on top.
std::string to_text(const MachineModel& machine);

/// The constants where nothing was measured: a rank of several threads multiplies as many times faster. Pure.
MachineModel default_machine(int threads = 1);

/// Reads such lines; blank lines and what follows a # do not count.
/// @param file names the text in messages  @param machine has the constants that are not named
/// @throws InvalidArgument with file, line and cure for an unknown or repeated name, or a value that is not what it should be
MachineModel parse_machine_model(const std::string& text, const std::string& file, MachineModel machine = {});

/// The constants that `file` holds, and those of `otherwise` where it names none; nothing if there is no such file.
/// @throws InvalidArgument if it cannot be read, or as parse_machine_model() does
std::optional<MachineModel> read_machine_model(const std::string& file, const MachineModel& otherwise = {});

/// Writes the file, and its folder where it is missing. It is written beside its place and renamed, so that a reader sees the old
/// file or the new one.
/// @throws InvalidArgument naming the file if it cannot be written
void write_machine_model(const std::string& file, const MachineModel& machine);

}  // namespace arges
