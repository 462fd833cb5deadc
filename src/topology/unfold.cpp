// A torus unfolded into prime factors, whose foldings are the grids of a product (cyclops-2012, section
// 4.2), and grids of somewhat fewer ranks.
#include "topology/unfold.hpp"

#include "arges/error.hpp"
#include "base/math.hpp"

#include <algorithm>
#include <cctype>
#include <limits>
#include <numeric>
#include <string>

namespace arges {

namespace {

/// MPI numbers ranks by int.
constexpr std::int64_t max_ranks = std::numeric_limits<std::int32_t>::max();

}  // namespace

Torus::Torus(std::vector<std::int64_t> lengths) : lengths_(std::move(lengths)) {
    std::int64_t ranks = 1;
    for (auto l : lengths_) {
        if (l < 1) throw InvalidArgument("torus: length " + std::to_string(l) + "; every length must be at least 1, e.g. 4x4x2");
        if (l > max_ranks / ranks)
            throw InvalidArgument("torus " + to_string() + ": more than " + std::to_string(max_ranks) +
                                  " ranks, which is the most that MPI can number; use fewer");
        ranks *= l;
    }
}

Torus Torus::parse(std::string_view text) {
    std::vector<std::int64_t> lengths;
    auto fail = [&] { throw InvalidArgument("torus \"" + std::string(text) + "\" is not valid; write e.g. 4x4x2"); };
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto start = i;
        while (i < text.size() && std::isdigit(static_cast<unsigned char>(text[i])) != 0) ++i;
        if (i == start || i - start > 9 || (i < text.size() && (text[i] != 'x' || i + 1 == text.size()))) fail();
        lengths.push_back(std::stoll(std::string(text.substr(start, i - start))));
    }
    if (lengths.empty()) fail();
    return Torus(std::move(lengths));
}

std::int64_t Torus::ranks() const {
    std::int64_t product = 1;
    for (auto l : lengths_) product *= l;
    return product;
}

std::string Torus::to_string() const {
    std::string text;
    for (auto l : lengths_) text += (text.empty() ? "" : "x") + std::to_string(l);
    return text.empty() ? "1" : text;
}

std::vector<std::int64_t> prime_factors(std::int64_t n) {
    std::vector<std::int64_t> result;
    for (std::int64_t p = 2; p <= n / p; ++p)
        for (; n % p == 0; n /= p) result.push_back(p);
    if (n > 1) result.push_back(n);
    return result;
}

RankGrid unfold(const Torus& torus) {
    RankGrid grid;
    for (auto length : torus.lengths())
        for (auto p : prime_factors(length)) grid.lengths.push_back(p);
    return grid;
}

std::vector<RankGrid> grids_for_products(const Torus& torus) {
    constexpr std::size_t max_smaller = 3;
    constexpr std::int64_t max_tried = 128;
    const auto ranks = torus.ranks();
    struct Candidate {
        std::int64_t sum_of_factors, ranks;
    };
    std::vector<Candidate> smaller;
    const auto fewest = std::max({std::int64_t{2}, std::min(ranks - 1, ceil_div(9 * ranks, 10)), ranks - max_tried});
    for (auto fewer = ranks - 1; fewer >= fewest; --fewer) {
        const auto factors = prime_factors(fewer);
        smaller.push_back({std::accumulate(factors.begin(), factors.end(), std::int64_t{0}), fewer});
    }
    std::stable_sort(smaller.begin(), smaller.end(), [](const auto& a, const auto& b) { return a.sum_of_factors < b.sum_of_factors; });
    if (smaller.size() > max_smaller) smaller.resize(max_smaller);
    std::vector<RankGrid> result{unfold(torus)};
    for (const auto& candidate : smaller) result.push_back({prime_factors(candidate.ranks)});
    return result;
}

Torus detected_torus(std::int64_t ranks, std::int64_t ranks_per_node) {
    if (ranks_per_node <= 1 || ranks_per_node >= ranks || ranks % ranks_per_node != 0) return Torus({ranks});
    return Torus({ranks_per_node, ranks / ranks_per_node});
}

}  // namespace arges
