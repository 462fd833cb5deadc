/// Elements of Tucker models, without the whole model.
#pragma once

#include "arges/tucker.hpp"
#include "comm/communicator.hpp"

#include <cstdint>
#include <vector>

namespace arges::decompose {

/// Elements of a model at indices within it, of each rank others; zero where the model has no row. Collective.
/// @param indices by mode
template <class T>
std::vector<double> elements_at(const Communicator& comm, const TuckerModel<T>& model,
                                const std::vector<std::vector<std::int64_t>>& indices);

/// By pair of columns of a mode's factor: what the squared norm of a slice of the model is made of, R x R. The squared norm of slice i is
/// the sum over (a, b) of its elements times those of row i. Collective.
template <class T>
std::vector<double> slice_gram(const Communicator& comm, const TuckerModel<T>& model, int mode);

/// A^T A of a factor, R x R. Collective.
template <class T>
std::vector<double> factor_gram(const Communicator& comm, const ModelFactors<T>& model, int mode, std::int64_t columns);

}  // namespace arges::decompose
