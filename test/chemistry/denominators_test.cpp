#include "arges/chemistry/denominators.hpp"

#include "support/tensor_checks.hpp"
#include "support/test_device.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace arges::chemistry {
namespace {

/// Numbers between 1 and 2, whose sums are far from zero.
std::vector<double> random_terms(std::int64_t n, std::mt19937_64& random) {
    std::vector<double> terms;
    for (std::int64_t i = 0; i < n; ++i) terms.push_back(std::uniform_real_distribution<double>(1, 2)(random));
    return terms;
}

/// Every element of `after` is that of `before` divided by `sum(index)`. Collective.
template <class F>
void expect_divided(const std::vector<double>& before, const Tensor<double>& after, F&& sum) {
    const auto found = after.gather();
    for (std::size_t key = 0; key < before.size(); ++key) {
        const double expected = before[key] / sum(after.index(static_cast<std::int64_t>(key)));
        ASSERT_NEAR(found[key], expected, 1e-14 * std::abs(expected)) << "key " << key;
    }
}

TEST(Denominators, AreEnergiesOfOccupiedLessThoseOfVirtualOrbitals) {
    struct Case {
        std::vector<std::int64_t> extents;
        const char *names, *tree;
    };
    const std::vector<Case> cases{{{0, 3}, "ai", ""},
                                  {{5, 3}, "ai", ""},
                                  {{400, 300}, "ai", ""},  // on several threads
                                  {{5, 5, 3, 3}, "abij", ""},
                                  {{6, 6, 4, 4}, "abij", "antisym(a,b) antisym(i,j)"},
                                  {{4, 4, 3, 3}, "abij", "sym(product(a,i),product(b,j))"},
                                  {{4, 4, 4, 3, 3, 3}, "abcijk", "antisym(a,b,c) antisym(i,j,k)"}};
    const test::TestDevice device;
    for (const auto kind : {DeviceKind::none, DeviceKind::cuda}) {
        const World world(MPI_COMM_WORLD, Device(kind));
        test::with_all_mappings(world, [&] {
            std::mt19937_64 random(4);
            for (const auto& c : cases) {
                SCOPED_TRACE(std::string(c.names) + " " + c.tree);
                Tensor<double> residual(world, c.extents, c.names, c.tree);
                residual.fill_random(9);
                const auto before = residual.gather();
                const auto virtuals = random_terms(c.extents.front(), random);
                auto occupied = random_terms(c.extents.back(), random);
                for (double& energy : occupied) energy -= 4;
                divide_by_denominators(residual, occupied, virtuals);
                expect_divided(before, residual, [&](const std::vector<std::int64_t>& x) {
                    double sum = 0;
                    for (std::size_t d = 0; d < x.size(); ++d)
                        sum += 2 * d < x.size() ? -virtuals[static_cast<std::size_t>(x[d])] : occupied[static_cast<std::size_t>(x[d])];
                    return sum;
                });
            }
        });
    }
}

}  // namespace
}  // namespace arges::chemistry
