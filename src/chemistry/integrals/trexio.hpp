/// Integrals in TREXIO files of the HDF5 back end: Posenitskiy et al., J. Chem. Phys. 158, 174801 (2023), and trexio.org.
///
/// What is used: electron_up_num and electron_dn_num, nucleus_repulsion, mo_num, mo_1e_int_core_hamiltonian, mo_2e_int_eri in its
/// sparse form (four indices, counted from 0, and a value for each integral <pq|rs> = (pr|qs), of equal ones any number),
/// mo_energy if it is there, and mo_spin for unrestricted orbitals. mo_occupation is checked: occupied orbitals come first. mo_symmetry is
/// ORBSYM where it is whole numbers; names of irreducible representations are left alone.
#pragma once

#include "arges/chemistry/fcidump.hpp"
#include "io/file/parallel_file.hpp"

#include <memory>
#include <string>

namespace arges::chemistry {

class EntrySource;

/// The entries of a TREXIO file. Elements between orbitals of different spin are not used: they are zero, or have no meaning.
/// Collective; `file` must outlive them.
/// @throws InvalidArgument with the group and the cure, for a file that is damaged, lacks integrals, or contradicts itself
std::unique_ptr<EntrySource> trexio_entries(const io::InputFile& file);

/// Writes a TREXIO file with all integrals that are not zero, of equal ones one; unrestricted orbitals as alpha, then beta ones.
/// Every rank writes the elements that it stores. The file gets its name when it is whole. Collective.
/// @throws InvalidArgument if the file cannot be written
void write_trexio(const std::string& path, const Fcidump& data);

}  // namespace arges::chemistry
