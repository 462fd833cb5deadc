/// The machine as plans see it: a few measured constants, and the file that keeps them.
#pragma once

#include <cstdint>
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
    bool operator==(const MachineModel&) const = default;
};

/// Lines "name = value", one for each constant, with a comment on top.
std::string to_text(const MachineModel& machine);

/// Reads such lines; blank lines and what follows a # do not count, constants that are not named keep their defaults.
/// @param file names the text in messages
/// @throws InvalidArgument with file, line and cure for an unknown or repeated name, or a value that is not a positive number
MachineModel parse_machine_model(const std::string& text, const std::string& file);

/// The constants that `file` holds; none if there is no such file.
/// @throws InvalidArgument if it cannot be read, or as parse_machine_model() does
std::optional<MachineModel> read_machine_model(const std::string& file);

/// Writes the file, and its folder where it is missing. It is written beside its place and renamed, so that a reader sees the old
/// file or the new one.
/// @throws InvalidArgument naming the file if it cannot be written
void write_machine_model(const std::string& file, const MachineModel& machine);

}  // namespace arges
