#include "io/table/row_fields.hpp"

#include <algorithm>
#include <cstring>

namespace arges::io {

namespace {

bool is_space(char c) { return c == ' ' || c == '\t'; }

}  // namespace

RowFields::RowFields(char delimiter, char quote) : delimiter_(delimiter), quote_(quote) {
    stops_[static_cast<unsigned char>(delimiter)] = stops_['\n'] = true;
    if (quote != 0) stops_[static_cast<unsigned char>(quote)] = true;
}

/// Of a field that begins behind a quote; moves behind the quote that ends it.
bool RowFields::cut_quoted(const char*& at, const char* end) {
    const char* const begin = at;
    bool is_doubled = false;
    for (;; at += 2) {
        at = static_cast<const char*>(std::memchr(at, quote_, static_cast<std::size_t>(end - at)));
        if (at == nullptr) {
            wrong_ = "a quote is not closed; close it, or say that there are no quotes (--quotes no)";
            return false;
        }
        if (at + 1 == end || at[1] != quote_) break;
        is_doubled = true;
    }
    std::string_view field(begin, static_cast<std::size_t>(at - begin));
    inner_lines_ += std::count(field.begin(), field.end(), '\n');
    ++at;
    if (is_doubled) {
        if (used_ == unquoted_.size()) unquoted_.emplace_back();
        auto& text = unquoted_[used_++];
        text.clear();
        for (std::size_t i = 0; i < field.size(); ++i) {
            text += field[i];
            if (field[i] == quote_) ++i;
        }
        field = text;
    }
    while (*at != delimiter_ && (is_space(*at) || *at == '\r')) ++at;
    if (*at != delimiter_ && *at != '\n') {
        wrong_ = "something follows the quote that ends the field; double a quote that belongs to a field, or say that there are no quotes "
                 "(--quotes no)";
        return false;
    }
    fields_.push_back(field);
    return true;
}

bool RowFields::cut(const char*& at, const char* end) {
    fields_.clear();
    used_ = 0;
    inner_lines_ = 0;
    for (;; ++at) {
        while (*at != delimiter_ && is_space(*at)) ++at;
        if (quote_ != 0 && *at == quote_) {
            if (!cut_quoted(++at, end)) return false;
        } else {
            const char* const begin = at;
            while (!stops_[static_cast<unsigned char>(*at)]) ++at;
            if (*at == quote_ && quote_ != 0) {
                wrong_ =
                    "a quote stands within a field; put the field between quotes, and double the quote, or say that there are no quotes "
                    "(--quotes no)";
                return false;
            }
            const char* behind = at;
            while (behind > begin && (is_space(behind[-1]) || (behind[-1] == '\r' && *at == '\n'))) --behind;
            fields_.emplace_back(begin, static_cast<std::size_t>(behind - begin));
        }
        if (*at++ == '\n') return true;
        --at;
    }
}

}  // namespace arges::io
