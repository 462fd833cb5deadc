// Tensors on the host and in the memory of a device, in the same statements. All of the tests of this folder run on the device, too:
// test/device.
#include "arges/algebra.hpp"
#include "arges/element_functions.hpp"
#include "arges/error.hpp"
#include "arges/sparse_tensor.hpp"
#include "arges/tensor.hpp"
#include "support/test_device.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace arges::test {
namespace {

struct MaxPlus {
    using value_type = double;
    static constexpr double zero = -1e300, one = 0;
    static double add(double a, double b) { return std::max(a, b); }
    static double multiply(double a, double b) { return a + b; }
};

class MemorySpaces : public ::testing::Test {
protected:
    ~MemorySpaces() override { on_device_ ? use_test_device() : use_host(); }
    const bool on_device_ = element_kernels<double>().space != nullptr;
    World world_{MPI_COMM_WORLD};
};

TEST_F(MemorySpaces, ATableOfAnotherTypeIsRefused) {
    EXPECT_THROW(use_element_kernels<double>(&element_kernels<float>()), InvalidArgument);
}

TEST_F(MemorySpaces, TensorsOfTheHostAndOfTheDeviceMix) {
    const auto value = [](Index x) { return static_cast<double>((3 * x[0] + 5 * x[1]) % 7 - 3); };
    use_host();
    Tensor<double> A(world_, {5, 6}), B(world_, {6, 5}), C(world_, {5, 5});
    Tensor<std::int32_t> N(world_, {6, 5});
    A.fill(value);
    B.fill(value);
    N.fill([&](Index x) { return static_cast<std::int32_t>(value(x)); });
    C["ij"] = A["ik"] * B["kj"];
    use_test_device();
    Tensor<double> D(world_, {6, 5}), E(world_, {5, 5});
    EXPECT_NE(element_kernels<double>().space, nullptr);
    D.fill(value);
    E["ij"] = A["ik"] * D["kj"];
    EXPECT_EQ(E.gather(), C.gather());
    E["ij"] = A["ik"] * N["kj"];  // integers are converted on their way
    EXPECT_EQ(E.gather(), C.gather());
    E["ij"] += map([](double a, double b) { return a - 2 * b; }, C["ij"], E["ij"]);
    EXPECT_EQ(E.norm_max(), 0);
    Tensor<double> copy = D;
    EXPECT_EQ(copy.gather(), D.gather());
    Tensor<double> S(world_, {5, 5}, "ij", "antisym(i,j)");
    S["ij"] = antisymmetrized(A["ik"] * D["kj"]);
    const auto all = S.gather();
    const auto product = C.gather();
    for (std::size_t i = 0; i < 5; ++i)
        for (std::size_t j = 0; j < 5; ++j) EXPECT_EQ(all[i + 5 * j], product[i + 5 * j] - product[j + 5 * i]);
}

TEST_F(MemorySpaces, AnAlgebraOfTheHostDoesNotReachTheDevice) {
    use_test_device();
    Tensor<double> D(world_, {4, 4}, "D");
    try {
        over<MaxPlus>(D["ij"]) = D["ik"] * D["kj"];
        FAIL();
    } catch (const InvalidArgument& error) {
        EXPECT_NE(std::string(error.what()).find("D lies in the memory of the tests' device"), std::string::npos) << error.what();
    }
}

TEST_F(MemorySpaces, ProductsWithSparseTensorsTakeTensorsOfTheDevice) {
    use_test_device();
    Tensor<double> D(world_, {4, 4}), E(world_, {4, 4});
    D.fill([](Index x) { return static_cast<double>(x[0] + 2 * x[1]); });
    const auto S = SparseTensor<double>::from_dense(D, 4);
    E.fill(1.0);
    E["ij"] += S["ik"] * D["kj"];
    D["ij"] = S["ji"];
    SparseTensor<double> M(world_, {4, 4});
    over<MaxPlus>(M["ij"]) = S["ik"] * D["kj"];
    const auto d = D.gather(), e = E.gather();
    const auto s = S.to_dense().gather();
    for (std::size_t i = 0; i < 4; ++i)
        for (std::size_t j = 0; j < 4; ++j) {
            double sum = 1;
            for (std::size_t k = 0; k < 4; ++k) sum += s[i + 4 * k] * static_cast<double>(k + 2 * j);
            EXPECT_EQ(e[i + 4 * j], sum);
            EXPECT_EQ(d[i + 4 * j], s[j + 4 * i]);
        }
    EXPECT_GT(M.nonzeros(), 0);
}

}  // namespace
}  // namespace arges::test
