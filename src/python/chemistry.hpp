/// Hamiltonians and amplitudes between Python and the library.
#pragma once

#include "python/bindings.hpp"

#include "arges/chemistry.hpp"

namespace arges::python {

/// A Hamiltonian in memory. Collective.
/// @param given  what every rank has: orbitals, electrons, ms2, unrestricted, core_energy; on the first rank h, eri and, unrestricted,
///               h_beta, eri_beta, eri_mixed, besides: one element of each orbit, in the order of OrbitKeys
chemistry::Fcidump integrals_of(const World& world, const nb::dict& given);

/// Tensors by name. They are those of the dict, not copies. @throws InvalidArgument for other than dense tensors of float64
chemistry::TensorSet set_of(const nb::dict& tensors);

/// Moves the tensors of a set into a dict.
nb::dict dict_of(chemistry::TensorSet tensors);

/// Shows the iterations of a solver to a function of the caller, None for none; raises KeyboardInterrupt on every rank if one was
/// interrupted. The function must outlive what is returned, which may be called outside of the interpreter.
chemistry::Progress progress_of(const World& world, const nb::object& progress);

/// Blocks of integrals, DIIS, denominators and the solver, for methods that are written in Python.
void bind_chemistry_pieces(nb::module_& module);

}  // namespace arges::python
