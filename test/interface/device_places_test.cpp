// Tensors that a device has no room for: they lie on the host, and what is worth it is computed in the device's memory, in windows.
#include "arges/arges.hpp"
#include "device/device.hpp"
#include "interface/dense/tensor_state.hpp"
#include "support/test_device.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace arges::test {
namespace {

class DevicePlaces : public ::testing::Test {
protected:
    const TestDevice device_;
    /// With a host on which products take long.
    World world_with(std::int64_t bytes) const {
        MachineModel machine;
        machine.flops_per_second = 1e5;
        return World(machine, Device(DeviceKind::cuda, bytes));
    }
    static bool is_on_device(const AnyTensor& tensor) { return tensor.kernels().space != nullptr; }
};

TEST_F(DevicePlaces, TensorsWithoutRoomLieOnTheHost) {
    const auto ranks = World().size();
    const World world = world_with(100 * 100 * 8 / ranks * 2 + 4096);
    const Tensor<double> A(world, {100, 100}), B(world, {100, 100});
    EXPECT_TRUE(is_on_device(A));
    EXPECT_FALSE(is_on_device(B)) << "a quarter is left to products";
    EXPECT_EQ(world.device_memory_in_use(), static_cast<std::int64_t>(A.dense_state()->shape().max_local_size()) * 8);
    EXPECT_GT(world.memory_in_use(), 0);
}

/// The same product with more and less of the device's memory than it wants.
TEST_F(DevicePlaces, ProductsLargerThanTheDeviceAreComputedThereInWindows) {
    constexpr std::int64_t n = 240;
    const World host(MPI_COMM_WORLD, Device(DeviceKind::none));
    const auto filled = [&](const World& world, const char* name, int seed) {
        Tensor<double> A(world, {n, n}, Symmetry(), name);
        A.fill_random(seed);
        return A;
    };
    Tensor<double> wanted(host, {n, n});
    wanted["ij"] = filled(host, "A", 1)["ik"] * filled(host, "B", 2)["kj"];
    const auto whole = wanted.gather();
    const auto bytes = n * n * 8 / host.size();
    for (const std::int64_t limit : {64 * bytes, bytes, bytes / 2, bytes / 5}) {
        const World world = world_with(limit);
        const auto A = filled(world, "A", 1), B = filled(world, "B", 2);
        Tensor<double> C(world, {n, n}, Symmetry(), "C");
        EXPECT_EQ(is_on_device(C), limit > bytes * 2);
        const auto text = C["ij"].explain(A["ik"] * B["kj"]);
        EXPECT_NE(text.find("computed on the device"), std::string::npos) << text;
        EXPECT_EQ(text.find("bytes pass between both memories") != std::string::npos, limit < bytes * 2) << text;
        EXPECT_EQ(text.find("for lack of memory") != std::string::npos, limit < bytes * 2) << text;
        TestDevice::reset_peak();
        C["ij"] = A["ik"] * B["kj"];
        constexpr std::int64_t on_its_way = 512 << 10;  // kernels' own copies of what comes from the host
        EXPECT_LE(TestDevice::peak(), limit + on_its_way) << text;
        const auto got = C.gather();
        for (std::size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], whole[i], 1e-11) << text;
    }
}

/// Windows between statements that read and write the same tensors, each of which lies on the device or on the host.
TEST_F(DevicePlaces, WindowsWaitForStatementsBefore) {
    constexpr std::int64_t n = 180;
    const World host(MPI_COMM_WORLD, Device(DeviceKind::none));
    const auto bytes = n * n * 8 / host.size() + 4096;
    const auto computed = [&](const World& world, unsigned there, std::string* text) {
        std::vector<Tensor<double>> made(3);
        for (const bool on_device : {true, false})
            for (std::size_t t = 0; t < 3; ++t)
                if (((there >> t & 1U) != 0) == on_device) {
                    made[t] = Tensor<double>(world, {n, n}, Symmetry(), "T" + std::to_string(t));
                    made[t].fill_random(t);
                    if (text != nullptr) {
                        EXPECT_EQ(is_on_device(made[t]), on_device) << there << " " << t;
                    }
                }
        auto &A = made[0], &B = made[1], &C = made[2];
        if (text != nullptr) *text = C["ij"].explain(A["ik"] * B["kj"]);
        A["ik"] *= 2.0;
        B["kj"] *= 0.5;
        C["ij"] *= 3.0;
        C["ij"] += A["ik"] * B["kj"];
        C["ij"] *= 0.25;
        return C.gather();
    };
    const auto wanted = computed(host, 0, nullptr);
    for (unsigned there = 0; there < 8; ++there) {
        const auto count = std::popcount(there);
        const World world = world_with(count == 0 ? bytes / 2 : bytes * count * 4 / 3 + 4096);
        std::string text;
        const auto got = computed(world, there, &text);
        EXPECT_NE(text.find("computed on the device"), std::string::npos) << text;
        if (count < 3) {
            EXPECT_NE(text.find("come and go while others are multiplied"), std::string::npos) << text;
        }
        for (std::size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], wanted[i], 1e-11) << there << " " << text;
    }
}

/// Statements in any order over more tensors than the device has room for: those in use come there, the others are put off.
TEST_F(DevicePlaces, TensorsInUseComeToTheDevice) {
    constexpr std::int64_t n = 200;
    constexpr int count = 6;
    const World host(MPI_COMM_WORLD, Device(DeviceKind::none));
    const auto bytes = n * n * 8 / host.size() + 4096;
    std::mt19937_64 random(5);
    for (const std::int64_t rooms : {2, 3, 5}) {
        const auto before = TestDevice::calls();
        const World world = world_with(bytes * rooms * 4 / 3 + 4096);
        std::vector<Tensor<double>> there, wanted;
        for (int t = 0; t < count; ++t) {
            there.emplace_back(world, std::vector<std::int64_t>{n, n}, Symmetry(), "T" + std::to_string(t));
            wanted.emplace_back(host, std::vector<std::int64_t>{n, n});
            there.back().fill_random(t);
            wanted.back().fill_random(t);
            EXPECT_EQ(is_on_device(there.back()), t < rooms);
        }
        bool have_come = false, have_gone = false;
        std::size_t a = 0, b = 0;
        for (int s = 0; s < 40; ++s) {
            if (s % 4 == 0) {  // each pair of tensors for a while
                a = random() % (count - 1);
                b = random() % (count - 1);
            }
            const auto run = [&](std::vector<Tensor<double>>& tensors) {
                tensors.back()["ij"] = 0.01 * tensors[a]["ik"] * tensors[b]["kj"];
            };
            run(there);
            run(wanted);
            for (int t = 0; t < count; ++t) {
                have_come = have_come || (t >= rooms && is_on_device(there[t]));
                have_gone = have_gone || (t < rooms && !is_on_device(there[t]));
            }
            ASSERT_LE(world.device_memory_in_use(), bytes * rooms + 4096);
        }
        EXPECT_TRUE(have_come);
        EXPECT_TRUE(have_gone);
        EXPECT_GT(TestDevice::calls(), before);
        for (int t = 0; t < count; ++t) {
            const auto got = there[t].gather(), whole = wanted[t].gather();
            for (std::size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], whole[i], 1e-11) << t;
        }
        there.clear();
        EXPECT_EQ(world.device_memory_in_use(), 0);
    }
}

/// To and fro would take longer than to stay.
TEST_F(DevicePlaces, RoundsThatDoNotFitStayWhereTheyAre) {
    constexpr std::int64_t n = 200;
    const World world = world_with((n * n * 8 / world_with(1).size() + 4096) * 4);  // room for three
    std::vector<Tensor<double>> tensors;
    for (int t = 0; t < 5; ++t) {
        tensors.emplace_back(world, std::vector<std::int64_t>{n, n}, Symmetry(), "T" + std::to_string(t));
        tensors.back().fill_random(t);
    }
    for (int s = 0; s < 12; ++s) {
        tensors[0]["ij"] = tensors[1 + s % 4]["ik"] * tensors[1 + s % 4]["kj"];
        for (int t = 0; t < 5; ++t) EXPECT_EQ(is_on_device(tensors[t]), t < 3) << s;
    }
}

/// As tests were started; see ARGES_TEST_DEVICE.
TEST_F(DevicePlaces, MessagesLieThereIfMpiTakesThem) {
    const World world = world_with(1 << 20);
    EXPECT_EQ(device::has_messages(), world.size() > 1 && device::may_have_messages().value());
}

/// A product of few numbers is not worth the way.
TEST_F(DevicePlaces, SmallProductsOfTheHostStayThere) {
    const World world = world_with(64);
    Tensor<double> A(world, {6, 6}, Symmetry(), "A"), C(world, {6, 6}, Symmetry(), "C");
    A.fill(1.0);
    EXPECT_FALSE(is_on_device(A));
    const auto text = C["ij"].explain(A["ik"] * A["kj"]);
    EXPECT_NE(text.find("computed on the host"), std::string::npos) << text;
    const auto before = TestDevice::calls();
    C["ij"] = A["ik"] * A["kj"];
    EXPECT_EQ(TestDevice::calls(), before);
    EXPECT_EQ(C.norm_max(), 6);
}

}  // namespace
}  // namespace arges::test
