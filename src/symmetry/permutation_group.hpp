/// The permutation group of a symmetry tree, for small trees: structural questions are answered by looking at all elements.
#pragma once

#include "arges/symmetry.hpp"

#include <cstdint>
#include <vector>

namespace arges {

/// A permutation with the factor that the value takes on: T(x_image) = (-1)^negative conj^conjugate T(x), where position d
/// of the permuted tuple holds x[image[d]].
struct SignedPermutation {
    std::vector<int> image;
    bool negative = false;
    bool conjugate = false;
    bool operator==(const SignedPermutation&) const = default;
};

/// Permutations are listed up to this group size; beyond it Unsupported is thrown.
inline constexpr std::int64_t max_group_size = 50000;

/// Number of elements of the group of a tree; sym(sym(p,q),sym(r,s)): 8.
std::int64_t group_size(const SymmetryNode& node);

/// All elements of the group of `node`, acting on tuples of `order` entries indexed by the dimensions of the leaves; the
/// identity comes first. Example antisym(0,1): {0,1}, {1,0} negative.
/// @throws Unsupported beyond max_group_size
std::vector<SignedPermutation> group_of(const SymmetryNode& node, int order);

/// All elements of the group of a whole symmetry.
std::vector<SignedPermutation> group_of(const Symmetry& symmetry);

/// True if `permutation` is in the group of the symmetry; then `sign` and `conjugate` of the argument are set to the factor.
/// Works for any group size.
bool contains(const Symmetry& symmetry, SignedPermutation& permutation);

}  // namespace arges
