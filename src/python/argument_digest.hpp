/// What Python objects hold, as a number, to compare the arguments of the ranks.
#pragma once

#include "python/bindings.hpp"

#include <initializer_list>

namespace arges::python {

/// Of numbers, texts, arrays, tensors, and tuples, lists and dicts of such: their values; arrays are equal wherever their elements lie. Of
/// functions the name, and of those that the package defines in its calls what they hold: the arguments of the call. Of other objects the
/// class. Local.
std::uint64_t digest_of(std::initializer_list<nb::handle> values);

}  // namespace arges::python
