// Grids for medium-grain distributions: SPLATT's greedy rule, all grids, and Algorithm 2 of irregularity-aware-cpd-2023 (section 4.1).
#include "partition/grid.hpp"

#include "arges/error.hpp"
#include "base/math.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <set>
#include <tuple>

namespace arges::partition {

namespace {

void check_ranks(std::int64_t ranks, int order) {
    if (ranks < 1) throw InvalidArgument("a grid of " + std::to_string(ranks) + " ranks cannot be; there must be at least one");
    if (order < 1) throw InvalidArgument("a grid for a tensor of order " + std::to_string(order) + " cannot be; it has no modes");
}

/// 12 as 3, 2, 2.
std::vector<std::int64_t> descending_primes(std::int64_t n) {
    std::vector<std::int64_t> primes;
    for (std::int64_t p = 2; p * p <= n; ++p)
        for (; n % p == 0; n /= p) primes.push_back(p);
    if (n > 1) primes.push_back(n);
    std::reverse(primes.begin(), primes.end());
    return primes;
}

void extend_grids(std::int64_t left, std::size_t mode, Grid& grid, std::vector<Grid>& grids) {
    if (mode + 1 == grid.size()) {
        grid[mode] = left;
        grids.push_back(grid);
        return;
    }
    for (std::int64_t factor = 1; factor <= left; ++factor) {
        if (left % factor != 0) continue;
        grid[mode] = factor;
        extend_grids(left / factor, mode + 1, grid, grids);
    }
}

std::size_t position_of_largest(const std::vector<double>& values) {
    return std::max_element(values.begin(), values.end()) - values.begin();
}

bool has_slices_for(const Grid& grid, const std::vector<std::int64_t>& lengths) {
    return std::equal(grid.begin(), grid.end(), lengths.begin(), [](auto g, auto length) { return g <= length; });
}

}  // namespace

std::int64_t ranks(const Grid& grid) {
    std::int64_t product = 1;
    for (auto g : grid)
        if (__builtin_mul_overflow(product, g, &product))
            throw InvalidArgument("the grid " + to_string(grid) + " has more than 2^63 - 1 ranks; give smaller numbers");
    return product;
}

std::string to_string(const Grid& grid) {
    std::string text;
    for (auto g : grid) text += (text.empty() ? "" : "x") + std::to_string(g);
    return text;
}

Grid parse_grid(const std::string& text, int order) {
    const auto refuse = [&](const std::string& what) {
        std::string example = "1";
        for (int mode = 1; mode < order; ++mode) example = (mode < 3 ? "2x" : "1x") + example;
        throw InvalidArgument("grid '" + text + "': " + what + "; write one number of ranks for each of the " + std::to_string(order) +
                              " modes, such as " + example);
    };
    Grid grid;
    const char *at = text.data(), *const end = at + text.size();
    while (true) {
        std::int64_t factor = 0;
        const auto [next, error] = std::from_chars(at, end, factor);
        if (error == std::errc::result_out_of_range) refuse("a number is too large");
        if (error != std::errc()) refuse("a number is missing at character " + std::to_string(at - text.data() + 1));
        if (factor < 1) refuse("a mode cannot have " + std::to_string(factor) + " ranks");
        grid.push_back(factor);
        if (next == end) break;
        if (*next != 'x') refuse("'" + std::string(1, *next) + "' stands where x or the end should be");
        at = next + 1;
    }
    if (static_cast<int>(grid.size()) != order)
        refuse("it has " + std::to_string(grid.size()) + " numbers, the tensor has " + std::to_string(order) + " modes");
    ranks(grid);
    return grid;
}

std::vector<Grid> all_grids(std::int64_t ranks, int order) {
    check_ranks(ranks, order);
    std::vector<Grid> grids;
    Grid grid(order, 1);
    extend_grids(ranks, 0, grid, grids);
    return grids;
}

double touched_rows(const Grid& grid, const std::vector<std::int64_t>& lengths) {
    double sum = 0, all = 1;
    for (auto g : grid) all *= static_cast<double>(g);
    for (std::size_t n = 0; n < grid.size(); ++n) sum += static_cast<double>(lengths[n]) * (all / static_cast<double>(grid[n]));
    return sum;
}

Grid greedy_grid(std::int64_t ranks, const std::vector<std::int64_t>& lengths) {
    check_ranks(ranks, lengths.size());
    const std::int64_t target = std::accumulate(lengths.begin(), lengths.end(), Wide{0}) / ranks;
    Grid grid(lengths.size(), 1);
    for (auto prime : descending_primes(ranks)) {
        std::size_t chosen = 0;
        std::int64_t largest = 0;
        for (std::size_t n = 0; n < lengths.size(); ++n) {
            const auto excess = std::max<std::int64_t>(lengths[n] / grid[n] - target, 0);
            if (excess > largest) {
                largest = excess;
                chosen = n;
            }
        }
        grid[chosen] *= prime;
    }
    return grid;
}

std::vector<Grid> candidate_grids(std::int64_t ranks, const std::vector<std::int64_t>& lengths, Shortening shortening) {
    check_ranks(ranks, lengths.size());
    const auto primes = descending_primes(ranks);
    const auto placed_freely = std::min<std::size_t>(2, primes.size());
    std::vector<double> left(lengths.begin(), lengths.end());
    const double mean = std::accumulate(left.begin(), left.end(), 0.0) / static_cast<double>(left.size());
    Grid base(lengths.size(), 1);
    for (std::size_t i = 0; i + placed_freely < primes.size(); ++i) {
        const auto n = position_of_largest(left);
        base[n] *= primes[i];
        if (shortening == Shortening::divide)
            left[n] /= static_cast<double>(primes[i]);
        else
            left[n] -= mean;
    }
    std::set<Grid> candidates{base};
    for (std::size_t i = primes.size() - placed_freely; i < primes.size(); ++i) {
        std::set<Grid> extended;
        for (const auto& grid : candidates)
            for (std::size_t n = 0; n < grid.size(); ++n) {
                auto larger = grid;
                larger[n] *= primes[i];
                extended.insert(std::move(larger));
            }
        candidates = std::move(extended);
    }
    std::vector<Grid> result;
    std::copy_if(candidates.begin(), candidates.end(), std::back_inserter(result),
                 [&](const Grid& grid) { return has_slices_for(grid, lengths); });
    if (result.empty()) result.assign(candidates.begin(), candidates.end());
    return result;
}

double imbalance(const std::vector<std::int64_t>& counts) {
    if (counts.empty()) return 0;
    const auto [least, largest] = std::minmax_element(counts.begin(), counts.end());
    return *largest == 0 ? 0 : static_cast<double>(*largest - *least) / (*largest);
}

double layer_imbalance(const Grid& grid, const LayerCounts& layer_counts) {
    double sum = 0;
    for (std::size_t n = 0; n < grid.size(); ++n)
        if (grid[n] > 1) sum += imbalance(layer_counts(n, grid[n]));
    return sum / static_cast<double>(grid.size());
}

Grid predicted_grid(std::int64_t ranks, const std::vector<std::int64_t>& lengths, const LayerCounts& layer_counts, Shortening shortening) {
    const auto candidates = candidate_grids(ranks, lengths, shortening);
    const auto score = [&](const Grid& grid) { return std::tuple(layer_imbalance(grid, layer_counts), touched_rows(grid, lengths)); };
    auto best = candidates.front();
    auto best_score = score(best);
    for (std::size_t i = 1; i < candidates.size(); ++i)
        if (const auto other = score(candidates[i]); other < best_score) {
            best = candidates[i];
            best_score = other;
        }
    return best;
}

}  // namespace arges::partition
