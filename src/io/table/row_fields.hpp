/// The fields of a row of a table (RFC 4180).
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace arges::io {

/// Cuts rows into fields. Blanks around a field that does not stand between quotes are none of it.
class RowFields {
public:
    /// @param quote  0: there are no quotes
    RowFields(char delimiter, char quote);

    /// Cuts the row at `at` and moves behind it, and behind its end. The text must end with '\n'. False, with wrong(), for a row that is
    /// none. Local.
    bool cut(const char*& at, const char* end);
    /// Of the latest row, valid until the next call while the text is there. A blank line has one empty field.
    const std::vector<std::string_view>& fields() const { return fields_; }
    /// Ends of lines within the latest row, beside its own.
    std::int64_t inner_lines() const { return inner_lines_; }
    /// What is wrong with the latest row: the field, counted from 0, and what to do.
    std::size_t wrong_field() const { return fields_.size(); }
    const std::string& wrong() const { return wrong_; }

private:
    bool cut_quoted(const char*& at, const char* end);

    char delimiter_, quote_;
    std::array<bool, 256> stops_{};
    std::vector<std::string_view> fields_;
    std::deque<std::string> unquoted_;  ///< fields with doubled quotes, without these
    std::size_t used_ = 0;              ///< of these
    std::int64_t inner_lines_ = 0;
    std::string wrong_;
};

}  // namespace arges::io
