/// @file arges.hpp
/// Everything but chemistry (arges/chemistry.hpp): include this one.
#pragma once

#include "arges/checkpoint.hpp"
#include "arges/complete.hpp"
#include "arges/cpd.hpp"
#include "arges/einsum.hpp"
#include "arges/element_functions.hpp"
#include "arges/element_type.hpp"
#include "arges/error.hpp"
#include "arges/expression.hpp"
#include "arges/group_mapping.hpp"
#include "arges/linalg.hpp"
#include "arges/scalar.hpp"
#include "arges/sparse_io.hpp"
#include "arges/sparse_tensor.hpp"
#include "arges/subworlds.hpp"
#include "arges/symmetry.hpp"
#include "arges/tensor.hpp"
#include "arges/tensor_io.hpp"
#include "arges/torus.hpp"
#include "arges/tucker.hpp"
#include "arges/world.hpp"
