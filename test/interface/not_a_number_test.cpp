// NaN is never hidden: sums, norms, extrema, coefficients of zero. What is replaced is not read.
#include "support/tensor_checks.hpp"

#include <cmath>
#include <limits>
#include <sstream>

namespace arges::test {
namespace {

using Complex = std::complex<double>;
constexpr double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();

Tensor<double> vector_of(const World& world, const std::vector<double>& values) {
    Tensor<double> v(world, {static_cast<std::int64_t>(values.size())}, "v");
    std::vector<std::int64_t> keys;
    for (std::size_t i = 0; i < values.size(); ++i) keys.push_back(static_cast<std::int64_t>(i));
    if (world.rank() == 0)
        v.write(keys, values);
    else
        v.write({}, {});
    return v;
}

/// A matrix of ones but for one element.
template <class T>
Tensor<T> ones_but(const World& world, std::int64_t rows, std::int64_t columns, std::int64_t key, T value) {
    Tensor<T> A(world, {rows, columns}, "A");
    A.fill(T(1));
    std::vector<std::int64_t> keys{key};
    std::vector<T> values{value};
    A.write(keys, values);
    return A;
}

TEST(NotANumber, IsTheNormAndTheExtremumWhereverItStands) {
    const World world;
    for (std::size_t at = 0; at < 6; ++at) {
        SCOPED_TRACE(at);
        std::vector<double> values{1, -3, 2, 0, inf, 5};
        values[at] = nan;
        const auto v = vector_of(world, values);
        for (double found : {v.norm_max(), v.norm(), v.norm1(), v.sum(), v.dot(v)}) EXPECT_TRUE(std::isnan(found));
        for (const auto& extremum : {v.largest_magnitude(), v.minimum(), v.maximum()}) {
            EXPECT_TRUE(std::isnan(extremum.value));
            EXPECT_EQ(extremum.index, std::vector<std::int64_t>{static_cast<std::int64_t>(at)});
        }
    }
    const auto two = vector_of(world, {1, nan, 2, nan});
    EXPECT_EQ(two.maximum().index, std::vector<std::int64_t>{1}) << "the first one in the order of keys";
}

TEST(NotANumber, OfAPartOfAComplexNumberIsNotHiddenByAnInfinitePart) {
    const World world;
    const auto A = ones_but<Complex>(world, 3, 3, 4, Complex(inf, nan));
    EXPECT_TRUE(std::isnan(A.norm_max()));
    EXPECT_TRUE(std::isnan(A.norm1()));
    EXPECT_TRUE(std::isnan(A.norm()));
}

TEST(NotANumber, DoesNotCancelInSumsOverSymmetricGroups) {
    const World world;
    Tensor<double> A(world, {4, 4}, "ij", "antisym(i,j)", "A");
    EXPECT_EQ(A.sum(), 0);
    const std::vector<std::int64_t> key{4};
    for (double value : {nan, inf}) {
        A.write(key, std::vector<double>{value});
        EXPECT_TRUE(std::isnan(A.sum())) << value;
    }
    A.write(key, std::vector<double>{nan});
    EXPECT_TRUE(std::isnan(A.minimum().value));
    EXPECT_TRUE(std::isnan(A.maximum().value));
    Tensor<Complex> Z(world, {4, 4}, "ij", "hermitian(i,j)", "Z");
    Z.fill_random(3);
    EXPECT_EQ(Z.sum().imag(), 0);
    EXPECT_EQ(Z.dot(Z).imag(), 0);
    Z.write(key, std::vector<Complex>{Complex(1, nan)});
    EXPECT_TRUE(std::isnan(Z.sum().imag()));
    EXPECT_TRUE(std::isnan(Z.dot(Z).real()) || std::isnan(Z.dot(Z).imag()));
}

TEST(NotANumber, IsPrintedWhateverTheCutoff) {
    const World world;
    std::ostringstream text;
    vector_of(world, {1, nan, 2}).print(text, 1.5);
    EXPECT_EQ(text.str(), world.rank() == 0 ? "1 nan\n2 2\n" : "");
}

/// 0 * A, 0 * (A B) and 0 * (A B C): NaN and infinity become NaN, all else zero.
template <class T>
void check_zero_times(const World& world, std::int64_t n) {
    for (double bad : {nan, inf}) {
        SCOPED_TRACE("n = " + std::to_string(n) + ", element " + std::to_string(bad));
        const auto A = ones_but<T>(world, n, n, 1, T(static_cast<real_of<T>>(bad)));  // A(1, 0)
        const auto B = ones_but<T>(world, n, n, 0, T(2));
        Tensor<T> v(world, {n}, "v");
        v.fill(T(1));
        Tensor<T> C(world, {n, n}, "C"), w(world, {n}, "w"), x(world, {}, "x");
        const auto count_of_nan = [](const Tensor<T>& tensor) {
            std::int64_t count = 0;
            for (auto value : tensor.gather()) {
                const bool is_nan = value != value;
                count += is_nan ? 1 : 0;
                EXPECT_TRUE(is_nan || value == T(0)) << value;
            }
            return count;
        };
        C["ij"] = T(0) * A["ij"];
        EXPECT_EQ(count_of_nan(C), 1);
        C["ij"] = T(0) * A["ji"];
        EXPECT_EQ(count_of_nan(C), 1);
        C["ij"] = T(0) * A["ik"] * B["kj"];
        EXPECT_EQ(count_of_nan(C), n);
        C["ij"] = T(0) * B["ik"] * A["kj"];
        EXPECT_EQ(count_of_nan(C), n);
        C["ij"] = T(0) * A["ij"] * B["ij"];
        EXPECT_EQ(count_of_nan(C), 1);
        w["i"] = T(0) * A["ik"] * v["k"];
        EXPECT_EQ(count_of_nan(w), 1);
        w["i"] = T(0) * A["ik"];
        EXPECT_EQ(count_of_nan(w), 1);
        x[""] = T(0) * A["ik"] * B["ik"];
        EXPECT_EQ(count_of_nan(x), 1);
        C["ij"] = T(0) * A["ik"] * B["kl"] * B["lj"];
        EXPECT_EQ(count_of_nan(C), n);
        C.fill(T(3));
        C["ij"] += T(0) * B["ik"] * B["kj"];
        EXPECT_EQ(C.sum(), static_cast<T>(static_cast<real_of<T>>(3 * n * n)));
    }
}

TEST(NotANumber, StaysUnderACoefficientOfZero) {
    const World world;
    check_zero_times<double>(world, 3);
    check_zero_times<double>(world, 70);
    check_zero_times<float>(world, 40);
    check_zero_times<Complex>(world, 40);
}

TEST(NotANumber, OfPackedTensorsStaysUnderACoefficientOfZero) {
    const World world;
    Tensor<double> T2(world, {3, 3, 4, 4}, "abij", "antisym(a,b) antisym(i,j)", "T"),
        V(world, {3, 3, 3, 3}, "abcd", "antisym(a,b) antisym(c,d)", "V"), Z(world, {3, 3, 4, 4}, "abij", "antisym(a,b) antisym(i,j)", "Z");
    T2.fill_random(1);
    V.fill_random(2);
    T2.write(std::vector<std::int64_t>{T2.key(std::vector<std::int64_t>{0, 1, 0, 1})}, std::vector<double>{nan});
    Z["abij"] = 0.0 * V["abef"] * T2["efij"];
    std::int64_t count = 0;
    for (double z : Z.gather()) count += std::isnan(z) ? 1 : 0;
    EXPECT_EQ(count, 6 * 2) << "each (a, b) with a != b, and both (i, j)";
}

TEST(NotANumber, InWhatIsReplacedIsNotRead) {
    const World world;
    const auto A = ones_but<double>(world, 4, 4, 1, 2);
    auto C = ones_but<double>(world, 4, 4, 5, nan);
    const auto with_nan = C;
    C["ij"] = A["ij"];
    EXPECT_EQ(C.sum(), 17);
    C = with_nan;
    C["ij"] = A["ik"] * A["kj"];
    EXPECT_FALSE(std::isnan(C.sum()));
    C = with_nan;
    C["ij"] = 0.0;
    EXPECT_EQ(C.sum(), 0);
    C = with_nan;
    C["ij"] = Expression<double>();
    EXPECT_EQ(C.sum(), 0);
    C = with_nan;
    contract(1.0, A, "ik", A, "kj", 0.0, C, "ij");
    EXPECT_FALSE(std::isnan(C.sum()));
    C = with_nan;
    C.set_slice({0, 0}, A);
    EXPECT_EQ(C.sum(), 17);
    C = with_nan;
    C.accumulate(std::vector<std::int64_t>{5}, std::vector<double>{world.rank() == 0 ? 1.0 : 0.0}, 1, 0);
    EXPECT_EQ(C.sum(), 16);
}

TEST(NotANumber, StaysWhenATensorIsMultipliedByZero) {
    const World world;
    for (double bad : {nan, inf}) {
        auto C = ones_but<double>(world, 4, 4, 5, bad);
        C["ij"] *= 0.0;
        std::int64_t count = 0;
        for (double c : C.gather()) count += std::isnan(c) ? 1 : 0;
        EXPECT_EQ(count, 1);
        auto D = ones_but<double>(world, 4, 4, 5, bad);
        D["ii"] *= 0.0;
        EXPECT_TRUE(std::isnan(D.read(std::vector<std::int64_t>{5})[0]));
        EXPECT_EQ(D.read(std::vector<std::int64_t>{0, 1}), (std::vector<double>{0, 1}));
    }
}

}  // namespace
}  // namespace arges::test
