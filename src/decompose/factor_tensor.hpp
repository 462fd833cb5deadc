/// Rows of factor matrices, which ranks have, as tensors.
#pragma once

#include "arges/tensor.hpp"
#include "comm/communicator.hpp"
#include "interface/world/world_state.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace arges::decompose {

/// A range of indices of each mode.
struct IndexRanges {
    std::vector<std::int64_t> begin, end;
};

/// Ranges of a tensor of these lengths; empty ones stand for all indices.
/// @throws InvalidArgument unless they are one for each mode, within the lengths
IndexRanges checked_ranges(const std::string& title, const std::vector<std::int64_t>& lengths, IndexRanges ranges);

/// The place of a mode in lists by mode. @throws InvalidArgument unless 0 <= mode < order
std::size_t checked_mode(const std::string& title, int mode, int order);

/// Rows of factors on this rank. Local.
/// @param columns by mode
/// @throws InvalidArgument unless there are rows and values for each mode, rows ascend within the lengths, and values are as many
/// @param values how many, by mode
void check_rows(const std::string& title, const std::vector<std::int64_t>& lengths, const std::vector<std::int64_t>& columns,
                const std::vector<std::vector<std::int64_t>>& rows, const std::vector<std::int64_t>& values);

/// Rows begin <= i < end of a matrix as a tensor of (end - begin) x columns; rows that nobody has are zero. Collective.
/// @param rows   numbers of the rows that this rank has
/// @param values rows.size() x columns, row after row
template <class T>
Tensor<T> factor_tensor(const World& world, std::span<const std::int64_t> rows, std::span<const T> values, std::int64_t columns,
                        std::int64_t begin, std::int64_t end) {
    Tensor<T> result(world, {end - begin, columns}, "factor");
    std::vector<std::int64_t> keys;
    std::vector<T> elements;
    world.state()->agree([&] {
        for (std::int64_t i = 0; i < std::ssize(rows); ++i) {
            if (rows[i] < begin || rows[i] >= end) continue;
            for (std::int64_t c = 0; c < columns; ++c) keys.push_back(rows[i] - begin + c * (end - begin));
            elements.insert(elements.end(), values.begin() + i * columns, values.begin() + (i + 1) * columns);
        }
    });
    result.write(keys, elements);
    return result;
}

/// The places of rows among those that all ranks have, or -1 where nobody has one. Collective.
std::vector<std::int64_t> places_of_rows(const Communicator& comm, const std::vector<std::int64_t>& rows,
                                         std::span<const std::int64_t> wanted);

/// Labels of so many dimensions, which no other label of a statement has: {"x1", "x2"} for letter x.
std::vector<std::string> numbered_labels(char letter, int count);

}  // namespace arges::decompose
