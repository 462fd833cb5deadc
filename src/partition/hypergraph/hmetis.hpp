/// Hypergraphs and partitions as the text files that hMETIS, PaToH, KaHyPar and SPLATT exchange.
#pragma once

#include "partition/hypergraph/hypergraph.hpp"

#include <cstdint>
#include <iosfwd>
#include <string>

namespace arges::partition {

/// Writes a hypergraph in hMETIS form: "nets vertices [format]", a line of 1-based vertices for each net, with its cost in front
/// if format is 1 or 11, then a line of weights for each vertex if it is 10 or 11. Costs and weights that are all 1 are left out.
/// Vertices with several weights, which hMETIS does not know, are written with their number as a fourth number of the first line,
/// as METIS has it. A net without pins is an empty line, as SPLATT writes it.
void write_hmetis(std::ostream& out, const Hypergraph& hypergraph);

/// Reads what write_hmetis() writes. Lines that start with % are comments.
/// @param name of the file, for messages
/// @throws InvalidArgument with the line number for anything that is not of this form
Hypergraph read_hmetis(std::istream& in, const std::string& name);

/// Reads the parts of `vertices` vertices, one 0-based number below `parts` per line, without empty lines. Lines that start with % are
/// comments.
/// @param name of the file @param what the vertices are: both for messages
/// @throws InvalidArgument with the line number and the cure
VertexParts read_partition(std::istream& in, const std::string& name, std::int64_t vertices, std::int64_t parts,
                           const std::string& what = "vertices");

}  // namespace arges::partition
