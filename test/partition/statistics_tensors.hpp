/// Sparse tensors that tests of distributions run over: random ones, and two real ones from test/data.
#pragma once

#include "partition/value_counts.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace arges::test {

/// The indices of a tensor, with the memory of its view.
struct TensorIndices {
    std::vector<std::int64_t> lengths;
    std::vector<std::vector<std::int64_t>> indices;

    partition::IndexView view() const {
        partition::IndexView result{lengths, {}};
        for (const auto& mode : indices) result.indices.emplace_back(mode);
        return result;
    }
    int order() const { return static_cast<int>(lengths.size()); }
    std::int64_t count() const { return static_cast<std::int64_t>(indices[0].size()); }
    std::string text() const {
        std::string s;
        for (auto n : lengths) s += (s.empty() ? "" : "x") + std::to_string(n);
        return s + " with " + std::to_string(count()) + " nonzeros";
    }
};

inline std::int64_t below(std::mt19937_64& random, std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
}

/// Orders 2 to 6, short, prime and long modes, skewed or not, empty slices, 0 and 1 nonzeros. Coordinates are distinct.
inline TensorIndices random_tensor(std::mt19937_64& random) {
    TensorIndices tensor;
    const auto order = 2 + static_cast<std::size_t>(below(random, 5));
    const std::vector<std::int64_t> lengths{1, 2, 3, 7, 13, 31, 64, 101};
    for (std::size_t n = 0; n < order; ++n) tensor.lengths.push_back(lengths[static_cast<std::size_t>(below(random, 8))]);
    const std::vector<std::int64_t> counts{0, 1, 2, 10, 100, 700};
    const auto wanted = counts[static_cast<std::size_t>(below(random, 6))];
    const bool skewed = below(random, 2) == 0;
    std::set<std::vector<std::int64_t>> tuples;
    for (std::int64_t k = 0; k < wanted; ++k) {
        std::vector<std::int64_t> tuple;
        for (auto length : tensor.lengths)
            tuple.push_back(skewed ? below(random, 1 + below(random, 1 + below(random, length))) : below(random, length));
        tuples.insert(tuple);
    }
    tensor.indices.resize(order);
    for (const auto& tuple : tuples)
        for (std::size_t n = 0; n < order; ++n) tensor.indices[n].push_back(tuple[n]);
    return tensor;
}

/// A tensor of test/data. Tests run in the root of the repository.
inline TensorIndices shipped_tensor(const std::string& name) {
    const auto path = "test/data/" + name + ".tns.gz";
    const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose);
    if (!file) throw std::runtime_error(path + " cannot be read; run the tests in the root of the repository");
    TensorIndices tensor;
    std::string line(1000, ' ');
    while (gzgets(file.get(), line.data(), static_cast<int>(line.size())) != nullptr) {
        std::vector<std::int64_t> tuple;
        char *at = line.data(), *end = nullptr;
        for (auto i = std::strtoll(at, &end, 10); *end == ' '; i = std::strtoll(at, &end, 10)) {
            tuple.push_back(i - 1);
            at = end;
        }
        tensor.indices.resize(tuple.size());
        for (std::size_t n = 0; n < tuple.size(); ++n) tensor.indices[n].push_back(tuple[n]);
    }
    for (const auto& mode : tensor.indices) tensor.lengths.push_back(*std::max_element(mode.begin(), mode.end()) + 1);
    return tensor;
}

}  // namespace arges::test
