/// Random numbers and counted work for hypergraph partitioning.
#pragma once

#include "base/splitmix.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace arges::partition {

/// The same numbers with every library.
class RandomNumbers {
public:
    explicit RandomNumbers(std::uint64_t seed) : state_(seed) {}

    std::uint64_t next() {
        const auto number = splitmix(state_);
        state_ += splitmix_step;
        return number;
    }
    /// Below n, which is below 2^32.
    std::uint32_t below(std::uint64_t n) { return (next() >> 32) * n >> 32; }

    /// 0, 1, ..., n - 1 in random order.
    std::vector<std::uint32_t> permutation(std::int64_t n) {
        std::vector<std::uint32_t> result(n);
        std::iota(result.begin(), result.end(), 0u);
        for (auto i = result.size(); i > 1; --i) std::swap(result[i - 1], result[below(i)]);
        return result;
    }

private:
    std::uint64_t state_;
};

/// Work in pins looked at. When it is used up, methods take their cheapest way, so that partitioning ends, and with the same
/// result however fast the machine is.
class WorkBudget {
public:
    explicit WorkBudget(std::int64_t pins) : left_(pins) {}
    void spend(std::int64_t pins) { left_ -= pins; }
    bool used_up() const { return left_ <= 0; }
    std::int64_t left() const { return std::max<std::int64_t>(left_, 0); }

private:
    std::int64_t left_;
};

}  // namespace arges::partition
