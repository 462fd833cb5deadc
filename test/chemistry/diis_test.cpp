#include "arges/chemistry/diis.hpp"

#include <gtest/gtest.h>

namespace arges::chemistry {
namespace {

TEST(Diis, coefficients_minimise_the_combined_error) {
    const auto c = diis_coefficients({{1, 0}, {0, 4}});
    ASSERT_EQ(c.size(), 2u);
    EXPECT_NEAR(c[0], 0.8, 1e-14);
    EXPECT_NEAR(c[1], 0.2, 1e-14);
}

TEST(Diis, errors_of_very_different_size_are_no_problem) {
    const auto c = diis_coefficients({{1, 0}, {0, 1e-20}});
    ASSERT_EQ(c.size(), 2u);
    EXPECT_NEAR(c[0] + c[1], 1, 1e-14);
    EXPECT_NEAR(c[0], 1e-20, 1e-25);
}

TEST(Diis, equal_errors_are_singular_and_zero_errors_take_the_newest) {
    EXPECT_TRUE(diis_coefficients({{1, 1}, {1, 1}}).empty());
    EXPECT_EQ(diis_coefficients({{0, 0}, {0, 0}}), (std::vector<double>{0, 1}));
}

TEST(Diis, a_linear_problem_is_solved_in_as_many_steps_as_it_has_dimensions) {
    // t -> t + r(t), r = b - A t with A = diag(0.5, 1.5): alone it converges slowly, with DIIS
    // after three steps.
    const World world;
    TensorSet t({{"T1", Tensor<double>(world, {2, 1})}, {"T2", Tensor<double>(world, {2, 2, 1, 1}, "abij", "antisym(a,b) antisym(i,j)")}});
    Diis diis(4);
    double residual = 0;
    for (int step = 0; step < 4; ++step) {
        const std::vector<double> now = t["T1"].gather();
        TensorSet error = t;
        error["T1"].fill([&](Index x) { return x[0] == 0 ? 1 - 0.5 * now[0] : 1 - 1.5 * now[1]; });
        residual = error.norm();
        t.add(1, error);
        diis.extrapolate(t, error);
    }
    EXPECT_LT(residual, 1e-12);
}

}  // namespace
}  // namespace arges::chemistry
