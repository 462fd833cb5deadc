#include "cli/table.hpp"

#include "base/text.hpp"

namespace arges::cli {

std::string table(const std::vector<std::vector<std::string>>& rows, const std::vector<bool>& left) {
    std::vector<std::size_t> width(left.size(), 0);
    for (const auto& row : rows)
        for (std::size_t c = 0; c < row.size(); ++c) width[c] = std::max(width[c], row[c].size());
    std::string text;
    for (const auto& row : rows) {
        std::string line;
        for (std::size_t c = 0; c < row.size(); ++c)
            line += (c == 0 ? "" : "  ") + (left[c] ? pad(row[c], width[c]) : pad_left(row[c], width[c]));
        text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    }
    return text;
}

}  // namespace arges::cli
