#include "cli/ids.hpp"

#include "arges/table_io.hpp"
#include "base/text.hpp"
#include "base/text_width.hpp"

#include <string_view>

namespace arges::cli {

std::vector<std::vector<std::string>> ModelIds::of(const World& world, const std::vector<std::vector<std::int64_t>>& indices) const {
    if (!is_there()) return {};
    return read_ids(world, file, indices);
}

ModelIds model_ids(const World& world, const std::string& path, const std::vector<std::int64_t>& lengths) {
    const auto file = ids_path(path);
    const auto modes = ids_outline(world, file);
    if (modes.empty()) return {};
    ModelIds ids{.file = file};
    std::vector<std::int64_t> counts;
    for (const auto& mode : modes) {
        ids.names.push_back(mode.name);
        counts.push_back(mode.count);
    }
    if (counts == lengths) return ids;
    return {.warning = file + " has ids of a tensor of " + joined(counts, " x ") + ", and this one is " + joined(lengths, " x ") +
                       "; indices are printed instead: convert the table again, or remove the file"};
}

std::string shown_id(const std::string& id) {
    constexpr std::size_t most = 24;
    if (id.empty()) return "(empty)";
    std::size_t end = 0;
    for (std::size_t width = 0; end < id.size();) {
        const auto letter = std::string_view(id).substr(end, letter_bytes(std::string_view(id).substr(end)));
        width += text_width(letter);
        if (width > most) break;
        end += letter.size();
    }
    auto text = id.substr(0, end) + (end < id.size() ? "..." : "");
    for (char& c : text)
        if (static_cast<unsigned char>(c) < ' ') c = ' ';
    return text;
}

}  // namespace arges::cli
