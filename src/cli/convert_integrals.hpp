/// arges convert between files of integrals.
#pragma once

#include "arges/world.hpp"

#include <ostream>
#include <string>

namespace arges::cli {

/// Reads integrals of either form, writes them in the one that the name of `output` tells, and prints what was done: a table, or one
/// JSON object. Collective. @throws InvalidArgument as chemistry::IntegralFile and chemistry::write_integrals()
void convert_integrals(const World& world, const std::string& input, const std::string& output, bool json, std::ostream& out);

}  // namespace arges::cli
