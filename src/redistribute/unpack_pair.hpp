/// Fills a dense array from a packed pair node; see PairUnpack.
#pragma once

#include "arges/element_kernels.hpp"
#include "plan/product/pair_unpack.hpp"

namespace arges {

/// to[...] (+)= alpha * (the element of `from` that the pair's symmetry gives). Threaded.
template <class T>
void unpack_pair(const PairUnpack& pair, const T* from, T* to, T alpha, bool conjugate, bool accumulate);

/// Likewise by the kernels' own function, or row by row where they have none.
void unpack_pair(const ElementKernels& kernels, const PairUnpack& pair, const void* from, void* to, const void* alpha, bool conjugate,
                 bool accumulate);

}  // namespace arges
