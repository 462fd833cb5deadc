/// What looks wrong about a sparse tensor that was read, although it can be right.
#pragma once

#include "arges/sparse_io.hpp"

#include <string>
#include <vector>

namespace arges::cli {

/// A sentence for each thing that looks wrong, and what to do about it: modes that are nearly empty, as with times in seconds for indices,
/// and values that look like another index. Collective; the same on every rank.
template <class T>
std::vector<std::string> reading_warnings(const SparseFile<T>& file);

}  // namespace arges::cli
