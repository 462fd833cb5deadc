/// How a model was found: what the run that made it would print as JSON, kept in a file beside it.
#pragma once

#include "arges/world.hpp"

#include <nlohmann/json.hpp>

#include <string>

namespace arges::cli {

/// Of a model's folder its file run.json; beside a file of a model, with .run.json behind its name. Local.
std::string run_path(const std::string& model);

/// Writes what a run has found, with the name of the program and its input. The file appears when it is complete. Collective.
/// @param found  on rank 0 @throws InvalidArgument on every rank if it cannot be written
void write_run(const World& world, const std::string& model, const std::string& program, const std::string& input,
               const nlohmann::ordered_json& found);

/// What write_run() has written, on every rank; null where there is none. Collective.
/// @param warning  gets why a file that is there is not taken
nlohmann::ordered_json read_run(const World& world, const std::string& model, std::string& warning);

}  // namespace arges::cli
