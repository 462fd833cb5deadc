#include "cli/html.hpp"

#include <algorithm>
#include <cstdint>

namespace arges::cli {

namespace {

constexpr const char* style =
    R"(:root{color-scheme:light dark;--ink:#1b2430;--soft:#586474;--line:#d4dae2;--paper:#fff;--plus:#2b6cb0;--minus:#b8501f;--band:#2b6cb040}
@media (prefers-color-scheme:dark){:root{--ink:#e4e8ee;--soft:#a3afbe;--line:#3a4452;--paper:#14181e;--plus:#6db1f2;--minus:#f0965f;--band:#6db1f24d}}
@media print{:root{color-scheme:light;--ink:#000;--soft:#444;--line:#bbb;--paper:#fff;--plus:#2b6cb0;--minus:#b8501f;--band:#2b6cb040}section.component,figure,tr{break-inside:avoid}}
body{margin:0 auto;padding:1.5rem;max-width:72rem;background:var(--paper);color:var(--ink);font:15px/1.45 system-ui,sans-serif}
h1{font-size:1.5rem;margin:0 0 .75rem;overflow-wrap:anywhere}
h2{font-size:1.15rem;margin:2rem 0 .75rem;border-bottom:1px solid var(--line);padding-bottom:.25rem}
h3{font-size:1rem;margin:1.25rem 0 .5rem}
p{margin:.4rem 0;max-width:60rem}
p.note,figcaption,footer{color:var(--soft);font-size:.86rem}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.15rem 1.25rem;margin:0}
dt{color:var(--soft)}
dd{margin:0;overflow-wrap:anywhere}
.figures{display:flex;flex-wrap:wrap;gap:1rem 1.5rem;align-items:flex-start}
figure{margin:0}
figcaption{margin-bottom:.2rem;overflow-wrap:anywhere}
svg{display:block;max-width:100%;height:auto;font:11px system-ui,sans-serif}
svg text{fill:var(--ink)}
svg text.soft{fill:var(--soft)}
svg .plus{fill:var(--plus)}
svg .minus{fill:var(--minus)}
svg .axis{stroke:var(--line);stroke-width:1;fill:none}
svg .curve{stroke:var(--plus);stroke-width:1.5;fill:none;stroke-linejoin:round}
svg .second{stroke:var(--minus);stroke-dasharray:5 3}
svg .band{fill:var(--band);stroke:var(--plus);stroke-width:.75}
.wide{overflow-x:auto}
figure .wide{margin-top:.4rem}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.9rem}
figure table{font-size:.8rem}
th,td{padding:.2rem .8rem .2rem 0;text-align:right;border-bottom:1px solid var(--line);overflow-wrap:anywhere}
th{color:var(--soft);font-weight:600}
th.left,td.left{text-align:left}
tr.marked td{font-weight:600}
footer{margin-top:2rem}
)";

/// Bytes of the character of UTF-8 that begins a text; 0: it begins with none.
std::size_t letter_bytes(std::string_view text) {
    const auto first = static_cast<unsigned char>(text[0]);
    const std::size_t bytes = first < 0x80                    ? 1
                              : first >= 0xc2 && first < 0xe0 ? 2
                              : first >= 0xe0 && first < 0xf0 ? 3
                              : first >= 0xf0 && first < 0xf5 ? 4
                                                              : 0;
    if (bytes == 0 || text.size() < bytes) return 0;
    std::uint32_t code = bytes == 1 ? first : first & (0xffU >> (bytes + 1));
    for (std::size_t i = 1; i < bytes; ++i) {
        const auto next = static_cast<unsigned char>(text[i]);
        if ((next & 0xc0U) != 0x80U) return 0;
        code = code << 6U | (next & 0x3fU);
    }
    const bool is_overlong = (bytes == 3 && code < 0x800) || (bytes == 4 && code < 0x10000);
    const bool is_surrogate = code >= 0xd800 && code < 0xe000;
    return is_overlong || is_surrogate || code > 0x10ffff ? 0 : bytes;
}

std::string row_of(const std::vector<std::string>& cells, const std::vector<bool>& left, const char* element, bool is_marked) {
    std::string text = is_marked ? "<tr class=\"marked\">" : "<tr>";
    for (std::size_t c = 0; c < cells.size(); ++c)
        text += std::string("<") + element + (left[c] ? " class=\"left\">" : ">") + escaped(cells[c]) + "</" + element + ">";
    return text + "</tr>\n";
}

}  // namespace

std::string escaped(std::string_view text) {
    std::string result;
    while (!text.empty()) {
        const auto bytes = letter_bytes(text);
        const char c = text[0];
        if (bytes == 0)
            result += "\xef\xbf\xbd";
        else if (bytes > 1)
            result += text.substr(0, bytes);
        else if (static_cast<unsigned char>(c) < ' ' || c == '\x7f')
            result += ' ';
        else
            result += c == '&'    ? "&amp;"
                      : c == '<'  ? "&lt;"
                      : c == '>'  ? "&gt;"
                      : c == '"'  ? "&quot;"
                      : c == '\'' ? "&#39;"
                                  : std::string(1, c);
        text.remove_prefix(std::max<std::size_t>(bytes, 1));
    }
    return result;
}

std::string html_table(const std::vector<std::vector<std::string>>& rows, const std::vector<bool>& left,
                       const std::vector<std::size_t>& marked) {
    std::string text = "<div class=\"wide\"><table>\n<thead>" + row_of(rows.front(), left, "th", false) + "</thead>\n<tbody>\n";
    for (std::size_t r = 1; r < rows.size(); ++r)
        text += row_of(rows[r], left, "td", std::find(marked.begin(), marked.end(), r - 1) != marked.end());
    return text + "</tbody></table></div>\n";
}

std::string html_facts(const std::vector<std::pair<std::string, std::string>>& facts) {
    std::string text = "<dl>\n";
    for (const auto& [name, what] : facts) text += "<dt>" + escaped(name) + "</dt><dd>" + escaped(what) + "</dd>\n";
    return text + "</dl>\n";
}

std::string html_page(const std::string& title, const std::string& body) {
    return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
           "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
           "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n<title>" +
           escaped(title) + "</title>\n<style>\n" + style + "</style>\n</head>\n<body>\n" + body + "</body>\n</html>\n";
}

}  // namespace arges::cli
