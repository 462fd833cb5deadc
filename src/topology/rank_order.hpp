/// The order of ranks that fits the machine: by coordinates on a torus, or by nodes. Pure.
#pragma once

#include "arges/torus.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace arges {

/// Coordinates of each process, in the order of MPI_COMM_WORLD.
using ProcessCoordinates = std::vector<std::vector<std::int64_t>>;

/// Reads a line of whole numbers for each process; blank lines and what follows a # do not count.
/// @param file       names the text in messages
/// @param processes  none: as many as there are lines
/// @throws InvalidArgument with file, line and cure for anything else, for lines of different lengths, or for another number of lines
ProcessCoordinates parse_coordinates(const std::string& text, const std::string& file, std::optional<std::int64_t> processes);

/// Processes put on a torus.
struct PlacedProcesses {
    Torus torus;
    std::vector<std::int64_t> rank;  ///< of each process: where it is on the torus, first dimension fastest
};

/// In each dimension the values that occur are numbered in ascending order, so that an allocation may begin anywhere.
/// @param coordinates  of one process at least
/// @param given  the torus that the user names; without lengths: as long as the coordinates say
/// @param file   names the coordinates in messages
/// @throws InvalidArgument with the cure if two processes have the same coordinates, if they leave places of the torus empty, or if the
/// torus is not the given one
PlacedProcesses place_on_torus(const ProcessCoordinates& coordinates, const Torus& given, const std::string& file);

/// The order in which the ranks of a node follow each other; nodes come in the order of their first rank, and so do ranks within a node.
/// @param node  of each rank: any number that tells nodes apart
/// @return of each rank: its new number
std::vector<std::int64_t> order_by_nodes(const std::vector<std::int64_t>& node);

}  // namespace arges
