// Dense files: all elements as bytes in the order of keys, a range of keys by each rank.
#include "comm/shared_file.hpp"
#include "cyclops/body.hpp"

#include <numeric>

namespace CTF_int {

namespace {

/// Keys that a rank reads or writes.
std::vector<std::int64_t> own_keys(const arges::AnyTensor& tensor) {
    const auto rank = tensor.world().rank(), ranks = tensor.world().size(), size = tensor.size();
    const auto begin = size / ranks * rank + std::min(rank, size % ranks);
    std::vector<std::int64_t> keys(size / ranks + (rank < size % ranks ? 1 : 0));
    std::iota(keys.begin(), keys.end(), begin);
    return keys;
}

std::int64_t bytes_of(const arges::AnyTensor& tensor) { return program_bytes(tensor.kernels()); }

}  // namespace

void tensor::to_file(MPI_File file, std::int64_t offset) const {
    const auto& own = of(*this);
    const auto keys = own_keys(own);
    const auto values = read(own, keys);
    const auto bytes = bytes_of(own);
    std::vector<char> given(std::ssize(keys) * bytes);
    values.give(given.data());
    own.world().agree([&] { arges::write_at(file, offset + (keys.empty() ? 0 : keys[0] * bytes), given.data(), std::ssize(given)); });
}

void tensor::to_file(const char* path) const {
    const auto& world = of(*this).world();
    const arges::SharedFile file(world.communicator(), path, true);
    world.agree([&] { file.check(); });
    to_file(file.get(), 0);
}

void tensor::from_file(MPI_File file, std::int64_t offset) {
    auto& own = of(*this);
    Pairs stored{own_keys(own), Values(own.kernels())};
    own.world().agree([&] {
        const auto bytes = bytes_of(own), first = stored.keys.empty() ? 0 : stored.keys[0];
        std::vector<char> given(std::ssize(stored.keys) * bytes);
        arges::read_at(file, offset + first * bytes, given.data(), std::ssize(given));
        stored.values = Values(own.kernels(), given.data(), std::ssize(stored.keys));
        Indices indices(own);
        stored.keep([&](std::int64_t i) {
            indices.of(stored.keys[i]);
            return indices.is_stored() && !(own.is_sparse() && own.kernels().is_zero(stored.values.at(i)));
        });
    });
    put_back(own, stored);
    tell_stored();
}

void tensor::from_file(const char* path) {
    const auto& world = of(*this).world();
    const arges::SharedFile file(world.communicator(), path, false);
    world.agree([&] { file.check(); });
    from_file(file.get(), 0);
}

}  // namespace CTF_int
