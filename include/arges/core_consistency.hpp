/// @file core_consistency.hpp
/// Whether a CP model has as many components as its tensor has.
#pragma once

#include "arges/cpd.hpp"

namespace arges {

/// Core consistency (Bro and Kiers, J. Chemometrics 17, 2003) in percent: 100 (1 - |G - I|^2 / R), where G is the Tucker core that fits the
/// tensor best with the factors of the model, weights included, and I the core of the model, with ones where all indices are equal. Near
/// 100 for a trilinear structure, small or negative where components share what they describe: too many of them, or noise. G comes from
/// the tensor times the transposed factors, by one statement, and the pseudo-inverses of their Gram matrices, so that nothing as large as
/// the tensor is made (Papalexakis and Faloutsos, ICASSP 2015). Collective.
/// @param tensor elements that are not stored are zero  @param model of its lengths, with R components
/// @throws InvalidArgument if the lengths differ, or if R to the power of the order is over 2^24
template <class T>
double core_consistency(const SparseTensor<T>& tensor, const CpModel<T>& model);
/// The same of a dense tensor.
template <class T>
double core_consistency(const Tensor<T>& tensor, const CpModel<T>& model);

}  // namespace arges
