/// Lines of sparse tensors in text: "i j k value", and those of MatrixMarket files: "i j", "i j value" or "i j real imaginary".
#pragma once

#include "arges/sparse_io.hpp"
#include "io/file/element_text.hpp"
#include "io/file/parallel_file.hpp"
#include "io/sparse/line_parser.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace arges::io {

/// What the header of a MatrixMarket file says of its entries.
struct MatrixRules {
    enum class Triangle { both, lower, strictly_lower };
    Triangle triangle = Triangle::both;  ///< that entries may lie in
    int value_words = 1;                 ///< of a line: 0, 1 or 2
    bool real_diagonal = false;
    std::int64_t header_lines = 0;  ///< that are in the text to be parsed
};

/// What a line must look like.
struct TnsRules {
    int order = 0;
    IndexBase base = IndexBase::detect;
    std::vector<std::int64_t> lengths{};  ///< demanded; empty: any up to 2^62
    std::optional<MatrixRules> matrix{};  ///< of a MatrixMarket file; the lengths are then those of its header
};

/// Numbers of the first line that has a nonzero; 0 if the block has none.
/// @param line  gets the number of that line in the block, counted from 1; of the last one if there is none
std::int64_t columns_of_first_entry(std::string_view block, std::int64_t* line = nullptr);

/// Collects the nonzeros of blocks of lines, with indices as they stand in the file.
class TnsParser : public LineParser {
public:
    /// @param keep_lines whether take_lines() is wanted
    TnsParser(const TnsRules& rules, const ElementText& text, bool keep_lines);

    void parse(std::string_view block, std::int64_t lines, std::int64_t first_line) override;
    /// By mode, the largest index.
    const std::array<std::int64_t, 16>& largest() const { return largest_; }
    bool has_zero() const { return has_zero_; }
    /// The first line with an index that is wrong if the file counts from 0, although it is right if it counts from 1.
    const LineError& error_if_zero_based() const { return error_if_zero_based_; }

private:
    bool parse_fast(const char*& at, const char* end);
    void parse_carefully(std::string_view text, std::int64_t line);
    std::int64_t careful_index(std::string_view word, std::size_t mode, std::int64_t line);
    bool careful_element(const std::vector<std::string_view>& words, std::int64_t line, std::byte* element);
    std::string misplaced(std::int64_t row, std::int64_t column, const std::byte* element) const;

    TnsRules rules_;
    char comment_;
    std::size_t value_words_;
    std::int64_t least_ = 0;                  // allowed
    std::array<std::int64_t, 16> most_{};     // allowed; above it the careful way decides
    std::array<std::int64_t, 16> largest_{};  // found
    bool has_zero_ = false;
    LineError error_if_zero_based_;
};

}  // namespace arges::io
