/// Words that are numbers.
#pragma once

#include <charconv>
#include <string_view>
#include <system_error>

namespace arges {

/// Reads a word that is a number and nothing else, as std::from_chars reads it: without a plus sign or blanks. If it is false, `value`
/// means nothing. Pure.
template <class T>
bool read_number(std::string_view word, T& value) {
    const char* const end = word.data() + word.size();
    const auto [behind, code] = std::from_chars(word.data(), end, value);
    return code == std::errc() && behind == end;
}

}  // namespace arges
