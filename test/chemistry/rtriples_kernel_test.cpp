#include "chemistry/equations/rtriples_kernel.hpp"

#include "base/buffer.hpp"
#include "chemistry/equations/device_triples.hpp"
#include "support/test_device.hpp"
#include "support/threads.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace arges::chemistry {
namespace {

/// Random numbers for three occupied orbitals x = i, j, k: left sides L_x(d,a,b), right sides R_xy(d,c), integrals (b x|c y), amplitudes
/// and energies.
struct Orbitals {
    std::int64_t v, summed;
    std::array<std::vector<double>, 3> left, singles;
    std::array<std::array<std::vector<double>, 3>, 3> right, integrals;
    std::vector<double> energies;
    std::array<double, 3> occupied{};

    Orbitals(std::int64_t virtuals, std::int64_t d, std::mt19937_64& random) : v(virtuals), summed(d) {
        const auto numbers = [&](std::int64_t count, double low) {
            std::vector<double> result;
            for (std::int64_t i = 0; i < count; ++i) result.push_back(std::uniform_real_distribution<double>(low, low + 1)(random));
            return result;
        };
        energies = numbers(v, 1);
        for (std::size_t x = 0; x < 3; ++x) {
            left[x] = numbers(d * v * v, -0.5);
            singles[x] = numbers(v, -0.5);
            occupied[x] = numbers(1, -3)[0];
            for (std::size_t y = 0; y < 3; ++y) right[x][y] = numbers(d * v, -0.5);
        }
        // (b x|c y) = (c y|b x)
        for (std::size_t x = 0; x < 3; ++x)
            for (std::size_t y = 0; y < x; ++y) {
                integrals[x][y] = integrals[y][x] = numbers(v * v, -0.5);
                for (std::int64_t b = 0; b < v; ++b)
                    for (std::int64_t c = 0; c < v; ++c) integrals[y][x][at(c, b)] = integrals[x][y][at(b, c)];
            }
    }
    std::size_t at(std::int64_t b, std::int64_t c) const { return static_cast<std::size_t>(b + v * c); }

    using Three = std::array<std::int64_t, 3>;
    static constexpr std::size_t orders[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}, {0, 2, 1}, {1, 0, 2}};

    /// w(abcijk): over all orders of the pairs (ai), (bj), (ck).
    double w(const Three& abc) const {
        double sum = 0;
        for (const auto& [x, y, z] : orders)
            for (std::int64_t d = 0; d < summed; ++d)
                sum += left[x][static_cast<std::size_t>(d + summed * (abc[x] + v * abc[y]))] *
                       right[y][z][static_cast<std::size_t>(d + summed * abc[z])];
        return sum;
    }
    /// z(abcijk): over the distinct ones, t_i^a (bj|ck).
    double z(const Three& abc) const {
        double sum = 0;
        for (const auto& [x, y, z] : {std::array<std::size_t, 3>{0, 1, 2}, {1, 0, 2}, {2, 0, 1}})
            sum += singles[x][static_cast<std::size_t>(abc[x])] * integrals[y][z][at(abc[y], abc[z])];
        return sum;
    }
    /// The formula of rtriples.cpp, over all a, b, c with one in each of three ranges, in any order; without its 1/3.
    double energy(const std::vector<std::int64_t>& range_of, const std::array<std::int64_t, 3>& ranges) const {
        std::vector<double> connected(static_cast<std::size_t>(v * v * v));
        const auto place = [&](const Three& x) { return static_cast<std::size_t>(x[0] + v * (x[1] + v * x[2])); };
        Three abc;
        const auto for_each = [&](auto&& f) {
            for (abc[2] = 0; abc[2] < v; ++abc[2])
                for (abc[1] = 0; abc[1] < v; ++abc[1])
                    for (abc[0] = 0; abc[0] < v; ++abc[0]) {
                        std::array<std::int64_t, 3> found;
                        for (std::size_t p = 0; p < 3; ++p) found[p] = range_of[static_cast<std::size_t>(abc[p])];
                        std::sort(found.begin(), found.end(), std::greater<>());
                        if (found == ranges) f();
                    }
        };
        for_each([&] { connected[place(abc)] = w(abc); });
        double sum = 0;
        for_each([&] {
            const auto& [a, b, c] = abc;
            double D = occupied[0] + occupied[1] + occupied[2];
            for (const auto p : abc) D -= energies[static_cast<std::size_t>(p)];
            const auto y = [&](const Three& x) { return (connected[place(x)] + z(x)) / D; };
            sum += connected[place(abc)] *
                   (4 * y({a, b, c}) + y({b, c, a}) + y({c, a, b}) - 2 * y({c, b, a}) - 2 * y({a, c, b}) - 2 * y({b, a, c}));
        });
        return sum;
    }
};

/// The energy on a device, to which parts are copied.
double energy_on_device(const Orbitals& x, TripleBlock block, const std::vector<std::vector<double>>& parts) {
    const auto& kernels = test::device_kernels<double>();
    std::vector<Buffer<double>> there;
    const auto bring = [&](const double*& part) {
        const auto known = std::find_if(parts.begin(), parts.end(), [&](const auto& p) { return part != nullptr && p.data() == part; });
        if (known == parts.end()) return;
        there.emplace_back(std::ssize(*known), kernels.space);
        copy_array(there.back().data(), known->data(), there.back().bytes(), kernels.space);
        part = there.back().data();
    };
    for (auto& of_orbital : block.left)
        for (auto& of_range : of_orbital)
            for (auto& part : of_range) bring(part);
    for (auto& of_orbital : block.right)
        for (auto& part : of_orbital) bring(part);
    std::vector<double> singles;
    for (const auto& own : x.singles) singles.insert(singles.end(), own.begin(), own.end());
    DeviceTriples triples(kernels, x.energies, singles, DeviceTriples::elements_of(block));
    return triples.energy(block, {0, 1, 2});
}

/// All choices of ranges for virtual orbitals cut at some places.
void check_ranges(const Orbitals& x, const std::vector<std::int64_t>& cuts) {
    std::vector<std::int64_t> range_of(static_cast<std::size_t>(x.v));
    const auto ranges = static_cast<std::int64_t>(cuts.size()) - 1;
    for (std::int64_t r = 0; r < ranges; ++r)
        std::fill(range_of.begin() + cuts[static_cast<std::size_t>(r)], range_of.begin() + cuts[static_cast<std::size_t>(r) + 1], r);
    const std::int64_t rows = x.summed + x.v;
    for (std::int64_t A = 0; A < ranges; ++A)
        for (std::int64_t B = 0; B <= A; ++B)
            for (std::int64_t C = 0; C <= B; ++C) {
                const std::array<std::int64_t, 3> chosen{A, B, C};
                TripleBlock block;
                block.virtuals = x.v;
                block.summed = x.summed;
                block.occupied = x.occupied;
                block.energies = x.energies.data();
                for (std::size_t p = 0; p < 3; ++p) {
                    const auto r = static_cast<std::size_t>(chosen[p]);
                    block.begin[p] = cuts[r];
                    block.length[p] = cuts[r + 1] - cuts[r];
                    block.singles[p] = x.singles[p].data();
                }
                std::vector<std::vector<double>> parts;
                parts.reserve(36);
                for (std::size_t o = 0; o < 3; ++o)
                    for (std::size_t p = 0; p < 3; ++p)
                        for (std::size_t q = 0; q < 3; ++q) {
                            auto& part = parts.emplace_back();
                            for (std::int64_t b = 0; b < block.length[q]; ++b)
                                for (std::int64_t a = 0; a < block.length[p]; ++a) {
                                    const auto first = x.left[o].begin() + x.summed * (block.begin[p] + a + x.v * (block.begin[q] + b));
                                    part.insert(part.end(), first, first + x.summed);
                                }
                            block.left[o][p][q] = part.data();
                        }
                for (std::size_t o = 0; o < 3; ++o)
                    for (std::size_t p = 0; p < 3; ++p) {
                        if (o == p) continue;
                        auto& part = parts.emplace_back(static_cast<std::size_t>(rows * x.v));
                        for (std::int64_t c = 0; c < x.v; ++c) {
                            std::copy_n(x.right[o][p].begin() + x.summed * c, x.summed, part.begin() + rows * c);
                            std::copy_n(x.integrals[o][p].begin() + x.v * c, x.v, part.begin() + rows * c + x.summed);
                        }
                        block.right[o][p] = part.data();
                    }
                const double expected = x.energy(range_of, chosen);
                std::vector<double> work(static_cast<std::size_t>(block.connected_elements()));
                for (const int threads : test::thread_numbers) {
                    const test::Threads number(threads);
                    EXPECT_NEAR(block.energy(work.data()), expected, 1e-11 * (1 + std::abs(expected)))
                        << "ranges " << A << B << C << " of " << ranges << ", " << x.v << " virtual orbitals, " << threads << " threads";
                }
                EXPECT_NEAR(energy_on_device(x, block, parts), expected, 1e-11 * (1 + std::abs(expected)))
                    << "ranges " << A << B << C << " of " << ranges << ", " << x.v << " virtual orbitals, on a device";
            }
}

TEST(TripleBlock, HasTheEnergyOfTheFormula) {
    std::mt19937_64 random(11);
    for (const std::int64_t v : {1, 2, 3, 5, 9, 14})
        for (const std::int64_t ranges : {1, 2, 3}) {
            if (ranges > v) continue;
            std::vector<std::int64_t> cuts{0, v};
            while (static_cast<std::int64_t>(cuts.size()) <= ranges) {
                const auto cut = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(v));
                if (std::find(cuts.begin(), cuts.end(), cut) == cuts.end())
                    cuts.insert(std::upper_bound(cuts.begin(), cuts.end(), cut), cut);
            }
            check_ranges(Orbitals(v, 1 + static_cast<std::int64_t>(random() % 6), random), cuts);
        }
}

/// More columns than a thread takes at a time.
TEST(TripleBlock, HasTheEnergyOfTheFormulaForLongRanges) {
    std::mt19937_64 random(12);
    check_ranges(Orbitals(53, 3, random), {0, 53});
    check_ranges(Orbitals(59, 2, random), {0, 51, 59});
}

}  // namespace
}  // namespace arges::chemistry
