/// Fills arrays from tensors with pair nodes: one part of a tensor with joint pair symmetry, or a dense array; see PairSplit and
/// PairUnpack.
#pragma once

#include "arges/element_kernels.hpp"
#include "plan/product/pair_split.hpp"

namespace arges {

/// to[...] += alpha * (P(p0,q0,p1,q1) +- P(p1,q0,p0,q1)) for p0 <= p1 and q0 <= q1 (less where antisymmetric). Threaded.
template <class T>
void split_pair(const PairSplit& split, const T* from, T* to, T alpha, bool conjugate);

/// to[...] (+)= alpha * (the element of `from` that the pair's symmetry gives). Threaded.
template <class T>
void unpack_pair(const PairUnpack& pair, const T* from, T* to, T alpha, bool conjugate, bool accumulate);

/// Likewise by the kernels' own function, or row by row where they have none.
void unpack_pair(const ElementKernels& kernels, const PairUnpack& pair, const void* from, void* to, const void* alpha, bool conjugate,
                 bool accumulate);

}  // namespace arges
