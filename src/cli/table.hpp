/// Aligned tables.
#pragma once

#include <string>
#include <vector>

namespace arges::cli {

/// Rows of cells; the first row is the heading. Columns that `left` names are aligned to the left.
std::string table(const std::vector<std::vector<std::string>>& rows, const std::vector<bool>& left);

}  // namespace arges::cli
