// Sums, norms, dot products, extrema and printing against dense references.
#include "support/tensor_checks.hpp"

#include <cmath>
#include <sstream>

namespace arges::test {
namespace {

template <class T>
class Reductions : public testing::Test {
protected:
    World world_;
    double tolerance(double scale) const { return (std::is_same_v<real_of<T>, float> ? 1e-5 : 1e-13) * (1 + scale); }
};
using ReducedTypes = testing::Types<float, double, std::complex<double>>;
TYPED_TEST_SUITE(Reductions, ReducedTypes);

TYPED_TEST(Reductions, RunOverTheFullTensor) {
    using T = TypeParam;
    for_each_shape<T>(this->world_, 20, [&](const Shape&, const Dense& dense, const Tensor<T>& A) {
        Value sum = 0;
        double one = 0, squares = 0, most = 0;
        for (const auto& v : dense.data) {
            sum += v;
            one += std::abs(v);
            squares += std::norm(v);
            most = std::max(most, std::abs(v));
        }
        EXPECT_LE(std::abs(Value(A.sum()) - sum), this->tolerance(one));
        EXPECT_NEAR(A.norm1(), one, this->tolerance(one));
        EXPECT_NEAR(A.norm(), std::sqrt(squares), this->tolerance(std::sqrt(squares)));
        EXPECT_NEAR(A.norm_max(), most, this->tolerance(most));
        EXPECT_LE(std::abs(Value(A.dot(A)) - squares), this->tolerance(squares));
        const auto nonzeros = std::count_if(dense.data.begin(), dense.data.end(), [](const auto& v) { return element<T>(v) != T(0); });
        EXPECT_EQ(A.count_nonzero(), nonzeros);
    });
}

TYPED_TEST(Reductions, ExtremaComeWithAnIndexThatHasThem) {
    using T = TypeParam;
    for_each_shape<T>(this->world_, 21, [&](const Shape&, const Dense& dense, const Tensor<T>& A) {
        auto check = [&](const Extremum<T>& found, auto&& wanted) {
            ASSERT_EQ(found.index.empty(), dense.data.empty() || A.order() == 0);
            if (dense.data.empty()) return;
            EXPECT_EQ(found.value, element<T>(dense.at(found.index)));
            for (const auto& v : dense.data) EXPECT_TRUE(wanted(found.value, element<T>(v))) << v << " and " << found.value;
        };
        check(A.largest_magnitude(), [](T a, T b) { return std::abs(a) >= std::abs(b); });
        if constexpr (!is_complex<T>) {
            check(A.minimum(), [](T a, T b) { return a <= b; });
            check(A.maximum(), [](T a, T b) { return a >= b; });
        }
    });
}

TYPED_TEST(Reductions, DotTakesOperandsOfDifferentSymmetry) {
    using T = TypeParam;
    std::mt19937_64 random(22);
    with_all_mappings(this->world_, [&] {
        for (const auto& first : shapes_for(is_complex<T>))
            for (const auto& second : shapes_for(is_complex<T>)) {
                if (first.extents != second.extents || first.tree == second.tree) continue;
                if (random() % thinning(this->world_) != 0) continue;
                SCOPED_TRACE(first.text() + " and " + second.text());
                const auto a = random_dense(first.extents, first.symmetry(), is_complex<T>, random);
                const auto b = random_dense(second.extents, second.symmetry(), is_complex<T>, random);
                Value dot = 0;
                double size = 0;
                for (std::size_t k = 0; k < a.data.size(); ++k) {
                    dot += std::conj(a.data[k]) * b.data[k];
                    size += std::abs(a.data[k]) * std::abs(b.data[k]);
                }
                const auto A = distributed<T>(this->world_, a, first.symmetry(), "A");
                const auto B = distributed<T>(this->world_, b, second.symmetry(), "B");
                EXPECT_LE(std::abs(Value(A.dot(B)) - dot), this->tolerance(size));
            }
    });
}

TEST(Print, ShowsIndicesAndValueInKeyOrderOnRankZero) {
    const World world;
    Tensor<double> A(world, {3, 3}, "ij", "antisym(i,j)");
    A.fill([](Index x) { return static_cast<double>(x[1] - x[0]) * 0.5; });
    std::ostringstream all, large, scalar;
    const std::string orbits = "# one element of each orbit of antisym(a,b)\n";
    A.print(all);
    A.print(large, 0.75);
    EXPECT_EQ(all.str(), world.rank() == 0 ? orbits + "0 1 0.5\n0 2 1\n1 2 0.5\n" : "");
    EXPECT_EQ(large.str(), world.rank() == 0 ? orbits + "0 2 1\n" : "");
    Tensor<std::complex<float>> x(world, {});
    x.fill({1, -2});
    x.print(scalar);
    EXPECT_EQ(scalar.str(), world.rank() == 0 ? "(1,-2)\n" : "");
}

TEST(Scalar, IsTheOnlyElementOnEveryRank) {
    const World world;
    Tensor<double> x(world, {});
    x.write(std::vector<std::int64_t>(1, 0), std::vector<double>{2.5});
    EXPECT_EQ(x.scalar(), 2.5);
    EXPECT_EQ(x.packed_size(), 1);
}

}  // namespace
}  // namespace arges::test
