/// Lines of sparse tensors in text: "i j k value", and those of MatrixMarket files: "i j", "i j value" or "i j real imaginary".
#pragma once

#include "arges/sparse_io.hpp"
#include "interface/sparse/sparse_values.hpp"
#include "io/file/element_text.hpp"
#include "io/file/parallel_file.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
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
class TnsParser {
public:
    /// @param keep_lines whether lines() is wanted
    TnsParser(const TnsRules& rules, const ElementText& text, bool keep_lines);

    /// Reads whole lines, each with its end; `first_line` is the number of the first. After an error nothing more is read.
    void parse(std::string_view block, std::int64_t lines, std::int64_t first_line);
    /// Makes room for so many nonzeros in all.
    void reserve(std::int64_t count);
    std::int64_t count() const { return used_; }
    /// Nonzeros that there is room for.
    std::int64_t room() const { return nonzeros_.values.count(); }

    /// Gives the nonzeros away, without lengths; when all is read.
    AnyNonzeros take();
    /// Gives away, by nonzero, the number of its line; empty unless wanted.
    std::vector<std::int64_t> take_lines() { return std::move(lines_); }
    /// By mode, the largest index.
    const std::array<std::int64_t, 16>& largest() const { return largest_; }
    bool has_zero() const { return has_zero_; }
    const LineError& error() const { return error_; }
    /// The first line with an index that is wrong if the file counts from 0, although it is right if it counts from 1.
    const LineError& error_if_zero_based() const { return error_if_zero_based_; }

private:
    bool parse_fast(const char*& at, const char* end);
    void parse_carefully(std::string_view text, std::int64_t line);
    std::int64_t careful_index(std::string_view word, std::size_t mode, std::int64_t line);
    bool careful_element(const std::vector<std::string_view>& words, std::int64_t line, std::byte* element);
    std::string misplaced(std::int64_t row, std::int64_t column, const std::byte* element) const;

    /// Where the value of the next nonzero goes.
    std::byte* next_value() { return element_at(nonzeros_.values.data(), used_, kernels_.size); }

    TnsRules rules_;
    const ElementText& text_;
    const ElementKernels& kernels_;
    bool keep_lines_;
    char comment_;
    std::size_t order_, value_words_;
    std::int64_t used_ = 0;
    AnyNonzeros nonzeros_;
    std::vector<std::int64_t> lines_;
    std::int64_t least_ = 0;                  // allowed
    std::array<std::int64_t, 16> most_{};     // allowed; above it the careful way decides
    std::array<std::int64_t, 16> largest_{};  // found
    bool has_zero_ = false;
    LineError error_, error_if_zero_based_;
};

}  // namespace arges::io
