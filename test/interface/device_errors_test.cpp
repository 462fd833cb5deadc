// A kernel that fails on one rank's device: every rank throws the same exception, nobody waits, and tensors of the host are whole.
#include "arges/arges.hpp"
#include "support/test_device.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace arges::test {
namespace {

class DeviceErrors : public ::testing::Test {
protected:
    DeviceErrors() {
        A.fill_random(1);
        B.fill_random(2);
        S.fill_random(3);
        N.fill([](Index x) { return static_cast<std::int32_t>(x[0] + x[1]); });
    }

    /// What the calling rank catches.
    static std::string caught(const std::function<void()>& work) {
        try {
            work();
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    }

    /// What may fail on a device, the text of it, and how often it has come.
    struct Kind {
        const char *name, *text;
        void (*fail_at)(std::int64_t call);
        std::int64_t (*count)();
    };

    /// Each kernel and each allocation of the last rank fails in turn.
    void check(const char* what, const std::function<void()>& work) {
        for (const Kind& kind : {Kind{"kernel", "it was told to fail", TestDevice::fail_at, TestDevice::calls},
                                 Kind{"allocation", "bytes on the tests' device", TestDevice::fail_allocation_at, TestDevice::allocations}})
            check(what, kind, work);
    }
    void check(const char* what, const Kind& kind, const std::function<void()>& work) {
        const bool fails_here = world.rank() == world.size() - 1;
        work();  // plans are kept from now on
        const auto before = kind.count();
        work();
        const auto count = world.maximum(fails_here ? kind.count() - before : 0);
        for (std::int64_t k = 1; k <= std::min<std::int64_t>(count, 12); ++k) {
            const auto so_far = kind.count();
            if (fails_here) kind.fail_at(k);
            const auto message = caught([&] {
                work();
                world.agree([] {});  // a call that gives no numbers may leave it to the next one
            });
            kind.fail_at(0);
            if (world.maximum(fails_here && kind.count() - so_far >= k ? 1 : 0) == 0) {  // a plan for more runs takes fewer
                EXPECT_EQ(message, "") << what;
                break;
            }
            const auto where = std::string(what) + ", " + kind.name + " " + std::to_string(k) + ": " + message;
            EXPECT_NE(message.find(kind.text), std::string::npos) << where;
            EXPECT_NE(message.find("use no device (Device, --device none, ARGES_DEVICE=none)"), std::string::npos) << where;
            EXPECT_EQ(world.from_first(message), message) << where;
            EXPECT_EQ(caught([&] { world.agree([] {}); }), "") << where;
        }
        EXPECT_EQ(N.gather(), whole);
        EXPECT_EQ(caught(work), "") << what;
    }

    const TestDevice device;
    const World world{MPI_COMM_WORLD, Device(DeviceKind::cuda)};
    Tensor<double> A{world, {6, 7}}, B{world, {7, 6}}, C{world, {6, 6}}, S{world, {6, 6}, "ij", "sym(i,j)"};
    Tensor<std::int32_t> N{world, {6, 7}};
    const std::vector<std::int32_t> whole = [this] {
        N.fill([](Index x) { return static_cast<std::int32_t>(x[0] + x[1]); });
        return N.gather();
    }();
};

TEST_F(DeviceErrors, AreOneExceptionOnAllRanks) {
    check("a product", [&] { C["ij"] = A["ik"] * B["kj"]; });
    check("a sum with itself", [&] { C["ij"] += 0.5 * C["ji"]; });
    check("a product of a symmetric tensor", [&] { C["ij"] = S["ik"] * S["kj"]; });
    check("a product with integers", [&] { C["ij"] = N["ik"] * B["kj"]; });
    check("a symmetrized product", [&] { S["ij"] = symmetrized(A["ik"] * B["kj"]); });
    check("a function of elements", [&] { C["ij"] += map([](double x) { return 2 * x; }, S["ij"]); });
    check("a scalar", [&] { static_cast<void>(static_cast<double>(A["ij"] * A["ij"])); });
    check("a tensor", [&] { const Tensor<double> D(world, {5, 5}); });
    check("a copy", [&] { const Tensor<double> D = A; });
    check("numbers for all", [&] { C.fill(1.5); });
    check("norms", [&] { static_cast<void>(A.norm() + S.norm_max() + A.sum() + A.dot(A)); });
    check("extrema", [&] { static_cast<void>(A.maximum()); });
    check("slices", [&] { A.set_slice({1, 1}, A.slice({0, 0}, {3, 3})); });
    check("another symmetry", [&] { static_cast<void>(S.with_symmetry(Symmetry::none(2))); });
    check("elements by key", [&] { A.write({3}, {1.0}); });
    check("all elements", [&] { static_cast<void>(S.gather()); });
    check("another type", [&] { static_cast<void>(Tensor<std::complex<double>>(A)); });
    check("a sparse product", [&] {
        const auto P = SparseTensor<double>::from_dense(A, 0.2);
        C["ij"] = P["ik"] * B["kj"];
    });
}

TEST_F(DeviceErrors, AnotherWorldGoesOn) {
    const World host(MPI_COMM_WORLD, Device(DeviceKind::none));
    Tensor<double> D(host, {6, 7}), E(host, {6, 6});
    D.fill(1);
    if (world.rank() == world.size() - 1) TestDevice::fail_at(1);
    C.fill(1);
    E["ij"] = D["ik"] * D["jk"];
    EXPECT_EQ(E.norm_max(), 7);
    EXPECT_NE(caught([&] { C.norm(); }), "");
}

}  // namespace
}  // namespace arges::test
