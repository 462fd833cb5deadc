#include "io/sparse/line_parser.hpp"

namespace arges::io {

void LineParser::reserve(std::int64_t count) {
    for (auto& column : nonzeros_.indices) column.reserve(count);
    nonzeros_.values.resize(count);
    if (keep_lines_) lines_.reserve(count);
}

void LineParser::make_room(std::int64_t lines) {
    if (used_ + lines > room()) reserve(used_ + lines);
    for (auto& column : nonzeros_.indices)
        if (used_ + lines > std::ssize(column)) column.resize(used_ + lines);
}

AnyNonzeros LineParser::take() {
    for (auto& column : nonzeros_.indices) column.resize(used_);
    nonzeros_.values.resize(used_);
    return std::move(nonzeros_);
}

}  // namespace arges::io
