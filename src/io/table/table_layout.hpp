/// Which fields of a table make a tensor: from its first lines and what is asked for.
#pragma once

#include "arges/table_io.hpp"
#include "io/sparse/text_blocks.hpp"
#include "io/table/table_time.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace arges::io {

/// A column that makes a mode.
struct ModeColumn {
    std::size_t field = 0;
    std::string name{};  ///< of the mode: that of the column, with the unit of time
    TimeUnit unit{};

    template <class P>
    void parts(P& packed) {
        packed(field, name, unit);
    }
};

/// How rows become nonzeros.
struct TableLayout {
    char delimiter = ',', quote = '"';
    bool has_header = false;
    std::vector<std::string> names{};  ///< of all fields; their numbers where the table has none
    std::vector<ModeColumn> modes{};
    std::int64_t value = -1;  ///< field; -1: every row counts 1
    TextHeader header{};      ///< what stands before the rows

    template <class P>
    void parts(P& packed) {
        packed(delimiter, quote, has_header, names, modes, value, header);
    }
    /// "column 3 (time)".
    std::string column_text(std::size_t field) const;
};

/// The first rows of a table.
struct FirstRows {
    std::string delimiter{};
    std::vector<std::vector<std::string>> rows{};  ///< two at most
    TextHeader before{};                           ///< blank lines and a byte-order mark
    TextHeader first{};                            ///< likewise with the first row
};

/// Cuts the beginning of a table, which has two rows at least if the table has. @throws InvalidArgument if the first row is wrong
FirstRows first_rows(const std::string& path, std::string_view beginning, const TableOptions& options);

/// @param beginning  of the table @throws InvalidArgument for a column that is not there, or if it cannot be told whether there are names
TableLayout table_layout(const std::string& path, std::string_view beginning, const TableOptions& options);

}  // namespace arges::io
