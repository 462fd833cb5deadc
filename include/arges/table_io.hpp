/// @file table_io.hpp
/// Tables (CSV, TSV) as sparse tensors, and the ids that the indices of a tensor stand for.
#pragma once

#include "arges/sparse_io.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace arges {

/// Whether the first line of a table has the names of its columns.
enum class TableHeader : std::uint8_t {
    detect,  ///< if a column is called by a name, or if what must be a number or a time there is none
    yes,
    no,
};

/// How to read a table.
struct TableOptions {
    /// A mode each: the name of a column, or its number from 1. Its fields are ids, unless what is to be done with times follows behind a
    /// colon: bins of 30s, 15min, 1h, 1d, 1w, 1mo or 1y, or one of hour, weekday, day, month and minute.
    std::vector<std::string> columns{};
    std::string value{};                       ///< the column of the values; if empty, every row counts 1
    Duplicates duplicates = Duplicates::sum;   ///< what to do with rows for the same element
    std::string delimiter{};                   ///< one character, or tab; if empty, it is found in the first line: , ; | or a tab
    TableHeader header = TableHeader::detect;  ///< whether the first line has names
    bool has_quotes = true;    ///< fields may stand between quotes, in which a quote is doubled; else a quote is a character like others
    bool skips_empty = false;  ///< rows with an empty field in a column that is used are left out
    /// Called on each rank for itself while rows are read, with the part that is done, from 0 to 1.
    std::function<void(double done)> progress{};
};

/// What reading a table found. The same on every rank.
struct TableReport : ReadReport {
    std::string delimiter{};             ///< ",", ";", "|", "tab"
    bool has_header = false;             ///< the first line had names
    std::int64_t skipped = 0;            ///< rows with empty fields that were left out
    std::vector<std::string> columns{};  ///< by mode: name of the column, with what was done with its times
};

/// The ids that the indices of a mode stand for. Parts of the ranks follow each other by rank.
struct ModeIds {
    std::string name{};               ///< of the mode
    std::int64_t count = 0;           ///< of all ids
    std::vector<std::string> mine{};  ///< those of this rank, by ascending index
};

/// Reads a table: CSV (RFC 4180), or text with another delimiter, plain or compressed by gzip; "-" is standard input of rank 0. Every rank
/// reads its part of the file; of compressed text and of standard input rank 0 reads, and the others parse. Whatever the number of ranks,
/// ids are numbered in their order: by value where all of a column are numbers, else by their bytes. Bins of times count from that of the
/// first time on, in UTC. Collective.
/// @param world   of the tensor
/// @param path    the file
/// @param options what is read of it
/// @param type    of the values: float, double or std::int64_t
/// @param report  gets what was found
/// @param ids     get the ids, by mode
/// @return the tensor; its nonzeros are in the order of the table, in equal parts by rank
/// @throws InvalidArgument on every rank for a column that is not there, with the number of the first wrong line, or as read_sparse();
///         OutOfMemory if the rows of a rank are over the limit
AnyTensor read_table(ElementType type, const World& world, const std::string& path, const TableOptions& options, TableReport& report,
                     std::vector<ModeIds>& ids);

/// What the beginning of a table says. The same on every rank.
struct TableOutline {
    std::vector<std::string> names{};  ///< of the columns
    std::vector<std::string> row{};    ///< the first one behind the names; none: there is none
};

/// Looks at the first lines of a table whose first line has names. Collective. @throws InvalidArgument on every rank if it cannot be read
TableOutline table_outline(const World& world, const std::string& path);

/// True for names that end in .csv or .tsv, or in that and .gz. Local.
bool is_table_name(const std::string& path);

/// True if this is a time that read_table() understands: ISO 8601, or seconds since 1970. Local.
bool is_time(const std::string& text);

/// Where the ids of a tensor are: beside its file, with .ids behind the name; of a model's folder, its file model.ids. Local.
std::string ids_path(const std::string& tensor);

/// Writes ids to a text file: a first line `# arges ids 1`, then for each mode a line `mode NUMBER COUNT NAME` and its ids, one on each
/// line, in which a backslash is doubled, and ends of lines are a backslash with n or r. The file appears under its name when it is
/// complete. Collective.
/// @throws InvalidArgument on every rank if it cannot be written
void write_ids(const World& world, const std::vector<ModeIds>& ids, const std::string& path);

/// Names of modes, with numbers of ids, by mode, of a file of ids; none if there is no such file. `mine` stays empty. Collective.
/// @throws InvalidArgument on every rank if the file is wrong
std::vector<ModeIds> ids_outline(const World& world, const std::string& path);

/// The ids of some indices, by mode, in their order. Collective; the indices must be the same on every rank, and few.
/// @throws InvalidArgument on every rank if the file is wrong, or an index is not in it
std::vector<std::vector<std::string>> read_ids(const World& world, const std::string& path,
                                               const std::vector<std::vector<std::int64_t>>& indices);

/// Copies a file of ids; where there is none, `to` is removed, so that what is at `to` has not the ids of an older tensor. Collective.
void copy_ids(const World& world, const std::string& from, const std::string& to);

/// Writes the ids of a tensor without some slices: of the indices that are kept, by mode this rank's part of them, ascending, as
/// compacted() gives them. Collective. @throws InvalidArgument as read_ids()
void select_ids(const World& world, const std::string& from, const std::vector<std::vector<std::int64_t>>& kept, const std::string& to);

}  // namespace arges
