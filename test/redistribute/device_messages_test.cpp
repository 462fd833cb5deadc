// Messages in the memory of a device: whether they arrive is found out by sending some.
#include "redistribute/device_messages.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

namespace arges::test {
namespace {

/// A memory that MPI reaches, and one of another kind from which it would not be read right.
const ElementKernels& table(bool is_right) {
    static const MemorySpace right{
        .name = "right",
        .allocate = [](std::int64_t bytes) { return std::malloc(static_cast<std::size_t>(bytes)); },
        .free = [](void* array, std::int64_t) noexcept { std::free(array); },
        .copy = [](void* to, const void* from, std::int64_t bytes) { std::memcpy(to, from, static_cast<std::size_t>(bytes)); },
        .finish = [] {}};
    static MemorySpace wrong = right;
    wrong.copy = [](void* to, const void* from, std::int64_t bytes) {
        std::memcpy(to, from, static_cast<std::size_t>(bytes));
        if (bytes > 4096) static_cast<unsigned char*>(to)[bytes / 2] = 0xee;
    };
    static ElementKernels kernels = element_kernels<double>();
    kernels.space = is_right ? &right : &wrong;
    return kernels;
}

TEST(DeviceMessages, ArriveOrDoNot) {
    const Communicator comm(MPI_COMM_WORLD);
    EXPECT_TRUE(messages_arrive_on_device(comm, table(true)));
    EXPECT_FALSE(messages_arrive_on_device(comm, table(comm.rank() + 1 < comm.size()))) << "on all ranks, if on one they do not";
}

}  // namespace
}  // namespace arges::test
