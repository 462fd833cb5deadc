// The seal of a checkpoint: a CRC-32 (RFC 1952) of everything but the elements, which has to agree before HDF5 reads the file.
#include "io/checkpoint/checkpoint_contents.hpp"

#include "arges/error.hpp"
#include "io/file/checksum.hpp"

#include <algorithm>

namespace arges::io {

namespace {

constexpr std::int64_t mark = 0x4C4145534547'5241;  // "ARGESEAL" in memory
constexpr std::int64_t number_bytes = sizeof(std::int64_t);

/// CRC-32 of the bytes outside of the ranges, which are in order. Ranges beyond the end, or out of order, count as empty.
std::int64_t checksum_outside(const InputFile& file, const std::vector<ElementRange>& elements, std::int64_t end) {
    RunningChecksum sum;
    std::int64_t at = 0;
    for (const auto& range : elements) {
        sum.add(file, at, std::min(range.begin, end));
        at = std::max({at, std::min(range.begin, end), range.begin + range.bytes});
    }
    sum.add(file, at, end);
    return sum.value();
}

std::int64_t checksum_of(const std::vector<std::int64_t>& numbers) {
    return io::checksum_of({reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(std::int64_t)});
}

/// The last `count` numbers of a file of at least that length.
std::vector<std::int64_t> last_numbers(const InputFile& file, std::int64_t count) {
    std::vector<std::int64_t> numbers(count);
    file.read_exactly(file.size() - count * number_bytes, numbers.data(), numbers.size() * sizeof(std::int64_t));
    return numbers;
}

}  // namespace

std::vector<std::int64_t> checkpoint_seal(const InputFile& file, std::vector<ElementRange> elements) {
    std::sort(elements.begin(), elements.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
    std::vector<std::int64_t> numbers;
    for (const auto& range : elements) numbers.insert(numbers.end(), {range.begin, range.bytes});
    numbers.insert(numbers.end(), {checksum_outside(file, elements, file.size()), file.size()});
    const auto count = std::ssize(numbers);
    numbers.insert(numbers.end(), {checksum_of(numbers), count, mark});
    return numbers;
}

bool has_seal(const InputFile& file) { return file.size() >= number_bytes && last_numbers(file, 1).back() == mark; }

void verify_seal(const InputFile& file) {
    if (!has_seal(file))
        throw InvalidArgument(file.path() + ": this is no complete checkpoint: another file, or truncated, or changed by another "
                                            "program; name a checkpoint, use an older one, or read datasets with read_tensor()");
    const auto fail = [&] {
        throw InvalidArgument(file.path() + ": the checkpoint differs from its checksum, so the file is damaged; use an older "
                                            "checkpoint, or copy the file again");
    };
    const auto most = file.size() / number_bytes;
    const auto end = most < 5 ? std::vector<std::int64_t>{} : last_numbers(file, 3);
    if (end.empty() || end[1] < 2 || end[1] % 2 != 0 || end[1] > most - 3) fail();
    auto numbers = last_numbers(file, end[1] + 3);
    numbers.resize(end[1]);
    const auto sealed = file.size() - (end[1] + 3) * number_bytes;
    if (checksum_of(numbers) != end[0] || numbers.back() != sealed) fail();
    std::vector<ElementRange> elements;
    for (std::size_t i = 0; i + 2 < numbers.size(); i += 2) elements.push_back({numbers[i], numbers[i + 1]});
    if (checksum_outside(file, elements, sealed) != numbers[numbers.size() - 2]) fail();
}

}  // namespace arges::io
