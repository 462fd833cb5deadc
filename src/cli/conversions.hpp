/// What `arges convert` does: from a sparse tensor to a hypergraph, for other partitioners, and between files of integrals.
#pragma once

#include "arges/chemistry/fcidump.hpp"
#include "arges/sparse_io.hpp"
#include "arges/table_io.hpp"
#include "arges/world.hpp"

#include <ostream>
#include <string>

namespace arges::cli {

/// What to write, and how to read.
struct HypergraphConversion {
    std::string input, output;
    std::string model = "fine";  ///< fine, coarse, or coarse-opt
    SparseReadOptions options{};
};

/// Bytes of a file; 0 where the system does not tell.
std::int64_t file_bytes(const std::string& path);

/// Whether a file is one of a hypergraph by its name, which then ends in .hgr.
bool is_hypergraph_name(const std::string& path);

/// Writes the hypergraph of a sparse tensor in hMETIS form, and prints what was done: a table, or one JSON object. Rank 0 holds all
/// indices. The file appears under its name when it is complete. Collective.
/// @throws OutOfMemory on every rank if rank 0 has no room for that; InvalidArgument as read_sparse(), or if the file cannot be written
void convert_to_hypergraph(const World& world, const HypergraphConversion& conversion, bool json, std::ostream& out);

/// What to write, and how to read.
struct TableConversion {
    std::string input, output;
    TableOptions options{};
    std::string duplicates = "sum";  ///< as it is called
    bool is_single = false;
    IndexBase base = IndexBase::one;
};

/// Reads a table, writes its tensor with the ids beside it, and prints what was done: a table, or one JSON object. Collective.
/// @throws InvalidArgument as read_table(), or if a file cannot be written
void convert_table(const World& world, const TableConversion& conversion, bool json, std::ostream& out);

/// The line that makes a tensor of a table: "arges convert events.csv events.atns --columns user,item,time:1h --value amount", from the
/// names of its columns and its first row. Collective. @throws InvalidArgument if it cannot be read
std::string conversion_line(const World& world, const std::string& file);

/// What to write, and how to read.
struct IntegralConversion {
    std::string input, output;
    chemistry::IntegralOptions options{};
};

/// Reads integrals of either form, writes them in the one that the name of the output tells, and prints what was done: a table, or one
/// JSON object. Collective. @throws InvalidArgument as chemistry::read_integrals() and chemistry::write_integrals()
void convert_integrals(const World& world, const IntegralConversion& conversion, bool json, std::ostream& out);

}  // namespace arges::cli
