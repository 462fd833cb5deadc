#include "base/text.hpp"

#include <iomanip>
#include <sstream>

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

}  // namespace arges
