#include "chemistry/integrals/fcidump_entry.hpp"

#include "base/read_number.hpp"
#include "io/file/text_number.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

namespace arges::chemistry {

namespace {

bool is_separator(char c) { return c == ' ' || c == '\t' || c == ','; }

const char* behind_separators(const char* at, const char* end) {
    while (at != end && is_separator(*at)) ++at;
    return at;
}

bool has_meaning(const std::array<std::int64_t, 4>& x) {
    const bool i = x[0] > 0, j = x[1] > 0, k = x[2] > 0, l = x[3] > 0;
    return (i && j && k && l) || (!k && !l && (i || !j));
}

/// Reads a line as most are written; false for what must be looked at with care.
bool read_usual_line(std::string_view line, std::int64_t orbitals, ParsedLine& parsed) {
    const char* const end = line.data() + line.size();
    const char* at = behind_separators(line.data(), end);
    const auto number = std::from_chars(at, end, parsed.entry.value);
    if (number.ec != std::errc() || !std::isfinite(parsed.entry.value)) return false;
    at = number.ptr;
    for (std::int64_t& index : parsed.indices) {
        const char* const first = behind_separators(at, end);
        if (first == at) return false;
        const auto integer = std::from_chars(first, end, index);
        if (integer.ec != std::errc() || index < 0 || index > orbitals) return false;
        at = integer.ptr;
    }
    if (behind_separators(at, end) != end || !has_meaning(parsed.indices)) return false;
    parsed.entry.code = entry_code(parsed.indices);
    return true;
}

/// A Fortran number in the form that from_chars reads: D becomes E, and 1.5-101 becomes 1.5E-101.
std::string normalized(std::string_view field) {
    std::string text;
    for (char c : field) {
        if (c == 'D' || c == 'd' || c == 'E' || c == 'e') c = 'E';
        const bool sign = c == '+' || c == '-';
        if (sign && !text.empty() && text.back() != 'E') text += 'E';
        if (c == '+' && text.empty()) continue;
        if (c == '+' && text.back() == 'E') continue;
        text += c;
    }
    return text;
}

/// Empty if the field is a finite number, which goes to `value`; else what is wrong.
std::string read_value(std::string_view field, double& value) {
    const std::string quoted = "'" + std::string(field.substr(0, 40)) + "'";
    if (field.starts_with('(')) return quoted + " looks like a complex integral; only real integrals are implemented";
    const std::string text = normalized(field);
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (code == std::errc::result_out_of_range) return quoted + " is beyond the range of double precision";
    std::string lower(field);
    std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
    const bool named = lower.find("nan") != std::string::npos || lower.find("inf") != std::string::npos;
    if (named || (code == std::errc() && !std::isfinite(value)))
        return "the value is " + quoted + "; the program that wrote the file failed, write it again";
    if (code != std::errc() || end != text.data() + text.size()) return quoted + " is not a number";
    return "";
}

std::string read_index(std::string_view field, std::int64_t orbitals, std::int64_t& index) {
    const bool is_number = read_number(field, index);
    const std::string quoted = "index '" + std::string(field.substr(0, 40)) + "'";
    if (!is_number) return quoted + " is not an integer";
    if (index < 0 || index > orbitals)
        return quoted + " is out of range; NORB=" + std::to_string(orbitals) + " allows 0 to " + std::to_string(orbitals);
    return "";
}

}  // namespace

std::uint64_t entry_code(std::array<std::int64_t, 4> x) {
    if (x[0] < x[1]) std::swap(x[0], x[1]);
    if (x[2] < x[3]) std::swap(x[2], x[3]);
    if (std::pair(x[0], x[1]) < std::pair(x[2], x[3])) {
        std::swap(x[0], x[2]);
        std::swap(x[1], x[3]);
    }
    std::uint64_t code = 0;
    for (std::int64_t index : x) code = code << 16 | static_cast<std::uint64_t>(index);
    return code;
}

std::array<std::int64_t, 4> entry_indices(std::uint64_t code) {
    std::array<std::int64_t, 4> indices{};
    for (int d = 3; d >= 0; --d, code >>= 16) indices[d] = code & 0xffff;
    return indices;
}

EntryKind entry_kind(std::uint64_t code) {
    const auto x = entry_indices(code);
    if (x[2] > 0) return EntryKind::two_electron;
    if (x[1] > 0) return EntryKind::one_electron;
    return x[0] > 0 ? EntryKind::orbital_energy : EntryKind::core_energy;
}

std::string entry_name(std::uint64_t code, std::string (*orbital)(std::int64_t index)) {
    const auto x = entry_indices(code);
    const auto text = [&](std::size_t d) { return orbital(x[d]); };
    switch (entry_kind(code)) {
    case EntryKind::two_electron: return "(" + text(0) + " " + text(1) + "|" + text(2) + " " + text(3) + ")";
    case EntryKind::one_electron: return "h(" + text(0) + " " + text(1) + ")";
    case EntryKind::orbital_energy: return "the energy of orbital " + text(0);
    default: return "the core energy";
    }
}

ParsedLine parse_fcidump_line(std::string_view line, std::int64_t orbitals) {
    ParsedLine parsed;
    if (read_usual_line(line, orbitals, parsed)) return parsed;
    parsed = {};
    const auto fields = io::words_of(line, is_separator);
    if (fields.empty()) {
        parsed.blank = true;
        return parsed;
    }
    parsed.problem = read_value(fields[0], parsed.entry.value);
    if (!parsed.problem.empty()) return parsed;
    if (double imaginary = 0;
        fields.size() == 6 && fields[1].find_first_of(".eEdD") != std::string_view::npos && read_value(fields[1], imaginary).empty()) {
        parsed.problem = "two numbers before four indices look like a complex integral; only real integrals are implemented: write one "
                         "number where the second is zero";
        return parsed;
    }
    if (fields.size() != 5) {
        parsed.problem =
            "expected a value and four indices, found " + std::to_string(fields.size()) + (fields.size() == 1 ? " field" : " fields");
        return parsed;
    }
    for (std::size_t d = 0; d < 4; ++d) {
        parsed.problem = read_index(fields[d + 1], orbitals, parsed.indices[d]);
        if (!parsed.problem.empty()) return parsed;
    }
    if (!has_meaning(parsed.indices))
        parsed.problem = "these zero indices have no meaning; i j k l is an integral (ij|kl), i j 0 0 a "
                         "one-electron " +
                         std::string("integral, i 0 0 0 an orbital energy, 0 0 0 0 the core energy");
    else
        parsed.entry.code = entry_code(parsed.indices);
    return parsed;
}

bool same_integral(double a, double b) { return std::abs(a - b) <= integral_round_off * std::max({1.0, std::abs(a), std::abs(b)}); }

}  // namespace arges::chemistry
