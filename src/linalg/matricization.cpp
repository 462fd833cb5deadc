#include "linalg/matricization.hpp"

#include "arges/error.hpp"

#include <algorithm>
#include <cctype>

namespace arges::linalg {

namespace {

using Names = std::vector<std::string>;

constexpr const char* cure = "; write rows, a bar and columns, as in T[\"ab|ij\"] or T[\"abij->bi|aj\"]";

/// Labels of the dimensions, and the labels of rows and columns.
struct SplitLabels {
    Names dimensions, rows, columns;
};

/// Position of an arrow: one name, or '-' and '>' as names of a letter; `length` is the number of names that it takes.
std::size_t find_arrow(const Names& names, std::size_t& length) {
    for (std::size_t i = 0; i < names.size(); ++i) {
        length = names[i] == "->" ? 1 : names[i] == "-" && i + 1 < names.size() && names[i + 1] == ">" ? 2 : 0;
        if (length > 0) return i;
    }
    return names.size();
}

SplitLabels split(const Labels& labels, const std::string& text) {
    const auto& names = labels.names();
    std::size_t arrow_length = 0;
    const auto arrow = find_arrow(names, arrow_length);
    const Names matrix(names.begin() + (arrow_length > 0 ? arrow + arrow_length : 0), names.end());
    const auto bars = std::count(matrix.begin(), matrix.end(), "|");
    if (bars != 1)
        throw InvalidArgument(text + ": the labels have " + (bars == 0 ? "no bar" : "more than one bar") + " between rows and columns" +
                              cure);
    const auto bar = std::find(matrix.begin(), matrix.end(), "|");
    SplitLabels result{{}, {matrix.begin(), bar}, {bar + 1, matrix.end()}};
    if (result.rows.empty() || result.columns.empty())
        throw InvalidArgument(text + ": no label on the " + (result.rows.empty() ? "left" : "right") +
                              " of the bar; a matrix with one row or column needs a dimension of extent 1");
    result.dimensions = arrow_length > 0 ? Names(names.begin(), names.begin() + arrow) : joined(result.rows, result.columns);
    return result;
}

void check_names(const Names& names, const std::string& text) {
    for (const auto& name : names) {
        const bool valid =
            !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
        if (!valid) throw InvalidArgument(text + ": \"" + name + "\" is not a label; use letters, digits and underscores" + cure);
        if (std::count(names.begin(), names.end(), name) > 1)
            throw InvalidArgument(text + ": label '" + name +
                                  "' occurs twice; a matrix has each dimension once, so take a diagonal by a statement before");
    }
}

MatrixSide side_of(const Names& labels, const SplitLabels& all, const std::vector<std::int64_t>& extents, const std::string& text) {
    MatrixSide side;
    side.labels = labels;
    for (const auto& label : labels) {
        const auto found = std::find(all.dimensions.begin(), all.dimensions.end(), label);
        if (found == all.dimensions.end()) throw InvalidArgument(text + ": label '" + label + "' is not in front of the arrow" + cure);
        const auto dimension = found - all.dimensions.begin();
        side.dimensions.push_back(dimension);
        side.extents.push_back(extents[dimension]);
        side.size *= side.extents.back();
    }
    return side;
}

std::string list(const MatrixSide& side) {
    std::string text;
    for (std::size_t i = 0; i < side.labels.size(); ++i)
        text += (i == 0 ? "" : ", ") + side.labels[i] + " (" + std::to_string(side.extents[i]) + ")";
    return text;
}

}  // namespace

Matricization parse_matricization(const Labels& labels, const std::vector<std::int64_t>& extents, const std::string& name) {
    const auto text = name + "[\"" + labels.to_string() + "\"]";
    const auto all = split(labels, text);
    if (all.dimensions.size() != extents.size())
        throw InvalidArgument(text + ": " + std::to_string(all.dimensions.size()) + " labels for a tensor of order " +
                              std::to_string(extents.size()) + "; give one label per dimension");
    check_names(all.dimensions, text);
    const auto matrix_labels = joined(all.rows, all.columns);
    check_names(matrix_labels, text);
    if (matrix_labels.size() != extents.size())
        throw InvalidArgument(text + ": " + std::to_string(matrix_labels.size()) + " labels behind the arrow and " +
                              std::to_string(extents.size()) + " in front of it; each dimension is a row or a column");
    return {side_of(all.rows, all, extents, text), side_of(all.columns, all, extents, text), text};
}

MatrixSide matched(const MatrixSide& side, const MatrixSide& like, const std::string& text, const std::string& like_text) {
    MatrixSide result;
    for (std::size_t i = 0; i < like.labels.size(); ++i) {
        const auto found = std::find(side.labels.begin(), side.labels.end(), like.labels[i]);
        const std::size_t at = found - side.labels.begin();
        if (side.labels.size() != like.labels.size() || found == side.labels.end() || side.extents[at] != like.extents[i])
            throw InvalidArgument(text + " has " + list(side) + " where " + like_text + " has " + list(like) +
                                  "; both need the same labels with the same extents, in any order");
        result.labels.push_back(side.labels[at]);
        result.dimensions.push_back(side.dimensions[at]);
        result.extents.push_back(side.extents[at]);
        result.size *= side.extents[at];
    }
    return result;
}

void check_square(const Matricization& matrix, const std::string& what) {
    if (matrix.rows.size != matrix.columns.size)
        throw InvalidArgument(what + " of " + matrix.text + ": the rows are " + list(matrix.rows) + " and the columns " +
                              list(matrix.columns) + ", so the matrix is " + std::to_string(matrix.rows.size) + " x " +
                              std::to_string(matrix.columns.size) + "; it must be square");
}

}  // namespace arges::linalg
