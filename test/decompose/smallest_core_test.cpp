// Ranks of dense Tucker decompositions for an error.
#include "decompose/tucker/smallest_core.hpp"

#include "arges/tucker.hpp"
#include "base/splitmix.hpp"
#include "support/drawn_numbers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace arges::test {
namespace {

using Lengths = std::vector<std::int64_t>;

std::int64_t product(const Lengths& numbers) {
    std::int64_t result = 1;
    for (auto n : numbers) result *= n;
    return result;
}

/// A random core of these ranks, whose elements fall by `decay` in each step along each mode, times random factors, and noise of this
/// relative norm.
Tensor<double> planted(const World& world, const Lengths& lengths, const Lengths& ranks, double decay, double noise, std::uint64_t seed) {
    Tensor<double> core(world, ranks, "core"), X(world, lengths, "X");
    core.fill([&](Index i) {
        const auto steps = std::accumulate(i.begin(), i.end(), std::int64_t{0});
        return std::pow(decay, static_cast<double>(steps)) * drawn_number(seed, static_cast<std::uint64_t>(core.key(i)));
    });
    const std::string small = std::string("abcdef").substr(0, lengths.size()), large = std::string("ijklmn").substr(0, lengths.size());
    Expression<double> all = core[small];
    for (std::size_t m = 0; m < lengths.size(); ++m) {
        Tensor<double> factor(world, {lengths[m], ranks[m]}, "factor");
        factor.fill([&](Index i) { return drawn_number(seed + 100 * (m + 1), static_cast<std::uint64_t>(factor.key(i))); });
        all = all * factor[std::string{large[m], small[m]}];
    }
    X[large] = all;
    Tensor<double> E(world, lengths, "E");
    E.fill([&](Index i) { return drawn_number(seed + 7, static_cast<std::uint64_t>(E.key(i))); });
    X[large] += (noise * X.norm() / E.norm()) * E[large];
    return X;
}

TuckerOptions with_error(double error, TuckerMethod method) {
    TuckerOptions options;
    options.relative_error = error;
    options.method = method;
    return options;
}

/// All tuples of ranks up to these lengths, called with each.
void for_all_ranks(const Lengths& lengths, const std::function<void(const Lengths&)>& call) {
    Lengths ranks(lengths.size(), 1);
    for (bool more = true; more;) {
        call(ranks);
        std::size_t m = 0;
        for (; m < ranks.size() && ++ranks[m] > lengths[m]; ++m) ranks[m] = 1;
        more = m < ranks.size();
    }
}

/// By definition: of all leading parts whose rest is small enough, one with the fewest elements.
TEST(SmallestCore, IsThatOfAllLeadingParts) {
    const World world;
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
        const auto lengths = seed % 3 == 0 ? Lengths{5, 4, 3, 4} : seed % 3 == 1 ? Lengths{7, 30, 6} : Lengths{40, 26};
        Tensor<double> core(world, lengths, "core");
        core.fill([&](Index i) {
            double scale = 1;
            for (auto k : i) scale *= std::pow(0.6 + 0.03 * static_cast<double>(seed), static_cast<double>(k));
            return scale * drawn_number(seed, static_cast<std::uint64_t>(core.key(i)));
        });
        const auto values = core.gather();
        double norm = 0;
        for (double v : values) norm += v * v;
        const double allowed = norm * std::pow(10.0, -static_cast<double>(seed % 4 + 1));
        const auto found = decompose::smallest_leading_core(core, allowed);
        const auto outside = [&](const Lengths& ranks) {
            double sum = 0;
            for (std::int64_t k = 0; k < core.size(); ++k) {
                auto rest = k;
                bool is_outside = false;
                for (std::size_t m = 0; m < lengths.size(); ++m) {
                    is_outside = is_outside || rest % lengths[m] >= ranks[m];
                    rest /= lengths[m];
                }
                if (is_outside) sum += values[static_cast<std::size_t>(k)] * values[static_cast<std::size_t>(k)];
            }
            return sum;
        };
        auto least = product(lengths);
        for_all_ranks(lengths, [&](const Lengths& ranks) {
            if (product(ranks) < least && outside(ranks) <= allowed) least = product(ranks);
        });
        EXPECT_NEAR(found.outside(), outside(found.ranks), 1e-12 * norm);
        EXPECT_LE(found.outside(), allowed);
        EXPECT_LE(static_cast<double>(product(found.ranks)), 1.0 * static_cast<double>(least)) << "seed " << seed;
        const auto part = decompose::leading_part(core, found.ranks);
        EXPECT_EQ(part.gather(), core.slice(Lengths(lengths.size(), 0), found.ranks).gather());
    }
}

struct Planted {
    Lengths lengths, ranks;
    double decay, noise, error;
};

/// One of 40 of orders 3 and 4.
Planted planted_case(std::uint64_t k) {
    const auto pick = [&](std::uint64_t what, std::int64_t least, std::int64_t most) {
        return least + static_cast<std::int64_t>(unit_interval(splitmix(splitmix(k) ^ what)) * static_cast<double>(most - least + 1));
    };
    Planted result{{}, {}, k % 5 == 0 ? 1.0 : 0.5, k % 2 == 0 ? 0.01 : 0.05, 0};
    const std::uint64_t order = k % 4 == 3 ? 4 : 3;
    for (std::uint64_t m = 0; m < order; ++m) {
        result.lengths.push_back(pick(m, order == 3 ? 6 : 4, order == 3 ? 14 : 7));
        result.ranks.push_back(pick(10 + m, order == 3 ? 2 : 1, order == 3 ? 5 : 3));
    }
    for (std::size_t m = 0; m < order; ++m)  // else it is no core of these ranks
        result.ranks[m] = std::min(result.ranks[m], product(result.ranks) / result.ranks[m]);
    result.error = result.noise * std::vector<double>{1.05, 1.5, 8}[k % 3];
    return result;
}

/// The fewest elements of a core that iteration at given ranks finds, less than a tenth below what was found, or that.
std::int64_t smallest_known(const Tensor<double>& X, double error, std::int64_t found) {
    auto best = found;
    for_all_ranks(X.extents(), [&](const Lengths& ranks) {
        const auto size = product(ranks);
        if (size >= best || std::any_of(ranks.begin(), ranks.end(), [&](auto r) { return r > size / r; })) return;
        TuckerOptions options;
        options.ranks.assign(ranks.begin(), ranks.end());
        options.method = TuckerMethod::st_hosvd;
        const double start = tucker_decompose(X, options).estimated_error;
        if (start > 1.4 * error) return;
        options.method = TuckerMethod::hooi;
        options.tolerance = 1e-7;
        if (start <= error || tucker_decompose(X, options).estimated_error <= error) best = size;
    });
    return best;
}

/// At most 1.1 times the smallest core that is known, and the same on any number of ranks.
TEST(SmallestCore, IsFoundForFortyTensors) {
    const World world, alone(MPI_COMM_SELF);
    for (std::uint64_t k = 0; k < 40; ++k) {
        if (world.size() > 1 && k % 8 != 3) continue;  // many ranks on few cores are slow
        const auto c = planted_case(k);
        const auto X = planted(world, c.lengths, c.ranks, c.decay, c.noise, k);
        for (auto method : {TuckerMethod::automatic, TuckerMethod::hosvd, TuckerMethod::hooi}) {
            const auto result = tucker_decompose(X, with_error(c.error, method));
            EXPECT_LE(relative_error(X, result.model), c.error * (1 + 1e-9));
            EXPECT_NEAR(relative_error(X, result.model), result.estimated_error, 1e-9);
            const auto found = product(result.model.ranks());
            if (world.size() > 1) {
                EXPECT_EQ(
                    result.model.ranks(),
                    tucker_decompose(planted(alone, c.lengths, c.ranks, c.decay, c.noise, k), with_error(c.error, method)).model.ranks());
                continue;
            }
            const auto known = smallest_known(X, c.error, found);
            EXPECT_LE(static_cast<double>(found), 1.1 * static_cast<double>(known))
                << "tensor " << k << " method " << static_cast<int>(method);
        }
    }
}

}  // namespace
}  // namespace arges::test
