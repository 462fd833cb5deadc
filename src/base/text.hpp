/// Small pieces of text formatting for reports and messages.
#pragma once

#include <cstdint>
#include <string>

namespace arges {

/// Text filled up with blanks behind or in front.
std::string pad(std::string text, std::size_t width);
std::string pad_left(std::string text, std::size_t width);
/// 1234567 as "1,234,567".
std::string with_commas(std::int64_t value);
/// 1.23e+09.
std::string scientific(double value);
/// 0.0123 as "1.2 %".
std::string percent(double fraction);
/// The name of a type or of its algebra as it is written: "bool" for what the compiler calls arges::PlusTimes<bool>.
std::string readable_type(const char* name);
/// Puts the bytes of a number behind a text that something is kept by.
template <class Number>
void append_bytes(std::string& key, Number number) {
    key.append(reinterpret_cast<const char*>(&number), sizeof number);
}

}  // namespace arges
