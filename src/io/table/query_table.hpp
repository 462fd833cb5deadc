/// Rows of a table as indices of a model whose tensor was made of such a table.
#pragma once

#include "arges/table_io.hpp"
#include "comm/communicator.hpp"
#include "io/table/id_table.hpp"
#include "io/table/table_layout.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
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

/// What the first lines of a table let expect of all.
struct QueryOutline {
    std::int64_t rows = 0;  ///< 0: nothing is known
    std::int64_t bytes_of_row = 0;
    bool is_stream = false;  ///< rank 0 has all rows
    std::int64_t sampled = 0;
    std::vector<std::int64_t> ids{};       ///< by mode: different fields among the rows that were sampled
    std::vector<std::int64_t> id_bytes{};  ///< by mode: of a field

    std::int64_t rows_of_rank(std::int64_t ranks) const { return is_stream ? rows : (rows + ranks - 1) / ranks; }
    /// At most, where no more ids are unknown than the sample has ids: new ones become rarer. @param known  ids of the model
    std::int64_t ids_of_rank(std::size_t mode, std::int64_t ranks, std::int64_t known) const {
        const auto all = rows_of_rank(ranks);
        return std::min({all, known + ids[mode], std::max(sampled, all) * ids[mode] / sampled + 1});
    }

    template <class P>
    void parts(P& packed) {
        packed(rows, bytes_of_row, is_stream, sampled, ids, id_bytes);
    }
};

/// Looks at the first lines of a table. Arguments are those of read_query_table(); what is wrong with the table is left for that to say.
/// Collective. @throws InvalidArgument on every rank if it cannot be opened
QueryOutline query_outline(const Communicator& comm, const std::string& path, const std::vector<std::string>& names, TableOptions options);

/// The indices of ids, as indices_of_ids() has them. Collective.
using FindIds = std::function<std::vector<std::vector<std::int64_t>>(const std::vector<IdTable>& asked)>;

/// Reads a table. Plain text is read by all ranks in parts, a stream by rank 0. Collective.
/// @param find     knows the model's ids
/// @param names    of the model's modes; where options.columns is empty they are the columns, and where one of these has no unit of time it
///                 has that of the mode
/// @throws InvalidArgument on every rank, as read_table(), or if a column is given another unit than the mode has
QueryRows read_query_table(const Communicator& comm, const std::string& path, const FindIds& find, const std::vector<std::string>& names,
                           TableOptions options);

/// This rank's part of rows that every rank has, each with an id for each mode. Collective.
/// @param title  of the rows, for messages
/// @throws InvalidArgument on every rank for what is no time in a mode with a unit of time
QueryRows query_rows(const Communicator& comm, const std::string& title, const std::vector<std::vector<std::string>>& all,
                     const FindIds& find, const std::vector<std::string>& names);

}  // namespace arges::io
