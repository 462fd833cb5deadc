/// @file model_items.hpp
/// What weighs most in the components of a model, and how they run along the modes.
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

/// A column of a factor along its rows: parts of rows, one after the other.
struct RowProfile {
    std::vector<double> least{};    ///< by part: the least value
    std::vector<double> largest{};  ///< by part
};

/// The columns of a factor along its rows, in at most so many parts whose numbers of rows differ by one at most: with as many parts as rows
/// the values themselves. Rows that nobody has are zero. Collective.
/// @param model, mode  whose factor; modes count from 0 @param parts  at most, 1 or more
/// @throws InvalidArgument on every rank if there is no such mode or no part
template <class T>
std::vector<RowProfile> row_profiles(const CpModel<T>& model, int mode, std::int64_t parts);
/// Likewise of a Tucker model.
template <class T>
std::vector<RowProfile> row_profiles(const TuckerModel<T>& model, int mode, std::int64_t parts);

}  // namespace arges
