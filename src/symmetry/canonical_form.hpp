/// What a symmetry says about the value of one element, from its index alone.
#pragma once

#include "arges/symmetry.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace arges {

/// The representative of an element, how its value follows from it, and which values are possible at all.
///
/// The value v of an element obeys v = (+-) v or v = (+-) conj(v) for each permutation of the symmetry that maps its index to
/// itself. For a representative, exchanges of equal children generate these permutations: in an antisymmetric node that says
/// v = -v, in a hermitian one v = conj(v), in others nothing. So an element is zero, real or free, and never imaginary. A hollow
/// node has its zeros by definition.
struct CanonicalForm {
    std::vector<std::int64_t> index;  ///< the representative's: by position (leaves in tree order), children sorted by packed index
    bool negative = false;            ///< element = -representative
    bool conjugate = false;           ///< element = conj(representative)
    bool zero = false;                ///< an antisymmetric or hollow node has equal children
    bool real = false;                ///< a hermitian node has equal children, and the element is not zero
};

/// Two elements are related by the symmetry if their forms have the same index. PackedNode::canonicalize() finds the same for a
/// slot, with packed indices.
/// @param index one number per dimension; what it says depends only on which of them are equal, so that labels will do
CanonicalForm canonical_form(const Symmetry& symmetry, std::span<const std::int64_t> index);

}  // namespace arges
