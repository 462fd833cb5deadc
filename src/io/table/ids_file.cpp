// Files of ids: lines of text, which stand in the order of indices.
#include "arges/error.hpp"
#include "arges/table_io.hpp"
#include "comm/collective_call.hpp"
#include "comm/values.hpp"
#include "interface/world/call_arguments.hpp"
#include "interface/world/world_state.hpp"
#include "io/file/text_lines.hpp"
#include "io/file/text_number.hpp"
#include "io/sparse/tns_writer.hpp"
#include "io/table/id_table.hpp"

#include <algorithm>
#include <filesystem>
#include <numeric>

namespace arges {

namespace {

using namespace io;
namespace fs = std::filesystem;

constexpr std::string_view first_line = "# arges ids 1";

std::string escaped(std::string_view id) {
    std::string text;
    for (char c : id) {
        if (c == '\n')
            text += "\\n";
        else if (c == '\r')
            text += "\\r";
        else
            text.append(c == '\\' ? 2 : 1, c);
    }
    return text;
}

std::string unescaped(std::string_view text) {
    std::string id;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '\\' || i + 1 == text.size())
            id += text[i];
        else if (const char c = text[++i]; true)
            id += c == 'n' ? '\n' : c == 'r' ? '\r' : c;
    }
    return id;
}

/// A line "mode 2 24 time:1h".
ModeIds parse_mode(const std::string& path, std::string_view line, std::size_t mode) {
    const auto words = words_of(line);
    ModeIds ids;
    std::int64_t number = 0;
    if (words.size() < 3 || words[0] != "mode" || careful_value(words[1], number) != ValueKind::fine ||
        careful_value(words[2], ids.count) != ValueKind::fine || number != static_cast<std::int64_t>(mode) || ids.count < 0)
        throw InvalidArgument(path + ": " + quoted(line) + " stands where mode " + std::to_string(mode) +
                              " begins; this is no file of ids that arges wrote: convert the table again, or remove it");
    const auto behind = static_cast<std::size_t>(words[2].data() + words[2].size() - line.data()) + 1;
    ids.name = behind < line.size() ? unescaped(line.substr(behind)) : "";
    return ids;
}

/// Calls take(mode, index, line) for each id. On rank 0. Returns the modes.
template <class Take>
std::vector<ModeIds> scan(const InputFile& file, const Take& take) {
    const auto& path = file.path();
    LineReader lines(FileLines(file, 0, file.size()));
    if (!lines.next() || lines.line() != first_line)
        throw InvalidArgument(path + ": the first line is not '" + std::string(first_line) +
                              "'; convert the table again, or remove the file");
    std::vector<ModeIds> modes;
    while (lines.next()) {
        modes.push_back(parse_mode(path, lines.line(), modes.size() + 1));
        for (std::int64_t index = 0; index < modes.back().count; ++index) {
            if (!lines.next())
                throw InvalidArgument(path + ": the file ends within mode " + std::to_string(modes.size()) + "; copy it again");
            take(modes.size() - 1, index, lines.line());
        }
    }
    return modes;
}

bool is_there(const Communicator& comm, const std::string& path) {
    return from_first_rank(comm, [&] {
        std::error_code ignored;
        return fs::is_regular_file(path, ignored);
    });
}

}  // namespace

std::string ids_path(const std::string& tensor) {
    std::error_code ignored;
    return fs::is_directory(tensor, ignored) ? (fs::path(tensor) / "model.ids").string() : tensor + ".ids";
}

void write_ids(const World& world, const std::vector<ModeIds>& ids, const std::string& path) {
    const CollectiveCall call(ranks_of(world), "write_ids", path, ids.size());
    const auto& comm = communicator_of(world, path);
    // Ranks write one after the other, so each mode is a file of its own in thought: parts of all ranks, mode by mode.
    OutputFile file(comm, path);
    std::int64_t offset = 0;
    for (std::size_t m = 0; m < ids.size(); ++m) {
        std::string text;
        comm.agree([&] {
            if (comm.rank() == 0) {
                if (m == 0) text += std::string(first_line) + "\n";
                text += "mode " + std::to_string(m + 1) + " " + std::to_string(ids[m].count) + " " + escaped(ids[m].name) + "\n";
            }
            for (const auto& id : ids[m].mine) text += escaped(id) + "\n";
        });
        std::int64_t total = 0;
        const auto place = offset + sum_before(comm, std::ssize(text), &total);
        comm.agree([&] { file.write(place, text.data(), text.size()); });
        offset += total;
    }
    file.commit();
}

std::vector<ModeIds> ids_outline(const World& world, const std::string& path) {
    const CollectiveCall call(ranks_of(world), "ids_outline", path);
    const auto& comm = communicator_of(world, path);
    if (!is_there(comm, path)) return {};
    const InputFile file(comm, path);
    std::vector<std::string> names;
    std::vector<std::int64_t> counts;
    comm.agree([&] {
        if (comm.rank() != 0) return;
        for (auto& mode : scan(file, [](std::size_t, std::int64_t, std::string_view) {})) {
            names.push_back(std::move(mode.name));
            counts.push_back(mode.count);
        }
    });
    names = from_first_rank(comm, [&] { return names; });
    counts = from_first_rank(comm, [&] { return counts; });
    std::vector<ModeIds> modes;
    for (std::size_t m = 0; m < names.size(); ++m) modes.push_back({names[m], counts[m], {}});
    return modes;
}

std::vector<std::vector<std::string>> read_ids(const World& world, const std::string& path,
                                               const std::vector<std::vector<std::int64_t>>& indices) {
    const CollectiveCall call(ranks_of(world), "read_ids", path, indices);
    const auto& comm = communicator_of(world, path);
    const InputFile file(comm, path);
    return from_first_rank(comm, [&] {
        std::vector<std::vector<std::string>> ids;
        std::vector<std::vector<std::size_t>> order;  // places of indices, ascending
        for (const auto& list : indices) {
            ids.emplace_back(list.size());
            auto& places = order.emplace_back(list.size());
            std::iota(places.begin(), places.end(), 0);
            std::sort(places.begin(), places.end(), [&](std::size_t a, std::size_t b) { return list[a] < list[b]; });
        }
        std::vector<std::size_t> next(indices.size());
        scan(file, [&](std::size_t mode, std::int64_t index, std::string_view line) {
            if (mode >= indices.size()) return;
            for (auto& at = next[mode]; at < order[mode].size() && indices[mode][order[mode][at]] == index; ++at)
                ids[mode][order[mode][at]] = unescaped(line);
        });
        for (std::size_t m = 0; m < indices.size(); ++m)
            if (next[m] < order[m].size())
                throw InvalidArgument(path + ": there is no id of index " + std::to_string(indices[m][order[m][next[m]]]) + " in mode " +
                                      std::to_string(m + 1) + "; these are the ids of another tensor: convert the table again");
        return ids;
    });
}

std::vector<std::vector<std::int64_t>> io::indices_of_ids(const Communicator& comm, const std::string& path,
                                                          const std::vector<IdTable>& ids) {
    const InputFile file(comm, path);
    std::vector<std::vector<std::int64_t>> indices;
    comm.agree([&] {
        for (const auto& table : ids) indices.emplace_back(table.count(), -1);
        scan(file, [&](std::size_t mode, std::int64_t index, std::string_view line) {
            if (mode >= ids.size()) return;
            const auto number = line.find('\\') == std::string_view::npos ? ids[mode].find(line) : ids[mode].find(unescaped(line));
            if (number >= 0) indices[mode][number] = index;
        });
    });
    return indices;
}

void select_ids(const World& world, const std::string& from, const std::vector<std::vector<std::int64_t>>& kept, const std::string& to) {
    const CollectiveCall call(ranks_of(world), "select_ids", from, to);
    const auto& comm = communicator_of(world, to);
    const InputFile file(comm, from);
    std::vector<ModeIds> ids(kept.size());
    comm.agree([&] {
        std::vector<std::size_t> next(kept.size());
        const auto modes = scan(file, [&](std::size_t mode, std::int64_t index, std::string_view line) {
            if (mode >= kept.size() || next[mode] == kept[mode].size() || kept[mode][next[mode]] != index) return;
            ids[mode].mine.push_back(unescaped(line));
            ++next[mode];
        });
        for (std::size_t m = 0; m < kept.size(); ++m) {
            if (m >= modes.size() || next[m] < kept[m].size())
                throw InvalidArgument(from + ": not all indices of mode " + std::to_string(m + 1) +
                                      " have ids; these are the ids of another tensor: convert the table again");
            ids[m].name = modes[m].name;
        }
    });
    for (auto& mode : ids) mode.count = comm.sum(std::ssize(mode.mine));
    write_ids(world, ids, to);
}

void copy_ids(const World& world, const std::string& from, const std::string& to) {
    const CollectiveCall call(ranks_of(world), "copy_ids", from, to);
    const auto& comm = communicator_of(world, to);
    if (from == to) return;
    if (!is_there(comm, from)) {
        comm.agree([&] {
            std::error_code ignored;
            if (comm.rank() == 0) fs::remove(to, ignored);
        });
        return;
    }
    const InputFile file(comm, from);
    OutputFile copy(comm, to);
    comm.agree([&] {
        if (comm.rank() != 0) return;
        std::string text(std::size_t{1} << 20, '\0');
        for (std::int64_t at = 0; at < file.size();) {
            const auto got = file.read(at, text.data(), text.size());
            if (got == 0) break;
            copy.write(at, text.data(), got);
            at += static_cast<std::int64_t>(got);
        }
    });
    copy.commit();
}

}  // namespace arges
