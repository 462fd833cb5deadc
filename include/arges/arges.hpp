/// @file arges.hpp
/// Everything: include this one.
#pragma once

#include "arges/einsum.hpp"
#include "arges/error.hpp"
#include "arges/expression.hpp"
#include "arges/scalar.hpp"
#include "arges/symmetry.hpp"
#include "arges/tensor.hpp"
#include "arges/torus.hpp"
#include "arges/world.hpp"
