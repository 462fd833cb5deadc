/// What a caller may give to the functions of the public headers.
#pragma once

#include "arges/chemistry/reference.hpp"

#include <cstdint>
#include <string>

namespace arges::chemistry {

/// Local. @throws InvalidArgument unless the electrons fit into the orbitals and the tensors are those of empty_fcidump(), on one
/// world
/// @param what  names the caller in messages
void check_hamiltonian(const Fcidump& data, const std::string& what);

/// Local. @throws InvalidArgument, besides, unless the reference has the orbitals and electrons of this Hamiltonian
void check_reference(const Fcidump& data, const Reference& reference, const std::string& what);

/// What of a Hamiltonian every rank has itself, to compare it between ranks. Local.
std::uint64_t digest_of(const FcidumpHeader& header);
std::uint64_t digest_of(const Fcidump& data);

}  // namespace arges::chemistry
