/// Kernels and arrays that fail on one rank's device: every rank throws the same exception, nobody waits, and tensors of the host are
/// whole.
#pragma once

#include "arges/error.hpp"
#include "arges/tensor.hpp"
#include "arges/world.hpp"
#include "support/test_device.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace arges::test {

class FailingDevice : public ::testing::Test {
protected:
    FailingDevice() {
        N.fill([](Index x) { return static_cast<std::int32_t>(x[0] + x[1]); });
        whole_ = N.gather();
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

    /// Each kernel and each allocation of the last rank fails in turn, up to the first 12.
    void check(const char* what, const std::function<void()>& work) {
        for (const Kind& kind : {Kind{"kernel", "it was told to fail", TestDevice::fail_at, TestDevice::calls},
                                 Kind{"allocation", "bytes on the tests' device", TestDevice::fail_allocation_at, TestDevice::allocations}})
            check(what, kind, work);
    }

    const TestDevice device;
    const World world{MPI_COMM_WORLD, Device(DeviceKind::cuda)};
    Tensor<std::int32_t> N{world, {6, 7}};  ///< on the host

private:
    /// What may fail on a device, the text of it, and how often it has come.
    struct Kind {
        const char *name, *text;
        void (*fail_at)(std::int64_t call);
        std::int64_t (*count)();
    };

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
        EXPECT_EQ(N.gather(), whole_);
        EXPECT_EQ(caught(work), "") << what;
    }

    std::vector<std::int32_t> whole_;
};

}  // namespace arges::test
