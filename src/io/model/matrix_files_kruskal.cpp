// A set of files replaces an older one by renaming a single file, the description, when all others are
// complete; a reader finds one set or the other.
#include "io/model/matrix_files_kruskal.hpp"

#include "arges/error.hpp"
#include "comm/values.hpp"
#include "interface/sparse/sparse_tensor_slices.hpp"
#include "io/file/checksum.hpp"
#include "io/model/kruskal_description.hpp"
#include "io/sparse/tns_writer.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>

namespace arges::io {

namespace {

namespace fs = std::filesystem;

std::string path_in(const std::string& folder, const std::string& name) { return (fs::path(folder) / name).string(); }
std::string path_of(const std::string& folder, int mode, MatrixForm form) { return path_in(folder, kruskal_file_name(mode, form)); }
/// What cannot be looked at, say because its name is too long, is not there.
bool is_there(const std::string& path) {
    std::error_code ignored;
    return fs::exists(path, ignored);
}
bool is_folder(const std::string& path) {
    std::error_code ignored;
    return fs::is_directory(path, ignored);
}
std::string description_path(const std::string& folder) { return path_in(folder, "description.json"); }

/// Removes what an older set has and this one has not. On one rank.
void remove_older(const std::string& folder, const std::vector<std::string>& names) {
    const std::set<std::string> kept(names.begin(), names.end());
    std::set<std::string> others;
    const std::regex of_a_set("((lambda|(mode|bias)_[0-9]+(_rows)?)\\.(npy|txt))(\\.arges-part-.*)?");
    std::error_code ignored;
    for (fs::directory_iterator entry(folder, ignored), end; !ignored && entry != end; entry.increment(ignored)) {
        std::smatch parts;
        const auto name = entry->path().filename().string();
        if (std::regex_match(name, parts, of_a_set) && kept.count(parts[1]) == 0) others.insert(parts[1]);
    }
    for (const auto& name : others) {
        remove_dead_parts(path_in(folder, name));
        fs::remove(path_in(folder, name), ignored);
    }
}

/// A file of a set.
struct SetFile {
    std::string path, temporary;  ///< temporary: where a writer that was killed may have left it; empty: nowhere
    std::int64_t checksum = -1;   ///< that it must have; -1: any
};

struct FileSet {
    MatrixForm form = MatrixForm::npy;
    std::vector<bool> is_listed;        ///< by mode
    std::vector<std::int64_t> lengths;  ///< of the modes; empty: not known
    std::vector<SetFile> files{};       ///< in the order of kruskal_file_names()
    bool has_biases = false;
    double mean = 0;
};

FileSet described_set(const std::string& folder, const std::string& text) {
    const auto description = parse_description(text, description_path(folder));
    FileSet set{description.form, description.is_listed, description.lengths, {}, description.has_biases, description.mean};
    const auto names = kruskal_file_names(set.is_listed, set.form, set.has_biases);
    for (std::size_t k = 0; k < names.size(); ++k)
        set.files.push_back({path_in(folder, names[k]), path_in(folder, description.temporary[k]), description.checksums[k]});
    return set;
}

/// The description's text, of which rank 0 sees the file; empty if there is none. Collective.
std::string description_text(const Communicator& comm, const std::string& folder) {
    return from_first_rank(comm, [&] {
        std::ifstream stream(description_path(folder), std::ios::binary);
        return std::string(std::istreambuf_iterator<char>(stream), {});
    });
}

/// For each file whether it is there under its own name, and whether under the temporary one, as rank 0 sees it. Collective.
struct Presence {
    bool named = false, temporary = false;
};
std::vector<Presence> look_for(const Communicator& comm, const FileSet& set) {
    return from_first_rank(comm, [&] {
        std::vector<Presence> result;
        for (const auto& file : set.files) result.push_back({is_there(file.path), !file.temporary.empty() && is_there(file.temporary)});
        return result;
    });
}

bool has_checksum(const Communicator& comm, const std::string& path, std::int64_t checksum) {
    return file_checksum(InputFile(comm, path)) == checksum;
}

/// Gives the files their names that a writer left without which was killed after it had written the description. Collective.
void finish_renaming(const Communicator& comm, const std::string& folder) {
    const auto text = description_text(comm, folder);
    FileSet set;
    try {
        if (!text.empty()) set = described_set(folder, text);
    } catch (const InvalidArgument&) {
        return;  // no file depends on it, and it will be replaced
    }
    const auto presence = look_for(comm, set);
    for (std::size_t k = 0; k < set.files.size(); ++k) {
        const auto& file = set.files[k];
        if (!presence[k].temporary || (presence[k].named && has_checksum(comm, file.path, file.checksum)) ||
            !has_checksum(comm, file.temporary, file.checksum))
            continue;
        comm.agree([&] {
            std::error_code code;
            if (comm.rank() == 0) fs::rename(file.temporary, file.path, code);
            if (code)
                throw InvalidArgument(file.temporary + ": the file cannot be renamed (" + code.message() +
                                      "); check that the folder may be written");
        });
    }
}

/// A folder whose files others have made: the form, and for each mode whether its rows are listed. On one rank.
std::vector<std::int64_t> look_at_names(const std::string& folder) {
    const auto form = is_there(path_of(folder, 0, MatrixForm::npy)) ? MatrixForm::npy : MatrixForm::text;
    if (!is_there(path_of(folder, 0, form)) || !is_there(path_of(folder, 1, form)))
        throw InvalidArgument(folder + ": there is no " + kruskal_file_name(0, form) + " with " + kruskal_file_name(1, form) +
                              "; name a folder that a decomposition wrote");
    if (is_there(path_in(folder, bias_file_name(1, form))))
        throw InvalidArgument(folder + ": there is no description.json, which has the mean that belongs to " + bias_file_name(1, form) +
                              "; copy it, too, or remove the biases");
    std::vector<std::int64_t> found{static_cast<std::int64_t>(form)};
    for (int mode = 1; is_there(path_of(folder, mode, form)); ++mode)
        found.push_back(is_there(path_in(folder, row_list_name(mode, form))) ? 1 : 0);
    return found;
}

/// The same on all ranks. Collective.
FileSet find_set(const Communicator& comm, const std::string& folder) {
    comm.agree([&] {
        if (comm.rank() == 0 && !is_folder(folder)) throw InvalidArgument(folder + ": there is no such folder; check the path");
    });
    if (const auto text = description_text(comm, folder); !text.empty()) return described_set(folder, text);
    const auto found = from_first_rank(comm, [&] { return look_at_names(folder); });
    FileSet set{static_cast<MatrixForm>(found[0]), {found.begin() + 1, found.end()}, {}};
    for (const auto& name : kruskal_file_names(set.is_listed, set.form, false)) set.files.push_back({path_in(folder, name), "", -1});
    return set;
}

/// Where the file that the description means is. Collective. @throws InvalidArgument on every rank if it is nowhere
std::string present_path(const Communicator& comm, const SetFile& file, Presence presence) {
    if (file.checksum < 0) return file.path;
    if (presence.named && has_checksum(comm, file.path, file.checksum)) return file.path;
    if (presence.temporary && has_checksum(comm, file.temporary, file.checksum)) return file.temporary;
    if (!presence.named)
        throw InvalidArgument(file.path +
                              ": there is no such file, but description.json names it; the folder is not complete: copy or save it again");
    throw InvalidArgument(
        file.path + ": this is not the file that description.json was written for (its checksum differs): the folder mixes files of "
                    "two decompositions, or the file is damaged or was changed; save the decomposition again, or, if the file is as you "
                    "want it, remove description.json");
}

/// A factor's file with the given rows only, one after the other, and the list of their numbers. Collective.
struct ListedFactor {
    MatrixRows rows;                 ///< renumbered
    std::vector<std::int64_t> list;  ///< this rank's part of the numbers
    std::int64_t first = 0;          ///< its place in the list
    std::int64_t total = 0;
};
ListedFactor without_empty_rows(const Communicator& comm, const std::string& path, std::int64_t length, const MatrixRows& mine) {
    comm.agree([&] { check_row_numbers(path, length, mine.rows); });
    auto nonempty = nonempty_slices(comm, mine.rows);
    auto numbers = renumbered(comm, nonempty, mine.rows);
    const auto first = nonempty.first[comm.rank()];
    auto rows = mine;
    rows.rows = std::move(numbers);
    return {std::move(rows), std::move(nonempty.mine), first, nonempty.total()};
}

/// One more than the last number in a list of rows. Collective.
std::int64_t length_of_list(const Communicator& comm, const std::string& path, std::int64_t count) {
    const auto last = read_matrix<std::int64_t>(comm, path, count > 0 ? std::vector<std::int64_t>{count - 1} : std::vector<std::int64_t>{});
    return last.empty() ? 0 : last[0] + 1;
}

}  // namespace

bool is_listed(std::int64_t length, std::int64_t given) { return given > 0 && length >= shortest_listed && given < length / 2; }

void write_kruskal(const Communicator& comm, const std::string& folder, const KruskalRows& mine, MatrixForm form) {
    comm.agree([&] {
        if (mine.factors.size() != mine.lengths.size())
            throw InvalidArgument(folder + ": " + std::to_string(mine.factors.size()) + " factors for " +
                                  std::to_string(mine.lengths.size()) + " modes");
        if (comm.rank() != 0) return;
        std::error_code code;
        fs::create_directories(folder, code);
        if (!is_folder(folder))
            throw InvalidArgument(folder + ": the folder cannot be made" + (code ? " (" + code.message() + ")" : "") +
                                  "; name one that may be written");
    });
    finish_renaming(comm, folder);
    const auto components = std::ssize(mine.weights.rows);
    std::vector<std::unique_ptr<OutputFile>> files;
    auto weights = mine.weights;
    if (comm.rank() != 0) weights.rows.clear(), weights.values = {};
    files.push_back(prepare_matrix(comm, path_of(folder, 0, form), {components, 1}, weights, form));
    std::vector<std::unique_ptr<OutputFile>> lists;
    KruskalDescription description{.form = form,
                                   .lengths = mine.lengths,
                                   .components = components,
                                   .single = mine.weights.type == ElementType::float32,
                                   .has_biases = !mine.biases.empty(),
                                   .mean = mine.mean};
    std::vector<std::unique_ptr<OutputFile>> biases;
    for (std::size_t m = 0; m < mine.factors.size(); ++m) {
        const auto mode = static_cast<int>(m) + 1;
        const auto path = path_of(folder, mode, form);
        description.is_listed.push_back(is_listed(mine.lengths[m], comm.sum(std::ssize(mine.factors[m].rows))));
        if (!description.is_listed[m]) {
            files.push_back(prepare_matrix(comm, path, {mine.lengths[m], components}, mine.factors[m], form));
            if (description.has_biases)
                biases.push_back(
                    prepare_matrix(comm, path_in(folder, bias_file_name(mode, form)), {mine.lengths[m], 1}, mine.biases[m], form));
            continue;
        }
        const auto factor = without_empty_rows(comm, path, mine.lengths[m], mine.factors[m]);
        files.push_back(prepare_matrix(comm, path, {factor.total, components}, factor.rows, form));
        lists.push_back(prepare_matrix(comm, path_in(folder, row_list_name(mode, form)), {factor.total, 1},
                                       MatrixRows::contiguous(factor.first, factor.list, 1), form));
        if (!description.has_biases) continue;
        auto bias = mine.biases[m];
        bias.rows = factor.rows.rows;
        biases.push_back(prepare_matrix(comm, path_in(folder, bias_file_name(mode, form)), {factor.total, 1}, bias, form));
    }
    std::move(lists.begin(), lists.end(), std::back_inserter(files));
    std::move(biases.begin(), biases.end(), std::back_inserter(files));
    for (const auto& file : files) {
        description.checksums.push_back(file_checksum(InputFile(comm, file->temporary())));
        description.temporary.push_back(fs::path(file->temporary()).filename().string());
    }
    const auto text = to_text(description);
    const auto last = prepare_text(comm, description_path(folder), false, [&](const std::function<void(std::string_view)>& take) {
        if (comm.rank() == 0) take(text);
    });
    last->publish();
    for (auto& file : files) file->keep();  // the description names them
    for (auto& file : files) file->publish();
    comm.agree([&] {
        if (comm.rank() == 0) remove_older(folder, kruskal_file_names(description.is_listed, form, description.has_biases));
    });
}

KruskalShape kruskal_shape(const Communicator& comm, const std::string& folder) {
    const auto set = find_set(comm, folder);
    const auto presence = look_for(comm, set);
    KruskalShape shape{.form = set.form, .mean = set.mean};
    const auto order = set.is_listed.size();
    std::vector<std::string> lists;
    for (std::size_t k = 0; k < set.files.size(); ++k)
        (k > order ? lists : shape.paths).push_back(present_path(comm, set.files[k], presence[k]));
    if (set.has_biases) {
        const auto first = lists.end() - static_cast<std::ptrdiff_t>(order);
        shape.biases.assign(first, lists.end());
        lists.erase(first, lists.end());
    }
    const auto weights = matrix_shape(comm, shape.paths[0]);
    shape.components = weights.rows * weights.columns;
    shape.weight_rows = weights.rows;
    if (weights.rows != 1 && weights.columns != 1)
        throw InvalidArgument(shape.paths[0] + ": " + std::to_string(weights.rows) + " x " + std::to_string(weights.columns) +
                              " weights; give one for each component, in a row or in a column");
    auto next_list = lists.begin();
    for (std::size_t mode = 1; mode < shape.paths.size(); ++mode) {
        const auto factor = matrix_shape(comm, shape.paths[mode]);
        shape.rows.push_back(factor.rows);
        shape.lengths.push_back(factor.rows);
        shape.row_lists.emplace_back();
        if (set.is_listed[mode - 1]) {
            const auto& list = shape.row_lists.back() = *next_list++;
            const auto numbers = matrix_shape(comm, list);
            if (numbers != MatrixShape{factor.rows, 1})
                throw InvalidArgument(list + ": " + std::to_string(numbers.rows) + " x " + std::to_string(numbers.columns) +
                                      " numbers for " + std::to_string(factor.rows) + " rows in " + kruskal_file_name(mode, shape.form) +
                                      "; give a column with a number for each row");
            shape.lengths.back() = set.lengths.empty() ? length_of_list(comm, list, factor.rows) : set.lengths[mode - 1];
        }
        if (factor.columns != shape.components)
            throw InvalidArgument(shape.paths[mode] + ": " + std::to_string(factor.columns) + " columns, but there are " +
                                  std::to_string(shape.components) + " weights in " + kruskal_file_name(0, shape.form) +
                                  "; use files of one decomposition");
        if (!shape.biases.empty() && matrix_shape(comm, shape.biases[mode - 1]) != MatrixShape{factor.rows, 1})
            throw InvalidArgument(shape.biases[mode - 1] + ": there is not one bias for each of the " + std::to_string(factor.rows) +
                                  " rows in " + kruskal_file_name(static_cast<int>(mode), shape.form) + "; use files of one decomposition");
    }
    return shape;
}

}  // namespace arges::io
