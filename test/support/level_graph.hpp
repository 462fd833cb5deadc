// The links of a machine of levels, one by one: what messages put on each of them.
#pragma once

#include "arges/machine.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>

namespace arges::test {

class LevelGraph {
public:
    /// @param interconnect  has levels
    LevelGraph(const Interconnect& interconnect, double rank_rate) : interconnect_(interconnect), rank_rate_(rank_rate) {}

    void send(std::int64_t from, std::int64_t to, double bytes) {
        const auto& lengths = interconnect_.levels.lengths();
        const auto& leaving = interconnect_.level_bytes_per_second;
        const auto& between = interconnect_.level_pair_bytes_per_second;
        std::int64_t a = from, b = to;
        for (std::size_t l = 0; l < lengths.size() && a != b; ++l) {
            const bool turns = a / lengths[l] == b / lengths[l];
            if (l == 0) pass({0, 0, from, -1}, bytes, turns ? rate(leaving, 0, 2 * rank_rate_) : rank_rate_);
            if (l == 0) pass({0, 0, -1, to}, bytes, turns ? rate(leaving, 0, 2 * rank_rate_) : rank_rate_);
            if (l > 0) pass({1, l, a, -1}, bytes, rate(leaving, l, 0));
            if (l > 0) pass({1, l, -1, b}, bytes, rate(leaving, l, 0));
            if (turns) pass({2, l, a, b}, bytes, rate(between, l, 0));
            a /= lengths[l];
            b /= lengths[l];
        }
    }
    /// Of the busiest link; what a rank sends, and what it receives, goes over one of its own.
    double seconds() const {
        double most = 0;
        for (const auto& [link, seconds] : links_) most = std::max(most, seconds);
        return most;
    }

private:
    using Link = std::tuple<int, std::size_t, std::int64_t, std::int64_t>;  // kind, level, from, to; -1: all

    static double rate(const std::vector<double>& rates, std::size_t level, double otherwise) {
        return level < rates.size() && rates[level] > 0 ? rates[level] : otherwise;
    }
    void pass(const Link& link, double bytes, double rate) {
        if (rate > 0) links_[link] += bytes / rate;
    }

    const Interconnect& interconnect_;
    double rank_rate_;
    std::map<Link, double> links_;  // seconds
};

}  // namespace arges::test
