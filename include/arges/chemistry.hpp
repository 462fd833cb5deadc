/// @file chemistry.hpp
/// Correlated electrons: integrals of molecules, orbital spaces, amplitude equations and their solution. It is not part of
/// arges.hpp. docs/write_your_own_method.md shows how the pieces make a method.
#pragma once

#include "arges/chemistry/cc_checkpoint.hpp"
#include "arges/chemistry/cc_driver.hpp"
#include "arges/chemistry/cc_equations.hpp"
#include "arges/chemistry/denominators.hpp"
#include "arges/chemistry/diis.hpp"
#include "arges/chemistry/fcidump.hpp"
#include "arges/chemistry/frozen_orbitals.hpp"
#include "arges/chemistry/integrals.hpp"
#include "arges/chemistry/mp2.hpp"
#include "arges/chemistry/rccsd.hpp"
#include "arges/chemistry/reference.hpp"
#include "arges/chemistry/rtriples.hpp"
#include "arges/chemistry/solver.hpp"
#include "arges/chemistry/spatial_integrals.hpp"
#include "arges/chemistry/tensor_set.hpp"
#include "arges/chemistry/triples.hpp"

/// Correlated electrons: see arges/chemistry.hpp.
namespace arges::chemistry {}
