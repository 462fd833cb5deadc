// Numbers at the ends of their range: norms, random numbers, extents, worlds of very many ranks.
#include "base/splitmix.hpp"
#include "support/tensor_checks.hpp"

#include <cmath>
#include <limits>

namespace arges::test {
namespace {

using Complex = std::complex<double>;
constexpr double largest = std::numeric_limits<double>::max();

TEST(ExtremeNumbers, NormsNeitherOverflowNorUnderflow) {
    const World world;
    for (double scale : {1e200, 1e-200, 1e150, 1e-160, 1e-300}) {
        SCOPED_TRACE(scale);
        Tensor<double> A(world, {5, 3}, "A");
        A.fill(3 * scale);
        EXPECT_NEAR(A.norm() / (3 * scale), std::sqrt(15), 1e-12);
        Tensor<double> S(world, {4, 4}, "ij", "antisym(i,j)", "S");
        S.fill([&](Index x) { return (x[0] < x[1] ? 1 : -1) * scale; });
        EXPECT_NEAR(S.norm() / scale, std::sqrt(12), 1e-12);
        Tensor<Complex> Z(world, {7}, "Z");
        Z.fill(Complex(3 * scale, 4 * scale));
        EXPECT_NEAR(Z.norm() / scale, 5 * std::sqrt(7), 1e-12);
        const auto sparse = SparseTensor<double>::from_dense(A);
        EXPECT_NEAR(sparse.norm() / (3 * scale), std::sqrt(15), 1e-12);
    }
    Tensor<double> A(world, {2}, "A");
    EXPECT_EQ(A.norm(), 0);
    A.fill(3 * 5e-324);
    EXPECT_EQ(A.norm(), 4 * 5e-324) << "rounded to a multiple of the smallest number";
    A.fill(std::numeric_limits<double>::infinity());
    EXPECT_EQ(A.norm(), std::numeric_limits<double>::infinity());
    Tensor<float> f(world, {4}, "f");
    f.fill(1e30F);
    EXPECT_FLOAT_EQ(f.norm(), 2e30F);
}

TEST(ExtremeNumbers, RandomOnesStayBelowTheUpperBound) {
    const World world;
    std::uint64_t seed = 0;  // of a number so near to 1 that it is rounded to it: 1 in 2^25 is
    while (static_cast<float>(unit_interval(splitmix(splitmix(seed)))) < 1) ++seed;
    Tensor<float> A(world, {1}, "A");
    A.fill_random(seed, 0, 1);
    EXPECT_EQ(A.maximum().value, std::nextafter(1.0F, 0.0F));
    Tensor<double> B(world, {64, 64}, "B");
    const double one = 1, next = std::nextafter(one, 2);
    B.fill_random(1, one, next);
    EXPECT_EQ(B.maximum().value, one);
    B.fill_random(1, 2, 2);
    EXPECT_EQ(B.maximum().value, 2);
    B.fill_random(1, -largest, largest);
    EXPECT_LT(B.norm_max(), largest);
    EXPECT_LT(B.minimum().value, 0);
    EXPECT_GT(B.maximum().value, 0);
    EXPECT_THROW(B.fill_random(1, 0, std::numeric_limits<double>::infinity()), InvalidArgument);
    EXPECT_THROW(B.fill_random(1, std::nan(""), 1), InvalidArgument);
}

TEST(ExtremeNumbers, WorldsOfMoreRanksThanMpiHasAreRefused) {
    for (int power : {31, 40, 62}) EXPECT_THROW(World::dry_run(std::int64_t{1} << power), InvalidArgument) << power;
    EXPECT_THROW(World::dry_run(std::numeric_limits<std::int64_t>::max()), InvalidArgument);
    EXPECT_THROW(World::dry_run({std::int64_t{1} << 62, Torus({std::int64_t{1} << 31, std::int64_t{1} << 31})}), InvalidArgument);
    EXPECT_THROW(Torus({std::int64_t{1} << 32, std::int64_t{1} << 32}), InvalidArgument);
    EXPECT_THROW(Torus::parse("999999999x999999999x999999999"), InvalidArgument);
    EXPECT_THROW(Torus::parse(std::string(100000, '9')), InvalidArgument);
    const auto most = World::dry_run(std::numeric_limits<std::int32_t>::max());
    EXPECT_EQ(most.size(), std::numeric_limits<std::int32_t>::max());
}

TEST(ExtremeNumbers, StatementsOnVeryManyRanksArePlanned) {
    for (std::int64_t ranks : {std::int64_t{1} << 20, std::int64_t{1} << 30}) {
        SCOPED_TRACE(ranks);
        const auto world = World::dry_run(ranks);
        const std::int64_t n = 100000;
        Tensor<double> A(world, {n, n}, "A"), B(world, {n, n}, "B"), C(world, {n, n}, "C");
        C["ij"] = A["ik"] * B["kj"];
        EXPECT_FALSE(explain(C["ij"], A["ik"] * B["kj"]).empty());
    }
}

TEST(ExtremeNumbers, ExtentsNearTheEndOfTheirRangeAreRefused) {
    const World world;
    const auto most = std::numeric_limits<std::int64_t>::max();
    EXPECT_THROW(Tensor<double>(world, {most}), OutOfMemory);
    EXPECT_THROW(Tensor<double>(world, {most, 2}), InvalidArgument);
    EXPECT_THROW(Tensor<double>(world, {most, most, 0}), InvalidArgument);
    EXPECT_THROW(Tensor<double>(world, {most, most}, "ij", "sym(i,j)"), InvalidArgument);
    EXPECT_THROW(Tensor<double>(world, {std::numeric_limits<std::int64_t>::min()}), InvalidArgument);
    Tensor<double> empty(world, {most, 0}, "empty");
    EXPECT_EQ(empty.size(), 0);
    EXPECT_EQ(empty.norm(), 0);
    Tensor<double> A(world, {4}, "A");
    EXPECT_THROW(A.slice({most}, {most}), InvalidArgument);
    EXPECT_THROW(A.set_slice({most - 1}, A), InvalidArgument);
}

}  // namespace
}  // namespace arges::test
