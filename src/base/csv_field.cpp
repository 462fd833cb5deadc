#include "base/csv_field.hpp"

namespace arges {

void append_csv_field(std::string& text, std::string_view field, char delimiter, char quote) {
    const char signs[] = {delimiter, quote, '\n', '\r'};
    const bool has_blanks = !field.empty() && (field.front() == ' ' || field.back() == ' ');
    if (quote == 0 || (!has_blanks && field.find_first_of(std::string_view(signs, sizeof signs)) == std::string_view::npos)) {
        text += field;
        return;
    }
    text += quote;
    for (char c : field) text.append(c == quote ? 2 : 1, c);
    text += quote;
}

}  // namespace arges
