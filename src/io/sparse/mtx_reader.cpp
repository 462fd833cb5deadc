// MatrixMarket files (Boisvert, Pozo and Remington, NISTIR 5935): a header, the sizes, then an entry on each line as in other sparse text.
#include "io/sparse/mtx_reader.hpp"

#include "arges/error.hpp"
#include "base/element_at.hpp"
#include "base/related_value.hpp"
#include "base/text.hpp"
#include "comm/values.hpp"
#include "interface/sparse/sparse_state.hpp"
#include "io/file/text_number.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>

namespace arges::io {

namespace {

std::string lower_case(std::string_view text) {
    std::string result(text);
    for (auto& c : result)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
    return result;
}

/// Which of the names a word is; else throws what may stand there.
template <std::size_t n>
std::size_t choice(std::string_view word, const std::array<std::string_view, n>& names) {
    const auto found = std::find(names.begin(), names.end(), lower_case(word));
    if (found != names.end()) return found - names.begin();
    throw InvalidArgument(quoted(word) + " in the header is not known; it is one of: " + joined(names));
}

/// What follows the word of a first line, "%%MatrixMarket"; nothing if it is no such line. Also for lines that were meant so: with a
/// byte-order mark, blanks, or other signs before the word, which only "matrix" may follow then.
std::optional<std::string_view> behind_banner(std::string_view line) {
    constexpr std::string_view mark = "\xef\xbb\xbf", word = "matrixmarket";
    if (line.starts_with(mark)) line.remove_prefix(mark.size());
    const auto signs = line.substr(0, std::min(line.find_first_not_of("%# \t"), line.size()));
    line.remove_prefix(signs.size());
    if (lower_case(line.substr(0, word.size())) != word) return std::nullopt;
    line.remove_prefix(word.size());
    if (signs.find('%') != std::string_view::npos) return line;
    const auto words = words_of(line);
    if (words.empty() || lower_case(words[0]) != "matrix") return std::nullopt;
    return line;
}

/// Is see(line) true for one of the lines of a text? Those behind it are not looked at. Local.
template <class See>
bool any_line(const InputFile& file, bool compressed, std::size_t block_bytes, See&& see) {
    const auto source = text_source(file, compressed);
    LineBlocks blocks(*source, block_bytes);
    for (auto block = blocks.next(); !block.empty(); block = blocks.next())
        while (!block.empty()) {
            const auto line = block.substr(0, block.find('\n'));
            block.remove_prefix(line.size() + 1);
            if (see(line)) return true;
        }
    return false;
}

/// Comments and blank lines.
bool is_skipped(std::string_view line) {
    const auto words = words_of(line);
    return words.empty() || words[0].starts_with('%');
}

/// Field and symmetry, from the first line.
void read_banner(std::string_view line, MatrixHeader& header) {
    const auto rest = behind_banner(line);
    if (!rest)
        throw InvalidArgument("a MatrixMarket file, which this one is by its name, begins with %%MatrixMarket matrix coordinate FIELD "
                              "SYMMETRY; add the line, or give the file another name (.tns)");
    const auto words = words_of(*rest);
    if (words.size() != 4)
        throw InvalidArgument(std::to_string(words.size() + 1) +
                              " words in the header; it is: %%MatrixMarket matrix coordinate FIELD SYMMETRY");
    choice<1>(words[0], {"matrix"});
    if (lower_case(words[1]) == "array")
        throw InvalidArgument("an array file has all elements of a matrix, and sparse ones are read from coordinate files; "
                              "convert it (in Python: scipy.io.mmread, scipy.sparse.coo_matrix, scipy.io.mmwrite)");
    choice<1>(words[1], {"coordinate"});
    header.field = MatrixHeader::Field(choice<4>(words[2], {"real", "integer", "pattern", "complex"}));
    header.symmetry = MatrixSymmetry(choice<4>(words[3], {"general", "symmetric", "skew-symmetric", "hermitian"}));
    if (header.symmetry == MatrixSymmetry::hermitian && header.field != MatrixHeader::Field::complex)
        throw InvalidArgument("only complex matrices are hermitian; correct the header");
    if (header.symmetry == MatrixSymmetry::skew && header.field == MatrixHeader::Field::pattern)
        throw InvalidArgument("a pattern is not skew-symmetric; correct the header");
}

/// Rows, columns and entries.
void read_sizes(std::string_view line, MatrixHeader& header) {
    const auto words = words_of(without_comment(line, '%'));
    if (words.size() != 3)
        throw InvalidArgument(std::to_string(words.size()) + " words where the numbers of rows, columns and entries are expected");
    std::array<std::int64_t, 3> sizes{};
    for (std::size_t w = 0; w < 3; ++w) {
        const char* const end = words[w].data() + words[w].size();
        const auto [behind, code] = std::from_chars(words[w].data(), end, sizes[w]);
        if (code != std::errc() || behind != end || sizes[w] < 0 || sizes[w] > max_sparse_length / 2)
            throw InvalidArgument(quoted(words[w]) + " is not a number of rows, columns or entries; correct it");
    }
    header.rows = sizes[0];
    header.columns = sizes[1];
    header.entries = sizes[2];
    if (header.symmetry != MatrixSymmetry::general && header.rows != header.columns)
        throw InvalidArgument("the matrix is " + std::to_string(header.rows) + " x " + std::to_string(header.columns) +
                              ", but one with a symmetry is square; correct the header");
}

/// Refuses what elements of the type cannot hold.
void check_type(const InputFile& file, const MatrixHeader& header, ElementType type) {
    const auto refuse = [&](const char* why) { throw InvalidArgument(file.path() + ", line 1: " + why); };
    if (header.field == MatrixHeader::Field::complex && type != ElementType::complex128)
        refuse("the values are complex; read the file as std::complex<double>");
    if (header.symmetry == MatrixSymmetry::skew && type == ElementType::boolean)
        refuse("the matrix is skew-symmetric, and bool has no negatives; read the file as double");
}

MatrixRules rules_of(const MatrixHeader& header) {
    using Triangle = MatrixRules::Triangle;
    MatrixRules rules;
    rules.triangle = header.symmetry == MatrixSymmetry::general ? Triangle::both
                     : header.symmetry == MatrixSymmetry::skew  ? Triangle::strictly_lower
                                                                : Triangle::lower;
    rules.value_words = header.field == MatrixHeader::Field::pattern ? 0 : header.field == MatrixHeader::Field::complex ? 2 : 1;
    rules.real_diagonal = header.symmetry == MatrixSymmetry::hermitian;
    return rules;
}

}  // namespace

bool is_matrix_market(const InputFile& file, bool compressed) {
    const auto name = lower_case(file.path());
    if (name.ends_with(".mtx") || name.ends_with(".mtx.gz")) return true;
    bool is_one = false;
    try {
        any_line(file, compressed, std::size_t{1} << 12, [&](std::string_view line) {
            is_one = behind_banner(line).has_value();
            return is_one || !is_skipped(line);
        });
    } catch (const InvalidArgument&) {  // what cannot be inflated, or has no lines
    }
    return is_one;
}

MatrixHeader matrix_header(const InputFile& file, bool compressed) {
    MatrixHeader header;
    bool has_banner = false;
    try {
        const bool has_sizes = any_line(file, compressed, std::size_t{1} << 16, [&](std::string_view line) {
            ++header.text.lines;
            header.text.bytes = std::min(header.text.bytes + std::ssize(line) + 1, file.size());
            const bool is_banner = !has_banner && (behind_banner(line) || !is_skipped(line));
            if (is_banner) read_banner(line, header);
            has_banner |= is_banner;
            if (is_banner || is_skipped(line)) return false;
            read_sizes(line, header);
            return true;
        });
        if (has_sizes) return header;
    } catch (const InvalidArgument& error) {
        throw InvalidArgument(file.path() + ", line " + std::to_string(std::max<std::int64_t>(1, header.text.lines)) + ": " + error.what());
    }
    if (!has_banner)
        throw InvalidArgument(file.path() + ": there is no line but comments; a MatrixMarket file begins with %%MatrixMarket matrix " +
                              "coordinate FIELD SYMMETRY");
    throw InvalidArgument(file.path() + ": the numbers of rows, columns and entries are missing behind the header; complete the file");
}

ReadNonzeros read_matrix_market(const InputFile& file, const ElementText& text, const SparseReadOptions& options, bool compressed,
                                std::int64_t room) {
    const auto& comm = file.comm();
    const auto header = from_first_rank(comm, [&] {
        const auto found = matrix_header(file, compressed);
        check_type(file, found, text.type);
        return found;
    });
    const std::vector<std::int64_t> lengths{header.rows, header.columns};
    const bool keeps_lines = options.duplicates == Duplicates::refuse;
    const ReadingShape shape{comm.size(), 2, reading_bytes(text), file.size(), true, compressed, keeps_lines, false, lengths};
    auto parsed =
        parse_text(file, text, options, {2, IndexBase::one, lengths, rules_of(header)}, header.text, shape, header.per_line(), room);
    const auto found = comm.sum(parsed.nonzeros.count());
    if (found != header.entries)
        throw InvalidArgument(file.path() + ", line " + std::to_string(header.text.lines) + ": " + std::to_string(header.entries) +
                              " entries are announced, but the file has " + std::to_string(found) +
                              "; correct the number, or complete the file");
    auto result = from_zero(file, std::move(parsed), 1, header.entries, lengths, compressed ? "gzip MatrixMarket" : "MatrixMarket");
    result.symmetry = header.symmetry;
    return result;
}

void expand(AnyNonzeros& nonzeros, MatrixSymmetry symmetry, const ElementText& text) {
    auto &rows = nonzeros.indices[0], &columns = nonzeros.indices[1];
    const auto count = std::ssize(rows), bytes = nonzeros.values.element_bytes();
    const auto factor = factor_bits(symmetry == MatrixSymmetry::skew, symmetry == MatrixSymmetry::hermitian);
    auto to = 2 * count;
    for (std::int64_t i = 0; i < count; ++i) to -= rows[i] == columns[i] ? 1 : 0;
    auto values = nonzeros.values.room_for(to);
    for (auto* column : {&rows, &columns}) column->resize(to);
    for (auto i = count; i-- > 0;) {  // from behind: an entry moves to the right or stays
        const auto row = rows[i], column = columns[i];
        const auto put = [&](std::int64_t r, std::int64_t c) {
            --to;
            rows[to] = r;
            columns[to] = c;
            auto* const place = element_at(values.data(), to, bytes);
            copy_element(place, element_at(nonzeros.values.data(), i, bytes), bytes);
            return place;
        };
        if (row != column) text.relate(factor, put(column, row));
        put(row, column);
    }
    nonzeros.values = std::move(values);
}

}  // namespace arges::io
