/// Small pieces of text formatting for reports and messages.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace arges {

/// Text filled up with blanks behind or in front.
std::string pad(std::string text, std::size_t width);
std::string pad_left(std::string text, std::size_t width);
/// 1234567 as "1,234,567".
std::string with_commas(std::int64_t value);
/// A number as printf() prints it.
std::string printed(const char* format, double value);
/// 1.23e+09.
inline std::string scientific(double value) { return printed("%.3g", value); }
/// 0.0123 as "1.2 %".
inline std::string percent(double fraction) { return printed("%.1f %%", fraction * 100); }
/// Texts or numbers with something between them: "3 x 4 x 5".
template <class Values>
std::string joined(const Values& values, std::string_view between = ", ") {
    std::string text;
    for (bool is_first = true; const auto& value : values) {
        if (!std::exchange(is_first, false)) text += between;
        if constexpr (std::is_arithmetic_v<std::remove_cvref_t<decltype(value)>>)
            text += std::to_string(value);
        else
            text += value;
    }
    return text;
}
/// The name of a type or of its algebra as it is written: "bool" for what the compiler calls arges::PlusTimes<bool>.
std::string readable_type(const char* name);
/// Puts the bytes of a number behind a text that something is kept by.
template <class Number>
void append_bytes(std::string& key, Number number) {
    key.append(reinterpret_cast<const char*>(&number), sizeof number);
}

}  // namespace arges
