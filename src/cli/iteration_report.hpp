/// What `arges cpd` and `arges tucker` say about their iterations: why they ended, and what to mind.
#pragma once

#include "arges/cpd.hpp"
#include "arges/sparse_tensor.hpp"
#include "arges/tensor.hpp"

#include <ostream>
#include <string>
#include <vector>

namespace arges::cli {

/// For JSON: "tolerance", "iterations", "no step", "zero model", "held out", "seconds", "diverged", "interrupted".
std::string stop_name(StopReason reason);

/// For tables. @param settled  what StopReason::tolerance means
std::string stop_text(StopReason reason, const std::string& settled);

/// Writes a line for each warning.
void print_warnings(std::ostream& err, const std::vector<std::string>& warnings);

/// What to say where a tensor with negative values is to get factors without negative elements; nothing where it has none. Collective.
template <class T>
std::vector<std::string> negative_values_warnings(const SparseTensor<T>& tensor);
template <class T>
std::vector<std::string> negative_values_warnings(const Tensor<T>& tensor);

}  // namespace arges::cli
