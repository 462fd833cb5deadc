#include "base/digest.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <vector>

namespace arges {

namespace {

/// Sum over a row of elements of numbers that depend on an element and its place: in any order the same.
template <std::size_t bytes>
std::uint64_t sum_of_row(const std::byte* row, std::int64_t count, std::int64_t byte_stride, std::uint64_t place,
                         std::uint64_t place_step) {
    std::uint64_t sum = 0;
    for (std::int64_t i = 0; i < count; ++i) {
        const auto* const element = row + i * byte_stride;
        std::uint64_t hash = splitmix(place + static_cast<std::uint64_t>(i) * place_step);
        for (std::size_t at = 0; at < bytes; at += sizeof hash) {
            std::uint64_t word = 0;
            std::memcpy(&word, element + at, std::min(bytes - at, sizeof word));
            hash = (hash ^ word) * 0x9e3779b97f4a7c15U;
            hash ^= hash >> 32U;
        }
        sum += hash;
    }
    return sum;
}

std::uint64_t sum_of_row(std::int64_t element_bytes, const std::byte* row, std::int64_t count, std::int64_t byte_stride,
                         std::uint64_t place, std::uint64_t place_step) {
    switch (element_bytes) {
    case 1: return sum_of_row<1>(row, count, byte_stride, place, place_step);
    case 2: return sum_of_row<2>(row, count, byte_stride, place, place_step);
    case 4: return sum_of_row<4>(row, count, byte_stride, place, place_step);
    case 8: return sum_of_row<8>(row, count, byte_stride, place, place_step);
    case 16: return sum_of_row<16>(row, count, byte_stride, place, place_step);
    default: break;
    }
    std::uint64_t sum = 0;
    for (std::int64_t i = 0; i < count; ++i)
        for (std::int64_t b = 0; b < element_bytes; ++b)
            sum += sum_of_row<1>(row + i * byte_stride + b, 1, 1,
                                 splitmix(place + static_cast<std::uint64_t>(i) * place_step) + static_cast<std::uint64_t>(b), 1);
    return sum;
}

}  // namespace

void add_to(Digest& digest, const StridedArray& array) {
    digest.add(array.extents).add(array.element_bytes);
    const auto order = array.extents.size();
    std::vector<std::uint64_t> place_step(order, 1);
    for (std::size_t d = 1; d < order; ++d) place_step[d] = place_step[d - 1] * static_cast<std::uint64_t>(array.extents[d - 1]);
    std::vector<std::size_t> dimensions(order);
    std::iota(dimensions.begin(), dimensions.end(), std::size_t{0});
    std::ranges::sort(dimensions, {}, [&](std::size_t d) { return std::abs(array.strides[d]); });  // the row has the smallest steps
    std::int64_t rows = 1;
    for (std::size_t k = 1; k < order; ++k) rows *= array.extents[dimensions[k]];
    const auto length = order == 0 ? 1 : array.extents[dimensions[0]];
    // Rows are cut, so that a vector is read by all threads, too.
    constexpr std::int64_t longest = 4096;
    const auto pieces = (length + longest - 1) / longest, tasks = rows * pieces;
    const auto stride = order == 0 ? 0 : array.strides[dimensions[0]] * array.element_bytes;
    const auto step = order == 0 ? 0 : place_step[dimensions[0]];
    std::uint64_t sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum) if (rows * length > 65536)
    for (std::int64_t task = 0; task < tasks; ++task) {
        const auto begin = task % pieces * longest;
        std::int64_t rest = task / pieces, offset = begin * stride;
        std::uint64_t place = static_cast<std::uint64_t>(begin) * step;
        for (std::size_t k = 1; k < order; ++k) {
            const auto d = dimensions[k];
            const auto index = rest % array.extents[d];
            rest /= array.extents[d];
            offset += index * array.strides[d] * array.element_bytes;
            place += static_cast<std::uint64_t>(index) * place_step[d];
        }
        sum += sum_of_row(array.element_bytes, static_cast<const std::byte*>(array.data) + offset, std::min(longest, length - begin),
                          stride, place, step);
    }
    digest.add(sum);
}

}  // namespace arges
