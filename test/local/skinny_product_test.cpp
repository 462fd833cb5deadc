#include "local/contract.hpp"

#include "local/contract_plan.hpp"
#include "local/fold.hpp"
#include "local/random_contraction.hpp"
#include "support/reference_kernels.hpp"

#include <gtest/gtest.h>

#include <omp.h>

#include <complex>

namespace arges::local {
namespace {

using test::Case;
using test::Random;
using test::random_factor;

template <class T>
class SkinnyProduct : public testing::Test {};
using ElementTypes = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(SkinnyProduct, ElementTypes);

/// Axes whose sizes multiply to about `entries`.
std::vector<FoldAxis> random_axes(std::int64_t entries, std::int64_t most, Random& random) {
    std::vector<FoldAxis> axes;
    for (std::int64_t left = random.integer(0, most); left > 0 && entries > 1; --left) {
        const std::int64_t size = left == 1 ? entries : random.integer(1, entries);
        axes.push_back({size, 0, 0, 0});
        entries /= size;
    }
    return axes;
}

Case random_case(Random& random) {
    Case c;
    c.f.m = random_axes(random.integer(1, 700), 3, random);
    c.f.n = random_axes(random.integer(1, 40), 2, random);
    c.f.k = random_axes(random.integer(1, 90), 2, random);
    c.f.batch = random_axes(random.integer(1, 6), random.integer(0, 3) / 2, random);
    if (random.coin()) std::swap(c.f.m, c.f.n);
    set_strides(c, random);
    return c;
}

/// All numbers are small integers, so the results must agree exactly. Real products are computed by
/// the kernel for skinny ones, whatever would be chosen.
template <class T>
void expect_like_reference(const Case& c, Random& random) {
    const std::vector<T> a = random.elements<T>(c.extent_a), b = random.elements<T>(c.extent_b);
    std::vector<T> expected = random.elements<T>(c.extent_c), actual = expected, chosen = expected;
    const T alpha = random_factor<T>(random), beta = random_factor<T>(random);
    reference_contract<T>(c.f, alpha, a.data(), b.data(), beta, expected.data());
    contract<T>(c.f, alpha, a.data(), b.data(), beta, chosen.data());
    EXPECT_EQ(chosen, expected) << "alpha " << alpha << " beta " << beta;
    if constexpr (!is_complex<T>) {
        contract_skinny<T>(plan_skinny(simplify(c.f), 2), {alpha, a.data(), b.data(), beta, actual.data()});
        EXPECT_EQ(actual, expected) << "alpha " << alpha << " beta " << beta;
    }
}

TYPED_TEST(SkinnyProduct, AgreesWithTheReference) {
    for (unsigned seed = 1; seed <= 200; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        omp_set_num_threads(static_cast<int>(random.integer(1, 4)));
        expect_like_reference<TypeParam>(random_case(random), random);
        if (this->HasFailure()) break;
    }
    omp_set_num_threads(omp_get_num_procs());
}

TYPED_TEST(SkinnyProduct, AgreesWithTheReferenceForTensorTimesMatrix) {
    constexpr std::int64_t i = 50, j = 41, k = 37, r = 19;
    const FoldedContraction cases[] = {
        {{{i * j, 1, 0, 1}}, {{r, 0, k, i * j}}, {{k, i * j, 1, 0}}, {}},
        {{{i, 1, 0, 1}, {k, i * j, 0, i}}, {{r, 0, j, i * k}}, {{j, i, 1, 0}}, {}},
        {{{j * k, i, 0, 1}}, {{r, 0, i, j * k}}, {{i, 1, 1, 0}}, {}},
        {{{j * k, i, 0, r}}, {{r, 0, i, 1}}, {{i, 1, 1, 0}}, {}},
        {{{r, i, 0, 1}}, {{j * k, 0, i, r}}, {{i, 1, 1, 0}}, {}},
        {{{i, 1, 0, 1}}, {{r, 0, j * k, i}}, {{j * k, i, 1, 0}}, {}},
    };
    Random random(5);
    for (const FoldedContraction& f : cases) {
        SCOPED_TRACE(&f - cases);
        expect_like_reference<TypeParam>({f, i * j * k, i * j * k, i * j * k}, random);
    }
}

TYPED_TEST(SkinnyProduct, SumsOverManyProducts) {
    // k is cut into chunks, and these into blocks
    for (const std::int64_t k : {1025, 20'011}) {
        Random random(static_cast<unsigned>(k));
        expect_like_reference<TypeParam>({{{{100, 1, 0, 1}}, {{5, 0, 1, 100}}, {{k, 100, 5, 0}}, {}}, 100 * k, 5 * k, 500}, random);
        expect_like_reference<TypeParam>({{{{30, k, 0, 1}}, {{7, 0, k, 30}}, {{k, 1, 1, 0}}, {}}, 30 * k, 7 * k, 210}, random);
    }
}

TEST(SkinnyPlan, LeavesOtherProductsToBlas) {
    for (const std::int64_t n : {10, 24, 100, 1000}) {
        const FoldedContraction f = {{{n, 1, 0, 1}}, {{n, 0, n, n}}, {{n, n, 1, 0}}, {}};
        const GemmPlan gemm = plan_gemm(f);
        EXPECT_GT(plan_skinny(f, 1).cost, gemm.cost + reading_cost(gemm)) << n;
    }
}

}  // namespace
}  // namespace arges::local
