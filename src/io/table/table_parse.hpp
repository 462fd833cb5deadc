/// Rows of a table as nonzeros.
#pragma once

#include "arges/table_io.hpp"
#include "io/sparse/line_parser.hpp"
#include "io/table/id_table.hpp"
#include "io/table/row_fields.hpp"
#include "io/table/table_layout.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace arges::io {

/// Collects the nonzeros of blocks of rows. Until settle() indices are numbers of ids on this rank, or of bins of times from 1970 on.
class TableParser : public LineParser {
public:
    TableParser(const std::string& path, const TableLayout& layout, const ElementText& text, bool skips_empty, bool keep_lines);

    void parse(std::string_view block, std::int64_t lines, std::int64_t first_line) override;
    /// @throws InvalidArgument on every rank if times lie in too many bins
    void settle(const Communicator& comm) override;
    std::int64_t other_bytes() const override;

    /// Rows with empty fields that were left out.
    std::int64_t skipped() const { return skipped_; }
    /// Ids of a mode on this rank; before settle().
    const IdTable& ids_of(std::size_t mode) const { return tables_[mode]; }
    /// Gives names and ids away, by mode; after settle().
    std::vector<ModeIds> take_ids() { return std::move(mode_ids_); }

private:
    /// An id that will get its number when memory has brought its place in the table.
    struct WaitingId {
        std::string_view id;
        std::uint64_t hash = 0;
        std::int64_t row = 0;
    };

    bool add(std::int64_t line);
    bool fail(std::int64_t line, std::size_t field, const std::string& message);
    bool add_index(std::int64_t line, std::size_t mode);
    void add_id(std::size_t mode, std::string_view id);
    void number_waiting(std::size_t mode);
    bool add_value(std::int64_t line);
    bool has_empty() const;
    void settle_bins(const Communicator& comm, std::size_t mode);

    std::string path_;
    TableLayout layout_;
    bool skips_empty_;
    RowFields row_;
    std::vector<IdTable> tables_;                              ///< by mode
    std::vector<std::vector<WaitingId>> waiting_;              ///< by mode
    std::string_view block_;                                   ///< that is parsed
    std::vector<std::pair<std::int64_t, std::int64_t>> bins_;  ///< by mode: first and last
    std::int64_t skipped_ = 0;
    std::vector<ModeIds> mode_ids_;
};

/// What is wrong with a field that is no time, and what to do.
std::string no_time(std::string_view field);

}  // namespace arges::io
