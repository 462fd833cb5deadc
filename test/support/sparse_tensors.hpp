/// Random sparse tensors for tests.
#pragma once

#include "comm/communicator.hpp"
#include "sparse/nonzeros.hpp"

#include <map>
#include <random>

namespace arges::test {

/// Orders 2 to 5, lengths 1 to 40, some slices empty, some crowded, at times no nonzero or one; values are small integers but zero.
inline sparse::Nonzeros<double> random_sparse(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    auto below = [&](std::int64_t n) { return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n)); };
    sparse::Nonzeros<double> result;
    const auto order = 2 + below(4);
    for (int m = 0; m < order; ++m) result.lengths.push_back(1 + below(below(2) == 0 ? 40 : 7));
    const auto wanted = seed % 10 == 0 ? below(2) : 1 + below(300);
    std::map<std::vector<std::int64_t>, double> values;
    for (std::int64_t x = 0; x < wanted; ++x) {
        std::vector<std::int64_t> index;
        for (auto length : result.lengths) index.push_back(below(3) == 0 ? below(1 + length / 4) : below(length));
        values[index] = static_cast<double>(below(2) == 0 ? 1 + below(4) : -1 - below(4));
    }
    result.indices.resize(static_cast<std::size_t>(order));
    for (const auto& [index, value] : values) {
        for (std::size_t m = 0; m < index.size(); ++m) result.indices[m].push_back(index[m]);
        result.values.push_back(value);
    }
    return result;
}

/// This rank's share of the nonzeros, distributed one by one.
inline sparse::Nonzeros<double> part_of(const sparse::Nonzeros<double>& whole, const Communicator& comm) {
    sparse::Nonzeros<double> result{whole.lengths, std::vector<std::vector<std::int64_t>>(whole.lengths.size()), {}};
    for (std::int64_t x = comm.rank(); x < whole.count(); x += comm.size()) {
        for (std::size_t m = 0; m < whole.lengths.size(); ++m) result.indices[m].push_back(whole.indices[m][static_cast<std::size_t>(x)]);
        result.values.push_back(whole.values[static_cast<std::size_t>(x)]);
    }
    return result;
}

}  // namespace arges::test
