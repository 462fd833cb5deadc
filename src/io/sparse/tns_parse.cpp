// Parses lines of nonzeros: usual ones on a fast path, all others on a careful one that finds what is wrong.
#include "io/sparse/tns_parse.hpp"

#include "base/element_at.hpp"
#include "interface/sparse/sparse_state.hpp"
#include "io/file/text_lines.hpp"

#include <algorithm>
#include <cstring>

namespace arges::io {

namespace {

std::string columns_text(std::size_t count) { return std::to_string(count) + (count == 1 ? " column" : " columns"); }

const char* next_line(const char* at, const char* end) {
    return static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at))) + 1;
}

}  // namespace

std::int64_t columns_of_first_entry(std::string_view block, std::int64_t* line) {
    if (line != nullptr) *line = 0;
    for (std::size_t end = 0; !block.empty(); block.remove_prefix(end + 1)) {
        end = block.find('\n');
        const auto words = words_of(without_comment(block.substr(0, end), '#'));
        if (line != nullptr) ++*line;
        if (!words.empty()) return std::ssize(words);
    }
    return 0;
}

TnsParser::TnsParser(const TnsRules& rules, const ElementText& text, bool keep_lines)
    : LineParser(rules.order, text, keep_lines), rules_(rules), comment_(rules.matrix ? '%' : '#'),
      value_words_(rules.matrix ? static_cast<std::size_t>(rules.matrix->value_words) : 1) {
    least_ = rules.base == IndexBase::one ? 1 : 0;
    for (std::size_t m = 0; m < order_; ++m) {
        const auto length = rules.lengths.empty() ? max_sparse_length : rules.lengths[m];
        most_[m] = rules.base == IndexBase::one ? length : length - 1;
        largest_[m] = -1;
    }
}

void TnsParser::parse(std::string_view block, std::int64_t lines, std::int64_t first_line) {
    if (error_.line != LineError::none) return;
    make_room(lines);
    const char* at = block.data();
    const char* const end = at + block.size();
    for (auto line = first_line; at < end && error_.line == LineError::none; ++line) {
        const auto before = used_;
        while (is_blank(*at)) ++at;
        if (*at == '\n') {
            ++at;
        } else if (*at == comment_ || (rules_.matrix && line <= rules_.matrix->header_lines)) {
            at = next_line(at, end);
        } else if (const char* const begin = at; !parse_fast(at, end)) {
            at = next_line(begin, end);
            parse_carefully({begin, static_cast<std::size_t>(at - begin) - 1}, line);
        }
        if (keep_lines_ && used_ > before) lines_.push_back(line);
    }
}

/// Reads a usual line and moves behind it; else leaves it to the careful way.
bool TnsParser::parse_fast(const char*& at, const char* end) {
    const char* p = at;
    std::array<std::int64_t, 16> index;
    bool zero = false;
    for (std::size_t m = 0; m < order_; ++m) {
        const char* const first = p;
        std::uint64_t digits = 0;
        for (unsigned d; (d = static_cast<unsigned>(*p) - '0') <= 9; ++p) digits = digits * 10 + d;
        const bool is_last = m + 1 == order_ && value_words_ == 0;
        if (p == first || p - first > 18 || !(is_blank(*p) || (is_last && *p == '\n'))) return false;
        const std::int64_t number = digits;
        if (number < least_ || number > most_[m]) return false;
        while (is_blank(*p)) ++p;
        index[m] = number;
        zero |= number == 0;
    }
    auto* const value = next_value();
    copy_element(value, kernels_.one, kernels_.size);
    for (std::size_t w = 0; w < value_words_; ++w) {
        while (is_blank(*p)) ++p;
        if (!text_.read_fast(p, end, w, value)) return false;
    }
    while (is_blank(*p)) ++p;
    if (*p != '\n' || (rules_.matrix && !misplaced(index[0], index[1], value).empty())) return false;
    for (std::size_t m = 0; m < order_; ++m) {
        nonzeros_.indices[m][used_] = index[m];
        largest_[m] = std::max(largest_[m], index[m]);
    }
    ++used_;
    has_zero_ |= zero;
    at = p + 1;
    return true;
}

/// Why an entry of a MatrixMarket file, counted from 1, may not stand there; empty if it may.
std::string TnsParser::misplaced(std::int64_t row, std::int64_t column, const std::byte* element) const {
    using Triangle = MatrixRules::Triangle;
    if (rules_.matrix->triangle == Triangle::both || row > column) return {};
    if (row < column)
        return "the entry is above the diagonal, and the header says that the file has the lower triangle; correct one of them";
    if (rules_.matrix->triangle == Triangle::strictly_lower && !kernels_.is_zero(element))
        return "the diagonal of a skew-symmetric matrix is zero; correct the value, or remove the line";
    if (rules_.matrix->real_diagonal && kernels_.as_number(element).imag() != 0)
        return "the diagonal of a hermitian matrix is real; correct the value";
    return {};
}

/// The index that a word is; else notes the error and returns -1.
std::int64_t TnsParser::careful_index(std::string_view word, std::size_t mode, std::int64_t line) {
    const auto where = "index " + quoted(word) + " in mode " + std::to_string(mode + 1);
    const auto wrong = [&](const std::string& message) {
        error_ = {line, message};
        return std::int64_t{-1};
    };
    const auto digits = word.starts_with('+') ? word.substr(1) : word;
    std::int64_t number = 0;
    const auto [behind, code] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (behind != digits.data() + digits.size() || code == std::errc::invalid_argument || word.starts_with("+-"))
        return wrong(
            where + " is not a whole number; " +
            (word.find_first_of(",;") != std::string_view::npos ? "columns are separated by blanks or tabs, so replace other signs (tr ',' "
                                                                  "' '); of a table, make a tensor (arges convert --columns)"
             : word[0] == '%' ? "in this form comments begin with a #, and a MatrixMarket file has a first line that is missing here: "
                                "%%MatrixMarket matrix coordinate real general, for example"
             : (word[0] | 32) >= 'a' && (word[0] | 32) <= 'z'
                 ? "number the names of a mode from 1 on and keep the list; comments and header lines begin with a #"
                 : "write indices as whole numbers, and comments behind a #"));
    if (number < 0) return wrong(where + " is negative; indices count from 0 or 1");
    const bool has_lengths = !rules_.lengths.empty();
    const auto limit = has_lengths ? rules_.lengths[mode] : max_sparse_length;
    const auto over =
        where +
        (has_lengths ? " is over the length " + std::to_string(limit) + (rules_.matrix ? " in the header" : " that is demanded")
                     : std::string(" is over 2^62")) +
        (has_lengths ? "; correct the line, or the lengths" : "; correct the line");
    if (code == std::errc::result_out_of_range) return wrong(over);
    if (number == 0 && rules_.base == IndexBase::one)
        return wrong("index 0 in mode " + std::to_string(mode + 1) +
                     (rules_.matrix ? ", but in this form indices count from 1; correct the line"
                                    : ", but indices are said to count from 1; correct the line, or say that the base is zero"));
    if (number > limit) return wrong(over);
    if (number == limit && rules_.base == IndexBase::zero) return wrong(over + " (indices count from 0)");
    if (number == limit && has_lengths && rules_.base == IndexBase::detect && error_if_zero_based_.line == LineError::none)
        error_if_zero_based_ = {line, over + " (indices count from 0, since an index 0 occurs)"};
    return number;
}

/// The element that the words behind the indices are; else notes the error and returns false.
bool TnsParser::careful_element(const std::vector<std::string_view>& words, std::int64_t line, std::byte* element) {
    const bool is_whole = text_.type == ElementType::int64;
    copy_element(element, kernels_.one, kernels_.size);
    for (std::size_t w = 0; w < value_words_; ++w) {
        const auto text = "value " + quoted(words[order_ + w]);
        switch (text_.read(words[order_ + w], w, element)) {
        case ValueKind::fine: continue;
        case ValueKind::not_a_number:
            error_ = {line, text + (is_whole ? " is not a whole number; correct it, or read the file as double"
                                             : " is not a number; correct it, and write comments on their own lines")};
            return false;
        case ValueKind::not_finite: error_ = {line, text + " is not finite; remove the line, or give it a number"}; return false;
        case ValueKind::too_large:
            error_ = {line, text + " is too large for " +
                                (is_whole                             ? "64 bits; read it as double"
                                 : text_.type == ElementType::float32 ? "float; read it as double"
                                                                      : "double; correct it")};
            return false;
        }
    }
    return true;
}

/// Reads any line that is right, and says what is wrong with another one.
void TnsParser::parse_carefully(std::string_view text, std::int64_t line) {
    const auto words = words_of(without_comment(text, comment_));
    for (std::size_t m = 0; m < std::min(order_, words.size()); ++m) {
        const auto number = careful_index(words[m], m, line);
        if (number < 0) return;
        nonzeros_.indices[m][used_] = number;
    }
    const std::string usual = rules_.matrix ? " where the header demands " : " where the first entry has ";
    if (words.size() == order_ && value_words_ > 0) {
        error_ = {line, "the value is missing: " + columns_text(words.size()) + usual + std::to_string(order_ + value_words_) +
                            "; complete the line"};
        return;
    }
    if (words.size() != order_ + value_words_) {
        error_ = {line, columns_text(words.size()) + usual + std::to_string(order_ + value_words_) +
                            (rules_.matrix ? "; correct the line" : "; give every nonzero the same number of indices, and one value")};
        return;
    }
    if (!careful_element(words, line, next_value())) return;
    if (rules_.matrix) {
        const auto why = misplaced(nonzeros_.indices[0][used_], nonzeros_.indices[1][used_], next_value());
        if (!why.empty()) {
            error_ = {line, why};
            return;
        }
    }
    for (std::size_t m = 0; m < order_; ++m) {
        largest_[m] = std::max(largest_[m], nonzeros_.indices[m][used_]);
        has_zero_ |= nonzeros_.indices[m][used_] == 0;
    }
    ++used_;
}

}  // namespace arges::io
