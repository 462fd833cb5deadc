#include "io/matrix_files_npy.hpp"

#include "arges/error.hpp"

#include <charconv>
#include <cstring>

namespace arges::io {

namespace {

constexpr char magic[] = "\x93NUMPY";
constexpr std::size_t magic_bytes = 6, fixed_bytes = 10;

/// What follows 'key': in a dictionary, without blanks in front.
std::string_view value_of(std::string_view dictionary, std::string_view key) {
    const auto at = dictionary.find("'" + std::string(key) + "'");
    if (at == std::string_view::npos) return {};
    const auto colon = dictionary.find(':', at);
    if (colon == std::string_view::npos) return {};
    const auto begin = dictionary.find_first_not_of(' ', colon + 1);
    return begin == std::string_view::npos ? std::string_view() : dictionary.substr(begin);
}

/// The numbers of "(3, 4)" or "(3,)".
std::vector<std::int64_t> tuple_of(std::string_view text) {
    std::vector<std::int64_t> numbers;
    text = text.substr(0, text.find(')'));
    for (std::size_t i = 0; i < text.size();) {
        std::int64_t number = 0;
        const auto [end, code] = std::from_chars(text.data() + i, text.data() + text.size(), number);
        if (code == std::errc()) {
            numbers.push_back(number);
            i = static_cast<std::size_t>(end - text.data());
        } else {
            ++i;
        }
    }
    return numbers;
}

}  // namespace

std::string npy_header(MatrixShape shape, std::int64_t element_bytes) {
    std::string dictionary = std::string("{'descr': '<f") + (element_bytes == 4 ? "4" : "8") + "', 'fortran_order': False, 'shape': (" +
                             std::to_string(shape.rows) + ", " + std::to_string(shape.columns) + "), }";
    dictionary.append(63 - (fixed_bytes + dictionary.size()) % 64, ' ');
    dictionary += '\n';
    std::string header(magic, magic_bytes);
    header += {'\1', '\0', static_cast<char>(dictionary.size() % 256), static_cast<char>(dictionary.size() / 256)};
    return header + dictionary;
}

bool is_npy(const InputFile& file) {
    char beginning[magic_bytes];
    return file.read(0, beginning, magic_bytes) == magic_bytes && std::memcmp(beginning, magic, magic_bytes) == 0;
}

NpyHeader read_npy_header(const InputFile& file) {
    unsigned char fixed[12];
    file.read_exactly(0, fixed, fixed_bytes);
    const bool is_long = fixed[6] >= 2;  // version 2 has four bytes for the length
    std::size_t length = fixed[8] + 256u * fixed[9], begin = fixed_bytes;
    if (is_long) {
        file.read_exactly(0, fixed, sizeof fixed);
        length += (std::size_t{fixed[10]} << 16) + (std::size_t{fixed[11]} << 24);
        begin = sizeof fixed;
    }
    if (fixed[6] < 1 || fixed[6] > 3 || static_cast<std::int64_t>(begin + length) > file.size())
        throw InvalidArgument(file.path() + ": the header of the .npy file is damaged; make the file again");
    std::string dictionary(length, ' ');
    file.read_exactly(static_cast<std::int64_t>(begin), dictionary.data(), length);
    const auto kind = value_of(dictionary, "descr"), shape = value_of(dictionary, "shape");
    const bool is_single = kind.starts_with("'<f4'");
    if ((!is_single && !kind.starts_with("'<f8'")) || !value_of(dictionary, "fortran_order").starts_with("False"))
        throw InvalidArgument(file.path() + ": the .npy file is not of float32 or float64 in C order; save it with "
                                            "numpy.save(name, numpy.ascontiguousarray(A, dtype='float64'))");
    const auto numbers = tuple_of(shape);
    if (numbers.empty() || numbers.size() > 2)
        throw InvalidArgument(file.path() + ": the .npy file has " + std::to_string(numbers.size()) +
                              " dimensions; a matrix has two, and a vector one");
    NpyHeader header{{numbers[0], numbers.size() == 2 ? numbers[1] : 1}, is_single ? 4 : 8, static_cast<std::int64_t>(begin + length)};
    const auto left = file.size() - header.data, element = header.element_bytes;
    std::int64_t bytes = 0;
    if (numbers[0] < 0 || header.shape.columns < 0 || __builtin_mul_overflow(numbers[0], header.shape.columns, &bytes) ||
        __builtin_mul_overflow(bytes, element, &bytes) || bytes != left)
        throw InvalidArgument(file.path() + ": " + std::to_string(left) + " bytes of elements do not make " +
                              std::to_string(numbers[0]) + " x " + std::to_string(header.shape.columns) +
                              "; the file is truncated or damaged: copy or make it again");
    return header;
}

}  // namespace arges::io
