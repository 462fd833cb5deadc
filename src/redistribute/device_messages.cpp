#include "redistribute/device_messages.hpp"

#include "base/buffer.hpp"

#include <vector>

namespace arges {

namespace {

/// What a rank sends.
std::vector<double> numbers_of(std::int64_t rank, std::int64_t count) {
    std::vector<double> numbers;
    for (std::int64_t i = 0; i < count; ++i) numbers.push_back(static_cast<double>(rank * count + i) + 0.25);
    return numbers;
}

/// Do so many numbers arrive from the rank that is `distance` before this one?
bool arrive(const Communicator& comm, const MemorySpace& space, std::int64_t distance, std::int64_t count) {
    const auto ranks = comm.size(), to = (comm.rank() + distance) % ranks, from = (comm.rank() + ranks - distance) % ranks;
    const auto sent = numbers_of(comm.rank(), count), expected = numbers_of(from, count);
    Buffer<double> out(count, &space), in(count, &space);
    const auto bytes = static_cast<std::int64_t>(out.bytes());
    space.copy(out.data(), sent.data(), bytes);
    space.copy(in.data(), sent.data(), bytes);
    space.finish();
    comm.exchange({{to, reinterpret_cast<std::byte*>(out.data()), bytes}}, {{from, reinterpret_cast<std::byte*>(in.data()), bytes}});
    std::vector<double> received(sent.size());
    space.copy(received.data(), in.data(), bytes);
    return received == expected;
}

}  // namespace

bool messages_arrive_on_device(const Communicator& comm, const ElementKernels& kernels) {
    constexpr std::int64_t few = 7, many = 50000;
    bool right = true;
    for (const auto count : {few, many})
        for (const std::int64_t distance : {std::int64_t{1}, comm.size() / 2})
            right = arrive(comm, *kernels.space, distance, count) && right;
    return comm.minimum(right ? 1 : 0) == 1;
}

}  // namespace arges
