/// Elements of CP models at indices.
#pragma once

#include "arges/cpd.hpp"
#include "arges/predict.hpp"
#include "comm/communicator.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace arges::decompose {

/// The elements at indices, by mode, of this rank; adds how many lie in rows that the model does not have to `unknown`. A negative index is
/// one of no row. Collective.
template <class T>
std::vector<double> elements_at(const Communicator& comm, const CpModel<T>& model, const std::vector<std::vector<std::int64_t>>& indices,
                                std::int64_t& unknown);

/// Root of the mean squared difference between values and what was found, of all ranks. Collective.
double root_mean_square(const Communicator& comm, const double* values, const std::vector<double>& found);

void append_element(std::string& text, double element);

/// Writes a line for each of this rank's elements, behind a heading, to a file, or where it has no name to the report. Collective.
/// @param append  adds the line of an element, without its end
void write_predictions(const Communicator& comm, const std::string& output, const std::string& heading, std::int64_t count,
                       const std::function<void(std::string& text, std::int64_t x)>& append, PredictionReport& report);

}  // namespace arges::decompose
