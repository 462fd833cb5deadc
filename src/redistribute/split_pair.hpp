/// Fills one part of a tensor with joint pair symmetry; see PairSplit.
#pragma once

#include "plan/product/pair_split.hpp"

namespace arges {

/// to[...] += alpha * (P(p0,q0,p1,q1) +- P(p1,q0,p0,q1)) for p0 <= p1 and q0 <= q1 (less where antisymmetric). Threaded.
template <class T>
void split_pair(const PairSplit& split, const T* from, T* to, T alpha, bool conjugate);

}  // namespace arges
