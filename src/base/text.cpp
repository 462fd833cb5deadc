#include "base/text.hpp"

#include "base/text_width.hpp"

#include <cxxabi.h>

#include <cstdio>
#include <cstdlib>
#include <memory>

namespace arges {

std::string pad(std::string text, std::size_t width) {
    if (const auto taken = text_width(text); taken < width) text.append(width - taken, ' ');
    return text;
}

std::string pad_left(std::string text, std::size_t width) {
    if (const auto taken = text_width(text); taken < width) text.insert(0, width - taken, ' ');
    return text;
}

std::string with_commas(std::int64_t value) {
    auto text = std::to_string(value);
    for (auto i = static_cast<std::ptrdiff_t>(text.size()) - 3; i > (value < 0 ? 1 : 0); i -= 3)
        text.insert(static_cast<std::size_t>(i), ",");
    return text;
}

std::string printed(const char* format, double value) {
    std::string text(std::snprintf(nullptr, 0, format, value), '\0');
    std::snprintf(text.data(), text.size() + 1, format, value);
    return text;
}

std::string readable_type(const char* name) {
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> readable(abi::__cxa_demangle(name, nullptr, nullptr, &status), &std::free);
    std::string text = status == 0 ? readable.get() : name;
    constexpr std::string_view arithmetic = "arges::PlusTimes<";
    if (text.starts_with(arithmetic)) text = text.substr(arithmetic.size(), text.size() - arithmetic.size() - 1);
    return text;
}

}  // namespace arges
