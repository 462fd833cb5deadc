/// Reading numbers of text files: a fast way for usual ones, and a careful way.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace arges::io {

inline bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

inline bool is_blank_or_end(char c) { return is_blank(c) || c == '\n'; }

/// The words of a line, which are separated by blanks, or by other signs.
inline std::vector<std::string_view> words_of(std::string_view line, bool (*is_separator)(char) = is_blank_or_end) {
    std::vector<std::string_view> words;
    for (auto at = line.begin(); at != line.end();) {
        at = std::find_if_not(at, line.end(), is_separator);
        const auto end = std::find_if(at, line.end(), is_separator);
        if (at != end) words.emplace_back(at, end);
        at = end;
    }
    return words;
}

/// A line without what stands behind the sign of a comment.
inline std::string_view without_comment(std::string_view line, char sign) { return line.substr(0, line.find(sign)); }

/// Reads a value and moves behind it; false, without moving, for what the careful way must look at. The text must end with a
/// character that is not part of a number. Short decimals are exact by one division (Clinger 1990): the digits and the power
/// of ten are both exact, so the quotient is the nearest number.
template <class T>
bool fast_value(const char*& at, const char* end, T& value) {
    constexpr bool is_double = std::is_same_v<T, double>;
    constexpr std::uint64_t exact_digits = std::uint64_t{1} << (is_double ? 53 : 24);
    constexpr int exact_power = is_double ? 22 : 10;
    static constexpr auto powers = [] {
        std::array<T, exact_power + 1> table{T(1)};
        for (std::size_t k = 1; k < table.size(); ++k) table[k] = table[k - 1] * T(10);
        return table;
    }();
    const char* p = at;
    const bool negative = *p == '-';
    if (negative) ++p;
    const char* const first = p;
    std::uint64_t digits = 0;
    for (unsigned d; (d = static_cast<unsigned>(*p) - '0') <= 9; ++p) digits = digits * 10 + d;
    auto count = p - first;
    std::ptrdiff_t behind_point = 0;
    if (*p == '.') {
        const char* const fraction = ++p;
        for (unsigned d; (d = static_cast<unsigned>(*p) - '0') <= 9; ++p) digits = digits * 10 + d;
        behind_point = p - fraction;
        count += behind_point;
    }
    if (count > 0 && count <= 18 && digits <= exact_digits && behind_point <= exact_power && (is_blank(*p) || *p == '\n')) {
        const T magnitude = static_cast<T>(digits) / powers[behind_point];
        value = negative ? -magnitude : magnitude;
        at = p;
        return true;
    }
    const auto [behind, code] = std::from_chars(at, end, value);
    if (code != std::errc() || !(is_blank(*behind) || *behind == '\n') || !std::isfinite(value)) return false;
    at = behind;
    return true;
}

/// What a word means as a value.
enum class ValueKind { fine, not_a_number, not_finite, too_large };

/// Reads a whole word: also with a plus sign, and numbers that are too small and become zero.
template <class T>
ValueKind careful_value(std::string_view word, T& value) {
    if (word.starts_with('+') && !word.starts_with("+-")) word.remove_prefix(1);
    const char* const end = word.data() + word.size();
    const auto [behind, code] = std::from_chars(word.data(), end, value);
    if (code == std::errc::invalid_argument || behind != end) return ValueKind::not_a_number;
    if constexpr (std::is_integral_v<T>) return code == std::errc() ? ValueKind::fine : ValueKind::too_large;
    if (code == std::errc::result_out_of_range) {
        const std::string text(word);
        value = std::is_same_v<T, float> ? static_cast<T>(std::strtof(text.c_str(), nullptr))
                                         : static_cast<T>(std::strtod(text.c_str(), nullptr));
        if (!std::isfinite(value)) return ValueKind::too_large;
    }
    return std::isfinite(value) ? ValueKind::fine : ValueKind::not_finite;
}

}  // namespace arges::io
