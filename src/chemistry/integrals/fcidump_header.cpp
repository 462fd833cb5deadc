#include "chemistry/integrals/integral_file.hpp"

#include "arges/error.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>

namespace arges::chemistry {

namespace {

struct Token {
    std::string text;  ///< upper case; "=" and "/" (any end mark) stand for themselves
    std::int64_t line = 1;
};

struct Assignment {
    std::int64_t line = 1;
    std::vector<std::string> values;
};

using Namelist = std::map<std::string, Assignment>;

[[noreturn]] void fail(std::int64_t line, const std::string& message) {
    throw InvalidArgument("line " + std::to_string(line) + ": " + message);
}

std::string upper(std::string_view text) {
    std::string result(text);
    std::transform(result.begin(), result.end(), result.begin(), [](unsigned char c) { return std::toupper(c); });
    return result;
}

/// Cuts the header into tokens, one at a time.
class Scanner {
public:
    explicit Scanner(std::string_view text) : text_(text) {}

    /// The next token; nothing at the end of the text.
    std::optional<Token> next() {
        skip_separators();
        if (at_ >= text_.size()) return std::nullopt;
        const char c = text_[at_];
        if (c == '=' || c == '/') return take(1);
        if (c == '\'' || c == '"') {
            const std::size_t end = text_.find(c, at_ + 1);
            return take(end == std::string_view::npos ? text_.size() - at_ : end + 1 - at_);
        }
        Token token = take(std::min(text_.find_first_of(" \t\r\n,=/!", at_), text_.size()) - at_);
        if (token.text == "&END" || token.text == "$END") token.text = "/";
        return token;
    }

    /// Position of the line behind the current one.
    std::int64_t next_line() const { return static_cast<std::int64_t>(std::min(text_.find('\n', at_), text_.size() - 1)) + 1; }
    /// Number of the current line.
    std::int64_t line() const { return line_; }
    /// What is left of the current line.
    std::string_view rest_of_line() const { return text_.substr(at_, std::min(text_.find('\n', at_), text_.size()) - at_); }

private:
    void skip_separators() {
        for (; at_ < text_.size(); ++at_) {
            if (text_[at_] == '!') at_ = std::min(text_.find('\n', at_), text_.size() - 1);
            if (text_[at_] == '\n') ++line_;
            if (!std::isspace(static_cast<unsigned char>(text_[at_])) && text_[at_] != ',' && text_[at_] != '!') return;
        }
    }
    Token take(std::size_t length) {
        Token token{upper(text_.substr(at_, length)), line_};
        at_ += length;
        return token;
    }

    std::string_view text_;
    std::size_t at_ = 0;
    std::int64_t line_ = 1;
};

std::optional<std::int64_t> integer(std::string_view text) {
    if (text.starts_with('+')) text.remove_prefix(1);
    std::int64_t value = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

/// Adds a value; "7*1" stands for seven times 1.
void add_value(Assignment& assignment, const Token& token) {
    const std::size_t star = token.text.find('*');
    const auto count = star == std::string::npos ? std::optional<std::int64_t>() : integer(token.text.substr(0, star));
    if (!count) {
        assignment.values.push_back(token.text);
        return;
    }
    if (*count < 0 || *count > max_header_bytes) fail(token.line, "the repeat count of " + token.text + " is out of range");
    assignment.values.insert(assignment.values.end(), static_cast<std::size_t>(*count), token.text.substr(star + 1));
}

/// The name of ORBSYM(1) is ORBSYM.
std::string base_name(const std::string& name) { return name.substr(0, name.find('(')); }

/// Reads assignments up to the end mark.
Namelist scan(Scanner& scanner) {
    const auto first = scanner.next();
    if (!first || (first->text != "&FCI" && first->text != "$FCI"))
        fail(first ? first->line : 1, "an FCIDUMP file begins with &FCI, this one does not; is it another kind of file?");
    Namelist namelist;
    std::optional<Token> pending;  // a word that is a name if "=" follows, else a value
    Assignment* current = nullptr;
    for (;;) {
        const auto token = scanner.next();
        if (!token) fail(first->line, "the header &FCI has no end; close it with &END or /");
        if (token->text == "=") {
            if (!pending) fail(token->line, "'=' without a name before it");
            const std::string name = base_name(pending->text);
            if (namelist.contains(name)) fail(pending->line, name + " is given twice; keep one of them");
            current = &namelist[name];
            current->line = pending->line;
            pending.reset();
            continue;
        }
        if (pending && !current) fail(pending->line, "'" + pending->text + "' is not followed by '='");
        if (pending) add_value(*current, *pending);
        if (token->text == "/") return namelist;
        pending = *token;
    }
}

/// The integer that belongs to `name`, if it is there.
std::optional<std::int64_t> integer_of(const Namelist& namelist, const std::string& name) {
    const auto entry = namelist.find(name);
    if (entry == namelist.end()) return std::nullopt;
    const auto& [line, values] = entry->second;
    const auto value = values.size() == 1 ? integer(values[0]) : std::nullopt;
    if (!value) fail(line, name + " must be one integer" + (values.empty() ? "" : ", not '" + values[0] + "'"));
    return value;
}

std::int64_t required(const Namelist& namelist, const std::string& name) {
    const auto value = integer_of(namelist, name);
    if (!value) fail(1, "the header does not give " + name + "; add " + name + "=...");
    return *value;
}

bool is_true(const Namelist& namelist, const std::string& name) {
    const auto entry = namelist.find(name);
    if (entry == namelist.end() || entry->second.values.empty()) return false;
    const std::string& value = entry->second.values[0];
    return value.starts_with(".T") || value.starts_with("T") || (integer(value) && *integer(value) != 0);
}

/// The form that IUHF and UHF stand for.
OrbitalForm orbital_form(const Namelist& namelist) {
    if (is_true(namelist, "TREL"))
        fail(namelist.at("TREL").line, "TREL says that these are relativistic spinor integrals; only real integrals over " +
                                           std::string("RHF, ROHF or UHF orbitals are implemented"));
    const bool blocks = is_true(namelist, "IUHF"), spin_orbitals = is_true(namelist, "UHF");
    if (blocks && spin_orbitals)
        fail(namelist.at("UHF").line, "IUHF=1 (blocks of spatial orbitals) and UHF=.TRUE. (spin orbitals) exclude each "
                                      "other; keep the one that the file has");
    if (blocks) return OrbitalForm::spin_blocks;
    return spin_orbitals ? OrbitalForm::spin_orbitals : OrbitalForm::restricted;
}

/// MS2, which must fit to the electrons and orbitals.
std::int64_t checked_ms2(const Namelist& namelist, const FcidumpHeader& header) {
    const std::int64_t ms2 = integer_of(namelist, "MS2").value_or(0);
    const std::int64_t line = namelist.at(namelist.contains("MS2") ? "MS2" : "NELEC").line;
    const std::string both = "NELEC=" + std::to_string(header.electrons) + " and MS2=" + std::to_string(ms2);
    const std::int64_t unpaired = std::abs(ms2);
    if ((header.electrons - unpaired) % 2 != 0)
        fail(line, both + " contradict each other: MS2 is the number of unpaired electrons, odd " +
                       "where NELEC is odd; for a doublet write MS2=1");
    const std::int64_t more = (header.electrons + unpaired) / 2;
    if (unpaired > header.electrons || more > header.orbitals)
        fail(line, both + " need " + std::to_string(more) + " electrons of one spin and " + std::to_string(header.electrons - more) +
                       " of the other, but there are " + std::to_string(header.orbitals) + " orbitals; correct MS2 or NELEC");
    return ms2;
}

std::vector<int> orbital_symmetries(const Namelist& namelist, std::int64_t orbitals) {
    const auto entry = namelist.find("ORBSYM");
    if (entry == namelist.end()) return {};
    const auto& [line, values] = entry->second;
    if (std::ssize(values) != orbitals)
        fail(line, "ORBSYM has " + std::to_string(values.size()) + " entries for NORB=" + std::to_string(orbitals) +
                       "; give one for each orbital, or leave ORBSYM out");
    std::vector<int> symmetries;
    for (const auto& text : values) {
        const auto value = integer(text);
        if (!value) fail(line, "ORBSYM must be integers, not '" + text + "'");
        symmetries.push_back(*value);
    }
    return symmetries;
}

/// Numbers of orbitals by irreducible representation, from 1 on: OCC or CLOSED.
std::vector<std::int64_t> counts_of(const Namelist& namelist, const std::string& name) {
    std::vector<std::int64_t> counts;
    const auto& [line, values] = namelist.at(name);
    for (const auto& text : values) {
        const auto value = integer(text);
        if (!value || *value < 0) fail(line, name + " must be numbers of orbitals, not '" + text + "'");
        counts.push_back(*value);
    }
    counts.resize(std::max<std::size_t>(8, counts.size()));
    return counts;
}

/// Orbitals of the file, counted from 1, in the order doubly occupied, singly occupied, empty, by OCC and CLOSED, which Molpro writes and
/// which count the orbitals of each irreducible representation; nothing where that is the order of the file.
std::vector<std::int64_t> occupied_first(const Namelist& namelist, const FcidumpHeader& header, const std::vector<int>& symmetries) {
    if (!namelist.contains("OCC")) return {};
    const std::int64_t line = namelist.at("OCC").line;
    const auto occupied = counts_of(namelist, "OCC"), closed = namelist.contains("CLOSED") ? counts_of(namelist, "CLOSED") : occupied;
    std::array<std::vector<std::int64_t>, 3> classes;
    std::vector<std::int64_t> seen(occupied.size());
    for (std::int64_t p = 0; p < header.orbitals; ++p) {
        const std::int64_t symmetry = symmetries.empty() ? 1 : symmetries[p];
        if (symmetry < 1 || symmetry > std::ssize(seen))
            fail(line, "OCC counts orbitals by irreducible representation, but ORBSYM has " + std::to_string(symmetry) + "; correct one");
        const auto irrep = static_cast<std::size_t>(symmetry) - 1;
        const std::int64_t before = seen[irrep]++;
        const bool is_closed = irrep < closed.size() && before < closed[irrep];
        classes[is_closed ? 0 : before < occupied[irrep] ? 1 : 2].push_back(static_cast<std::int64_t>(p) + 1);
    }
    const auto doubly = std::ssize(classes[0]), singly = std::ssize(classes[1]);
    if (2 * doubly + singly != header.electrons || singly != std::abs(header.ms2))
        fail(line, "OCC and CLOSED give " + std::to_string(doubly) + " doubly and " + std::to_string(singly) +
                       " singly occupied orbitals, which do not make one determinant of NELEC=" + std::to_string(header.electrons) +
                       " and MS2=" + std::to_string(header.ms2) + "; remove them if the first orbitals are the occupied ones");
    std::vector<std::int64_t> order;
    for (const auto& orbitals : classes) order.insert(order.end(), orbitals.begin(), orbitals.end());
    if (std::is_sorted(order.begin(), order.end())) return {};
    if (header.form != OrbitalForm::restricted)
        fail(line, "OCC and CLOSED say that the occupied orbitals are not the first ones, which is read for restricted orbitals only; " +
                       std::string("write the occupied orbitals first"));
    return order;
}

/// Text behind the end mark is no part of a namelist, but an integral there would be lost.
void refuse_integral_behind(const Scanner& scanner) {
    const std::string_view rest = scanner.rest_of_line();
    const std::size_t first = rest.find_first_not_of(" \t\r,");
    if (first == std::string_view::npos || rest.substr(first, 2).find_first_of("0123456789") == std::string_view::npos) return;
    fail(scanner.line(),
         "behind the end of the header (&END or /) stands '" + std::string(rest) + "'; the integrals begin on the next line");
}

}  // namespace

FcidumpHeader parse_fcidump_header(std::string_view text) {
    Scanner scanner(text);
    const Namelist namelist = scan(scanner);
    refuse_integral_behind(scanner);
    FcidumpHeader header;
    header.form = orbital_form(namelist);
    const std::int64_t indices = required(namelist, "NORB");
    header.electrons = required(namelist, "NELEC");
    if (indices < 1 || indices > 32767) fail(namelist.at("NORB").line, "NORB=" + std::to_string(indices) + " must be between 1 and 32767");
    const std::int64_t step = header.form == OrbitalForm::spin_orbitals ? 2 : 1;
    if (indices % step != 0)
        fail(namelist.at("NORB").line,
             "NORB=" + std::to_string(indices) + " is odd; with UHF=.TRUE. it counts spin orbitals, " + "alpha and beta in turn");
    header.orbitals = indices / step;
    if (header.electrons < 0 || header.electrons > 2 * header.orbitals)
        fail(namelist.at("NELEC").line, "NELEC=" + std::to_string(header.electrons) + " does not fit into NORB=" + std::to_string(indices) +
                                            " orbitals (0 to " + std::to_string(2 * header.orbitals) + ")");
    header.ms2 = checked_ms2(namelist, header);
    std::vector<int> symmetries = orbital_symmetries(namelist, indices);
    for (std::size_t p = 0, q = 0; q < symmetries.size(); ++p, q += static_cast<std::size_t>(step)) symmetries[p] = symmetries[q];
    if (!symmetries.empty()) symmetries.resize(header.orbitals);
    header.file_orbitals = occupied_first(namelist, header, symmetries);
    header.orbital_symmetries = symmetries;
    for (std::size_t p = 0; p < header.file_orbitals.size() && !symmetries.empty(); ++p)
        header.orbital_symmetries[p] = symmetries[header.file_orbitals[p] - 1];
    header.state_symmetry = integer_of(namelist, "ISYM").value_or(1);
    header.data_begin = scanner.next_line();
    return header;
}

}  // namespace arges::chemistry
