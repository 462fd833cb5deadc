#include "base/text.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <iomanip>
#include <memory>
#include <sstream>
#include <string_view>

namespace arges {

std::string pad(std::string text, std::size_t width) {
    if (text.size() < width) text.append(width - text.size(), ' ');
    return text;
}

std::string pad_left(std::string text, std::size_t width) {
    if (text.size() < width) text.insert(0, width - text.size(), ' ');
    return text;
}

std::string with_commas(std::int64_t value) {
    auto text = std::to_string(value);
    for (auto i = static_cast<std::ptrdiff_t>(text.size()) - 3; i > (value < 0 ? 1 : 0); i -= 3)
        text.insert(static_cast<std::size_t>(i), ",");
    return text;
}

std::string scientific(double value) {
    std::ostringstream stream;
    stream << std::setprecision(3) << value;
    return stream.str();
}

std::string percent(double fraction) {
    std::ostringstream stream;
    stream << std::fixed << std::setprecision(1) << fraction * 100 << " %";
    return stream.str();
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
