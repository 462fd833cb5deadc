/// What predicts an element without factors: the mean of all elements, and for each row of each mode a bias, which is what its elements
/// have beyond the mean and the biases of their other rows.
#pragma once

#include "arges/complete.hpp"
#include "base/buffer.hpp"
#include "base/memory_tally.hpp"
#include "decompose/distribution/distribute.hpp"
#include "decompose/distribution/sparse_share.hpp"

#include <cstdint>
#include <vector>

namespace arges::decompose {

/// Biases of the local rows of each mode, those of other owners included.
template <class T>
struct Biases {
    double mean = 0;
    std::vector<Buffer<T>> rows{};  ///< by mode; none: there are no biases
};

/// Elements on all ranks of each row that this rank owns, or the sum of their weights, by mode; 0 for rows of other owners. Collective.
template <class T>
std::vector<Buffer<double>> count_elements(const Communicator& comm, const Distributed<T>& nonzeros);

/// Biases by alternating least squares, a few times mode after mode. Each is shrunk as if its row had bias_shrinkage elements more that
/// have none. Collective. @param counts of count_elements()
template <class T>
Biases<T> fit_biases(const Communicator& comm, const Distributed<T>& nonzeros, const std::vector<Buffer<double>>& counts, double mean);
inline constexpr double bias_shrinkage = 5;

/// Those of a model that has some; rows that it does not have get 0. Collective.
template <class T>
Biases<T> biases_of(const Communicator& comm, const std::vector<ModeRows>& rows, const CpModel<T>& model);

/// How many free numbers the biases are as good as where they fit noise: one counts the less, the fewer elements its row has. Collective.
double free_numbers(const Communicator& comm, const std::vector<Buffer<double>>& counts);

/// Sum over the elements of all ranks, with their weights, of (value - mean - biases)^2; without biases of value^2. Collective.
template <class T>
double squares_beyond(const Communicator& comm, const Distributed<T>& nonzeros, const Biases<T>& biases);

/// value -= mean + biases. Local.
template <class T>
void subtract_biases(Distributed<T>& nonzeros, const Biases<T>& biases);

/// Memory of count_elements() and fit_biases(); what it holds at the end is the counts and the biases. Pure.
MemoryTally biases_memory(const SparseShare& share, int threads);

}  // namespace arges::decompose
