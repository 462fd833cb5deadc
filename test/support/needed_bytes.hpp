/// What a product asks for that does not fit into the memory limit.
#pragma once

#include "arges/error.hpp"

#include <cstdint>
#include <string>

namespace arges::test {

/// The bytes behind "needs at least" in the text of an error.
inline std::int64_t needed_bytes(const OutOfMemory& error) {
    const std::string text = error.what(), before = "needs at least ";
    const auto begin = text.find(before) + before.size();
    const auto name = text.substr(text.find(' ', begin) + 1, 3);
    std::int64_t unit = 1;
    for (const char* u : {"KiB", "MiB", "GiB", "TiB"}) {
        unit *= 1024;
        if (name == u) return std::stoll(text.substr(begin)) * unit;
    }
    return std::stoll(text.substr(begin));
}

}  // namespace arges::test
