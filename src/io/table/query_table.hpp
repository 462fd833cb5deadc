/// Rows of a table as indices of a model whose tensor was made of such a table.
#pragma once

#include "arges/table_io.hpp"
#include "comm/communicator.hpp"
#include "io/table/id_table.hpp"
#include "io/table/table_layout.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace arges::io {

/// The rows of this rank, in their order; parts follow each other by rank.
struct QueryRows {
    TableLayout layout{};
    std::int64_t lines = 0;                            ///< of the table
    std::int64_t skipped = 0;                          ///< of all rows: those with empty fields that were left out
    std::vector<IdTable> fields{};                     ///< by mode, as they stand in the table
    std::vector<std::vector<std::int64_t>> numbers{};  ///< by mode and row: of its field
    std::vector<std::vector<std::int64_t>> indices{};  ///< by mode and row: of the model, from 0; -1: it has no such id
    std::vector<double> values{};                      ///< by row, if there is a column of them

    std::int64_t count() const { return numbers.empty() ? 0 : std::ssize(numbers[0]); }
    std::string_view field(std::size_t mode, std::int64_t row) const { return fields[mode].id(numbers[mode][row]); }
};

/// Reads a table. Plain text is read by all ranks in parts, a stream by rank 0. Collective.
/// @param ids      file of the model's ids
/// @param names    of the model's modes; where options.columns is empty they are the columns, and where one of these has no unit of time it
///                 has that of the mode
/// @throws InvalidArgument on every rank, as read_table(), or if a column is given another unit than the mode has
QueryRows read_query_table(const Communicator& comm, const std::string& path, const std::string& ids, const std::vector<std::string>& names,
                           TableOptions options);

}  // namespace arges::io
