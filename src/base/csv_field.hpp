/// Fields of tables as text (RFC 4180).
#pragma once

#include <string>
#include <string_view>

namespace arges {

/// Appends a field, between quotes where it could not be read back without. @param quote  0: there are none
void append_csv_field(std::string& text, std::string_view field, char delimiter = ',', char quote = '"');

}  // namespace arges
