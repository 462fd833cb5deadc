/// Several values for one element of a file.
#pragma once

#include "arges/sparse_io.hpp"
#include "comm/communicator.hpp"
#include "interface/sparse/sparse_values.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace arges::io {

/// Where values come from.
struct DuplicatesFile {
    const Communicator& comm;
    std::string path;
    std::function<std::string(const std::vector<std::int64_t>& where)> element;  ///< its name in a message; called on every rank
};

/// Merges values for the same element as the policy says, and counts them in the report. Collective.
/// @param lines  of the nonzeros, where duplicates are to be refused in text
/// @throws InvalidArgument on every rank where they are refused, or have no such value
void merge_duplicates(const DuplicatesFile& file, ElementType type, Duplicates duplicates, std::vector<std::int64_t> lines,
                      AnyNonzeros& nonzeros, ReadReport& report);

}  // namespace arges::io
