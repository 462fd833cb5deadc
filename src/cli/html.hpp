/// Pieces of a page of HTML.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace arges::cli {

/// Text that a page shows as it is, in elements and in attributes: signs of HTML are escaped, control characters are blanks, and bytes that
/// are no UTF-8 stand for U+FFFD. Pure.
std::string escaped(std::string_view text);

/// A table of texts, not yet escaped; the first row is the heading. Columns that `left` names are aligned to the left. Rows that `marked`
/// names, from 0 behind the heading, stand out.
std::string html_table(const std::vector<std::vector<std::string>>& rows, const std::vector<bool>& left,
                       const std::vector<std::size_t>& marked = {});

/// Names and what is said of them, not yet escaped.
std::string html_facts(const std::vector<std::pair<std::string, std::string>>& facts);

/// A whole page, which loads nothing and runs no script. @param title  not yet escaped @param body  HTML
std::string html_page(const std::string& title, const std::string& body);

}  // namespace arges::cli
