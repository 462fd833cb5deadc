/// @file predict.hpp
/// Elements of a CP model at given indices.
#pragma once

#include "arges/cpd.hpp"
#include "arges/sparse_io.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace arges {

struct TableOptions;

/// Elements of a model at indices, of each rank others: the mean and biases, where the model has them, and the part of the components. In a
/// row that the model does not have, because no element of it was fitted, the bias and the part of the components are 0. Collective.
/// @param model   of cp_decompose(), complete() or load_model()
/// @param indices by mode, of this rank's elements, from 0
/// @return the elements, in the order of the indices
/// @throws InvalidArgument on every rank for an index outside, or for other numbers of modes or of indices
template <class T>
std::vector<double> predict(const CpModel<T>& model, const std::vector<std::vector<std::int64_t>>& indices);

/// What was predicted. The same on every rank but for the text and the elements.
struct PredictionReport {
    std::int64_t lines = 0;        ///< of the file, with comments and blank ones; number of rows of ids
    std::int64_t predictions = 0;  ///< of elements
    std::int64_t unknown = 0;      ///< of these: with a row that the model does not have
    int index_base = 0;            ///< 0 or 1: what the file calls the first index
    bool has_values = false;       ///< the file has a value beside the indices
    double rmse = 0;               ///< root of the mean squared difference between these and the model
    std::string text{};            ///< on rank 0, where there is no output: what it would have
    std::int64_t skipped = 0;      ///< of a table: rows with empty fields that were left out
    /// Of ids: by mode, in how many rows there is an id that the model does not know.
    std::vector<std::int64_t> unknown_ids{};
    std::vector<double> elements{};  ///< of this rank's rows of a table or of ids; those of the ranks follow each other
};

/// Predicts the elements whose indices a text has on its lines, with a value behind them, or without on all lines, separated by blanks or
/// tabs; it may be compressed by gzip. Every rank reads and predicts its part. Collective.
/// @param model  as of predict()
/// @param path   the text
/// @param output gets the indices and the model's element on a line for each, in the order of the text; empty: no file
/// @param base   what the text calls the first index
/// @throws InvalidArgument on every rank with the number of the first wrong line, or if a file cannot be read or written
template <class T>
PredictionReport predict_file(const CpModel<T>& model, const std::string& path, const std::string& output,
                              IndexBase base = IndexBase::detect);

/// Predicts the elements that the rows of a table stand for: their ids are those of the table that the tensor was made of. A row with an id
/// that the model does not know is one of a row that it does not have, see predict(). Collective.
/// @param model   as of predict()
/// @param path    the table, as of read_table()
/// @param ids     file of the model's ids, see ids_path()
/// @param options how to read the table; without columns they are those that the modes are called by, and a column without a unit of time
///                has that of its mode; with a value the model is compared with that column
/// @param output  gets a table of the columns that make modes, that of the values, and the model's element in a column `predicted`, in the
///                order of the table, with its delimiter; empty: no file
/// @throws InvalidArgument on every rank as read_table(), if there are no ids or those of another tensor, or if a file cannot be written
template <class T>
PredictionReport predict_table(const CpModel<T>& model, const std::string& path, const std::string& ids, const TableOptions& options,
                               const std::string& output);

/// Bytes that predict_table() takes on the rank that takes most, beside the model: an upper bound from the first lines of the table, if no
/// more of its ids are unknown than these have ids. 0 where they tell nothing, as of standard input. Arguments are those of
/// predict_table(). Collective. @throws InvalidArgument as that
template <class T>
std::int64_t prediction_bytes(const CpModel<T>& model, const std::string& path, const std::string& ids, const TableOptions& options,
                              const std::string& output);

/// Likewise of predict_file(), from places of the text. Collective. @throws InvalidArgument on every rank if it cannot be opened
template <class T>
std::int64_t prediction_bytes(const CpModel<T>& model, const std::string& path, const std::string& output);

/// Predicts the elements that rows of ids stand for, as predict_table(). Every rank gives all rows, and predicts its part. Collective.
/// @param model as of predict()
/// @param rows  for each element an id for each mode; where a mode has a unit of time, a time
/// @param ids   file of the model's ids, see ids_path()
/// @throws InvalidArgument on every rank for a row with another number of ids, and as predict_table()
template <class T>
PredictionReport predict_ids(const CpModel<T>& model, const std::vector<std::vector<std::string>>& rows, const std::string& ids);
/// Likewise with the ids by mode and index, all of them on every rank. Modes have no units of time: each id is looked for as it is.
template <class T>
PredictionReport predict_ids(const CpModel<T>& model, const std::vector<std::vector<std::string>>& rows,
                             const std::vector<std::vector<std::string>>& ids);

}  // namespace arges
