// Tensors on the host and in the memory of a device, in the same statements. All of the tests of this folder run on the device, too:
// test/device.
#include "arges/algebra.hpp"
#include "arges/element_functions.hpp"
#include "arges/error.hpp"
#include "arges/sparse_tensor.hpp"
#include "arges/tensor.hpp"
#include "interface/dense/tensor_state.hpp"
#include "support/test_device.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <functional>
#include <string>
#include <vector>

namespace arges::test {
namespace {

struct MaxPlus {
    using value_type = double;
    static constexpr double zero = -1e300, one = 0;
    static double add(double a, double b) { return std::max(a, b); }
    static double multiply(double a, double b) { return a + b; }
};

/// On a device, and on the host.
class MemorySpaces : public ::testing::Test {
protected:
    const TestDevice device_;
    const World world_{MPI_COMM_WORLD, Device(DeviceKind::cuda)}, host_{MPI_COMM_WORLD, Device(DeviceKind::none)};
};

double value(Index x) { return static_cast<double>((3 * x[0] + 5 * x[1]) % 7 - 3); }

/// Zeros on the host in a world on the device.
Tensor<double> tensor_on_host(const World& world, const std::vector<std::int64_t>& extents) {
    return Tensor<double>(new_tensor(element_kernels<double>(), world, extents, Symmetry(), ""));
}

TEST_F(MemorySpaces, AWorldSaysWhereItsTensorsLie) {
    EXPECT_EQ(world_.device().kind, DeviceKind::cuda);
    EXPECT_GT(world_.device().memory_limit, 0);
    EXPECT_EQ(host_.device().kind, DeviceKind::none);
    EXPECT_EQ(host_.device().memory_limit, 0);
    const auto space_of = [](const AnyTensor& tensor) { return tensor.kernels().space; };
    Tensor<double> A(world_, {5, 6}), B(host_, {5, 6});
    A.fill(value);
    B.fill(value);
    EXPECT_NE(space_of(A), nullptr);
    EXPECT_EQ(space_of(B), nullptr);
    EXPECT_EQ(space_of(Tensor<std::int32_t>(world_, {5, 6})), nullptr);
    EXPECT_EQ(space_of(SparseTensor<double>(world_, {5, 6})), nullptr);
    EXPECT_EQ(space_of(SparseTensor<double>::from_dense(A, 2).to_dense()), space_of(A));
    EXPECT_EQ(space_of(A.converted(ElementType::complex128)), (Tensor<std::complex<double>>(world_, {1}).kernels().space));
    EXPECT_EQ(space_of(real(Tensor<std::complex<double>>(A))), space_of(A));
    const auto moved = transfer(world_, A, host_), back = transfer(host_, B, world_);
    EXPECT_EQ(space_of(moved), nullptr);
    EXPECT_EQ(space_of(back), space_of(A));
    EXPECT_EQ(moved.gather(), B.gather());
    EXPECT_EQ(back.gather(), A.gather());
    EXPECT_EQ(A.dot(A), B.dot(B));
    const double twice = 2.0 * A["ij"] * A["ij"];
    EXPECT_EQ(twice, 2 * B.dot(B));
}

TEST_F(MemorySpaces, TensorsOfTheHostAndOfTheDeviceMix) {
    auto A = tensor_on_host(world_, {5, 6}), B = tensor_on_host(world_, {6, 5}), C = tensor_on_host(world_, {5, 5});
    Tensor<std::int32_t> N(world_, {6, 5});
    A.fill(value);
    B.fill(value);
    N.fill([](Index x) { return static_cast<std::int32_t>(value(x)); });
    C["ij"] = 1.0 * A["ik"] * B["kj"];
    EXPECT_EQ(C.kernels().space, nullptr);
    Tensor<double> wanted(host_, {5, 5}), a(host_, {5, 6}), b(host_, {6, 5});
    a.fill(value);
    b.fill(value);
    wanted["ij"] = a["ik"] * b["kj"];
    EXPECT_EQ(C.gather(), wanted.gather());
    Tensor<double> D(world_, {6, 5}), E(world_, {5, 5});
    D.fill(value);
    EXPECT_EQ(B.dot(D), b.dot(b));
    E["ij"] = A["ik"] * D["kj"];
    EXPECT_EQ(E.gather(), C.gather());
    E["ij"] = A["ik"] * N["kj"];  // integers are converted on their way
    EXPECT_EQ(E.gather(), C.gather());
    E["ij"] += map([](double x, double y) { return x - 2 * y; }, C["ij"], E["ij"]);
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

TEST_F(MemorySpaces, EachMemoryHasItsAccount) {
    const World world(MPI_COMM_WORLD, Device(DeviceKind::cuda, 1 << 20));
    EXPECT_EQ(world.device().memory_limit, 1 << 20);
    const auto on_host = world.memory_in_use();
    {
        const Tensor<double> A(world, {60, 60});
        EXPECT_GE(world.device_memory_in_use(), 60 * 60 * 8 / world.size());
        EXPECT_EQ(world.memory_in_use(), on_host);
        const Tensor<std::int32_t> N(world, {60, 60});
        EXPECT_GT(world.memory_in_use(), on_host);
    }
    EXPECT_EQ(world.device_memory_in_use(), 0);
    const auto error = [&](const std::function<void()>& work) -> std::string {
        try {
            work();
        } catch (const OutOfMemory& thrown) {
            return thrown.what();
        }
        return "none";
    };
    // What the device has no room for lies on the host; what neither has room for is refused.
    World limited = world;
    const auto n = 2000 * world.size();
    EXPECT_EQ(error([&] { EXPECT_EQ((Tensor<double>(world, {n, 500}).kernels().space), nullptr); }), "none");
    limited.set_memory_limit(1 << 20);
    const auto text = error([&] { const Tensor<double> A(limited, {n, 500}, "A"); });
    EXPECT_NE(text.find("A: 8000000 bytes per rank"), std::string::npos) << text;
    EXPECT_NE(text.find("of the 1048576 bytes of the device are free (Device::memory_limit, --device-memory)"), std::string::npos) << text;
    EXPECT_THROW(World(MPI_COMM_WORLD, Device(DeviceKind::cuda, -1)), InvalidArgument);
}

TEST_F(MemorySpaces, AnAlgebraOfTheHostDoesNotReachTheDevice) {
    Tensor<double> D(world_, {4, 4}, "D");
    try {
        over<MaxPlus>(D["ij"]) = D["ik"] * D["kj"];
        FAIL();
    } catch (const InvalidArgument& error) {
        EXPECT_NE(std::string(error.what()).find("D lies in the memory of the tests' device"), std::string::npos) << error.what();
    }
}

TEST_F(MemorySpaces, ProductsWithSparseTensorsTakeTensorsOfTheDevice) {
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
