/// @file model_items.hpp
/// What weighs most in the components of a model.
#pragma once

#include "arges/cpd.hpp"
#include "arges/tucker.hpp"

#include <cstdint>
#include <vector>

namespace arges {

/// A row of a factor in one of its columns.
struct ModelItem {
    std::int64_t index = 0;  ///< of the row, from 0
    double value = 0;        ///< of the factor
    double share = 0;        ///< of the sum of the squares of the column, 0 to 1
};

/// The rows of a factor with the largest absolute values, by column; of equal ones those with smaller indices. Rows that are zero in a
/// column are none. Collective.
/// @param model, mode  whose factor; modes count from 0 @param count  of items of a column at most
/// @throws InvalidArgument if there is no such mode
template <class T>
std::vector<std::vector<ModelItem>> top_items(const CpModel<T>& model, int mode, std::int64_t count);
/// Likewise of a Tucker model.
template <class T>
std::vector<std::vector<ModelItem>> top_items(const TuckerModel<T>& model, int mode, std::int64_t count);

}  // namespace arges
