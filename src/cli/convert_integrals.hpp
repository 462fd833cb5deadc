/// arges convert between files of integrals.
#pragma once

#include "arges/chemistry/fcidump.hpp"
#include "arges/world.hpp"

#include <ostream>
#include <string>

namespace arges::cli {

/// What to write, and how to read.
struct IntegralConversion {
    std::string input, output;
    chemistry::IntegralOptions options{};
};

/// Reads integrals of either form, writes them in the one that the name of the output tells, and prints what was done: a table, or one
/// JSON object. Collective. @throws InvalidArgument as chemistry::IntegralFile and chemistry::write_integrals()
void convert_integrals(const World& world, const IntegralConversion& conversion, bool json, std::ostream& out);

}  // namespace arges::cli
