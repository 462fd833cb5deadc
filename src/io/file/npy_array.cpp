#include "io/file/npy_array.hpp"

#include "arges/error.hpp"
#include "base/text.hpp"

#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>

namespace arges::io {

namespace {

constexpr char magic[] = "\x93NUMPY";
constexpr std::size_t magic_bytes = 6, short_bytes = 10, long_bytes = 12;  // of what is in front of the dictionary

[[noreturn]] void fail_damaged(const InputFile& file) {
    throw InvalidArgument(file.path() + ": the header of the .npy file is damaged; make the file again");
}

/// What follows 'key': in a dictionary, without blanks in front.
std::string_view value_of(std::string_view dictionary, std::string_view key) {
    const auto at = dictionary.find("'" + std::string(key) + "'");
    if (at == std::string_view::npos) return {};
    const auto colon = dictionary.find(':', at);
    if (colon == std::string_view::npos) return {};
    const auto begin = dictionary.find_first_not_of(' ', colon + 1);
    return begin == std::string_view::npos ? std::string_view() : dictionary.substr(begin);
}

/// The numbers of "(3, 4)", "(3,)" or "()".
std::optional<std::vector<std::int64_t>> tuple_of(std::string_view text) {
    const auto end = text.find(')');
    if (!text.starts_with('(') || end == std::string_view::npos) return std::nullopt;
    std::vector<std::int64_t> numbers;
    for (std::size_t i = 1; i < end;) {
        std::int64_t number = 0;
        const auto [stop, code] = std::from_chars(text.data() + i, text.data() + end, number);
        if (code == std::errc()) {
            if (number < 0) return std::nullopt;
            numbers.push_back(number);
            i = stop - text.data();
            if (text[i] == 'L') ++i;  // as Python 2 writes long integers
        } else if (text[i] == ' ' || text[i] == ',') {
            ++i;
        } else {
            return std::nullopt;
        }
    }
    return numbers;
}

/// '<f8', '>c16', '|u1': order of bytes, kind, bytes.
std::optional<NumberType> type_of(std::string_view text) {
    const auto end = text.find('\'', 1);
    if (!text.starts_with('\'') || end == std::string_view::npos || end < 4) return std::nullopt;
    const auto order = text[1];
    NumberType type{text[2], 0, order == '>'};
    const auto [stop, code] = std::from_chars(text.data() + 3, text.data() + end, type.bytes);
    if (code != std::errc() || stop != text.data() + end || (order != '<' && order != '>' && order != '|' && order != '='))
        return std::nullopt;
    const auto is = [&](int bytes) { return type.bytes == bytes; };
    const bool is_known = type.kind == 'f'                       ? is(4) || is(8)
                          : type.kind == 'c'                     ? is(8) || is(16)
                          : type.kind == 'i' || type.kind == 'u' ? is(1) || is(2) || is(4) || is(8)
                                                                 : false;
    if (!is_known) return std::nullopt;
    return type;
}

/// The dictionary of the header; `data` gets the place behind it.
std::string dictionary_of(const InputFile& file, std::int64_t& data) {
    unsigned char fixed[long_bytes];
    file.read_exactly(0, fixed, short_bytes);
    const bool is_long = fixed[6] >= 2;  // from version 2 on the length has four bytes
    std::size_t length = fixed[8] + 256u * fixed[9], begin = short_bytes;
    if (is_long) {
        file.read_exactly(0, fixed, long_bytes);
        length += (std::size_t{fixed[10]} << 16) + (std::size_t{fixed[11]} << 24);
        begin = long_bytes;
    }
    data = begin + length;
    if (fixed[6] < 1 || fixed[6] > 3 || data > file.size()) fail_damaged(file);
    std::string dictionary(length, ' ');
    file.read_exactly(begin, dictionary.data(), length);
    return dictionary;
}

}  // namespace

std::string npy_array_header(const NpyArray& array) {
    std::string dictionary = std::string("{'descr': '<") + array.type.kind + std::to_string(array.type.bytes) +
                             "', 'fortran_order': " + (array.is_fortran_order ? "True" : "False") + ", 'shape': (";
    dictionary += joined(array.extents) + (array.extents.size() == 1 ? ",), }" : "), }");
    const bool is_long = dictionary.size() > 65000;
    const auto fixed = is_long ? long_bytes : short_bytes;
    dictionary.append(63 - (fixed + dictionary.size()) % 64, ' ');
    dictionary += '\n';
    std::string header(magic, magic_bytes);
    header += {is_long ? '\2' : '\1', '\0'};
    for (std::size_t byte = 0; byte < fixed - 8; ++byte) header += static_cast<char>(dictionary.size() >> (8 * byte) & 255);
    return header + dictionary;
}

bool is_npy(const InputFile& file) {
    char beginning[magic_bytes];
    return file.read(0, beginning, magic_bytes) == magic_bytes && std::memcmp(beginning, magic, magic_bytes) == 0;
}

NpyArray read_npy_array_header(const InputFile& file) {
    NpyArray array;
    const auto dictionary = dictionary_of(file, array.data);
    const auto kind = value_of(dictionary, "descr"), order = value_of(dictionary, "fortran_order");
    const auto extents = tuple_of(value_of(dictionary, "shape"));
    const auto type = type_of(kind);
    array.is_fortran_order = order.starts_with("True");
    if (!extents || kind.empty() || (!array.is_fortran_order && !order.starts_with("False"))) fail_damaged(file);
    if (!type)
        throw InvalidArgument(file.path() + ": elements of type " + std::string(kind.substr(0, kind.find_first_of(",}"))) +
                              " cannot be read; save numbers, with numpy.save(name, A.astype('float64')) for example");
    array.type = *type;
    array.extents = *extents;
    const auto left = file.size() - array.data;
    std::int64_t bytes = type->bytes;
    bool is_too_many = false;
    for (auto n : array.extents) is_too_many |= __builtin_mul_overflow(bytes, n, &bytes);
    if (is_too_many || bytes != left)
        throw InvalidArgument(file.path() + ": " + std::to_string(left) + " bytes of elements do not make " + extents_text(array.extents) +
                              "; the file is truncated or damaged: copy or make it again");
    return array;
}

}  // namespace arges::io
