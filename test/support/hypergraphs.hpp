/// Hypergraphs and sparse tensors for tests.
#pragma once

#include "partition/hypergraph/hypergraph.hpp"
#include "partition/hypergraph/hypergraph_random.hpp"
#include "partition/hypergraph/partition_hypergraph.hpp"
#include "partition/value_counts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>
#include <zlib.h>

namespace arges::partition::test {

/// Nonzeros of a tensor, which a view can be taken of.
class TensorIndices {
public:
    TensorIndices(std::vector<std::int64_t> lengths, const std::vector<std::vector<std::int64_t>>& nonzeros)
        : lengths_(std::move(lengths)), indices_(lengths_.size()) {
        for (const auto& nonzero : nonzeros) add(nonzero);
    }
    void add(const std::vector<std::int64_t>& nonzero) {
        for (std::size_t m = 0; m < indices_.size(); ++m) indices_[m].push_back(nonzero[m]);
    }
    IndexView view() const {
        IndexView result{lengths_, {}};
        for (const auto& mode : indices_) result.indices.emplace_back(mode);
        return result;
    }

private:
    std::vector<std::int64_t> lengths_;
    std::vector<std::vector<std::int64_t>> indices_;
};

inline TensorIndices random_tensor(int order, std::int64_t nonzeros, RandomNumbers& random) {
    std::vector<std::int64_t> lengths;
    for (int m = 0; m < order; ++m) lengths.push_back(1 + random.below(m == 0 ? 2000 : 12));
    TensorIndices result(lengths, {});
    for (std::int64_t x = 0; x < nonzeros; ++x) {
        std::vector<std::int64_t> nonzero;
        for (auto length : lengths) nonzero.push_back(random.below(static_cast<std::uint64_t>(length)));
        result.add(nonzero);
    }
    return result;
}

/// A gzipped tensor of test/data, by its name there.
inline TensorIndices test_tensor(const std::string& name) {
    auto* file = gzopen(("test/data/" + name).c_str(), "rb");
    if (!file) throw std::runtime_error("test/data/" + name + " is not there; run tests in the project's folder");
    std::vector<std::vector<std::int64_t>> nonzeros;
    std::vector<std::int64_t> lengths;
    char line[512];
    while (gzgets(file, line, sizeof line)) {
        std::vector<std::int64_t> numbers;
        char* next = nullptr;
        for (char* at = line;; at = next) {
            const auto number = std::strtoll(at, &next, 10);
            if (next == at) break;
            numbers.push_back(number - 1);
        }
        numbers.pop_back();
        lengths.resize(numbers.size(), 0);
        for (std::size_t m = 0; m < numbers.size(); ++m) lengths[m] = std::max(lengths[m], numbers[m] + 1);
        nonzeros.push_back(std::move(numbers));
    }
    gzclose(file);
    return {lengths, nonzeros};
}

/// Random pins, some repeated, costs and weights; nets of none to eight pins.
inline Hypergraph random_hypergraph(std::int64_t vertices, std::int64_t nets, int constraints, RandomNumbers& random) {
    HypergraphData data;
    data.vertices = vertices;
    data.constraints = constraints;
    for (std::int64_t net = 0; net < nets; ++net) {
        for (auto pins = vertices > 0 ? random.below(9) : 0; pins > 0; --pins)
            data.pins.push_back(random.below(static_cast<std::uint64_t>(vertices)));
        data.net_begin.push_back(static_cast<std::int64_t>(data.pins.size()));
        data.costs.push_back(random.below(5));
    }
    for (std::int64_t i = 0; i < vertices * constraints; ++i) data.weights.push_back(random.below(7));
    return Hypergraph(std::move(data));
}

inline VertexParts random_parts(const Hypergraph& hypergraph, std::int64_t parts, RandomNumbers& random) {
    VertexParts result(static_cast<std::size_t>(hypergraph.vertices()));
    for (auto& part : result) part = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(parts)));
    return result;
}

/// Every vertex in a part; no part above its limit, or above the mean by more than the heaviest vertex where whole vertices
/// prevent that.
inline void expect_balance(const Hypergraph& h, const VertexParts& parts, std::int64_t count, double imbalance) {
    const auto weights = part_weights(h, parts, count);
    auto limits = part_limits(h, count, imbalance);
    for (std::size_t c = 0; c < limits.size(); ++c) {
        std::int64_t heaviest = 0;
        for (std::int64_t v = 0; v < h.vertices(); ++v) heaviest = std::max(heaviest, h.weight(v, static_cast<int>(c)));
        limits[c] = std::max(limits[c], h.total_weights()[c] / count + heaviest);
    }
    for (std::size_t i = 0; i < weights.size(); ++i) EXPECT_LE(weights[i], limits[i % limits.size()]) << "part " << i / limits.size();
}

}  // namespace arges::partition::test
