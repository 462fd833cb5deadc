#include "base/text_width.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace arges {

namespace {

struct Letters {
    std::uint32_t first, last;
};

bool is_among(const Letters* begin, const Letters* end, std::uint32_t letter) {
    return std::any_of(begin, end, [&](const Letters& range) { return letter >= range.first && letter <= range.last; });
}

/// Columns of a terminal that a letter takes: none for marks on the letter before, two for those of East Asia and pictures.
std::size_t columns_of(std::uint32_t letter) {
    static constexpr Letters marks[] = {{0x300, 0x36f},   {0x483, 0x489},   {0x591, 0x5bd},  {0x64b, 0x65f},
                                        {0x200b, 0x200f}, {0x20d0, 0x20f0}, {0xfe00, 0xfe0f}};
    static constexpr Letters wide[] = {{0x1100, 0x115f},   {0x2e80, 0xa4cf},   {0xac00, 0xd7a3},  {0xf900, 0xfaff},
                                       {0xfe30, 0xfe6f},   {0xff00, 0xff60},   {0xffe0, 0xffe6},  {0x1f300, 0x1f64f},
                                       {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd}};
    if (letter < 0x300) return 1;
    if (is_among(std::begin(marks), std::end(marks), letter)) return 0;
    return is_among(std::begin(wide), std::end(wide), letter) ? 2 : 1;
}

}  // namespace

std::size_t letter_bytes(std::string_view text) {
    constexpr std::size_t most_bytes = 4;
    std::size_t bytes = 1;
    while (bytes < std::min(text.size(), most_bytes) && (static_cast<unsigned char>(text[bytes]) & 0xc0U) == 0x80U) ++bytes;
    return bytes;
}

std::size_t text_width(std::string_view text) {
    std::size_t width = 0;
    while (!text.empty()) {
        const auto bytes = letter_bytes(text);
        auto letter = static_cast<std::uint32_t>(static_cast<unsigned char>(text[0]));
        if (bytes > 1) letter &= 0xffU >> (bytes + 1);
        for (std::size_t b = 1; b < bytes; ++b) letter = letter << 6U | (static_cast<unsigned char>(text[b]) & 0x3fU);
        width += columns_of(letter);
        text.remove_prefix(bytes);
    }
    return width;
}

}  // namespace arges
