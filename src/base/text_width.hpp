/// How wide a text is where letters of UTF-8 stand below each other.
#pragma once

#include <cstddef>
#include <string_view>

namespace arges {

/// Bytes of the first letter of a text that is not empty. Pure.
std::size_t letter_bytes(std::string_view text);

/// Columns of a terminal that a text takes; two for a letter of East Asia. Pure. Example: of "Zoë" 3, of "東京" 4.
std::size_t text_width(std::string_view text);

}  // namespace arges
