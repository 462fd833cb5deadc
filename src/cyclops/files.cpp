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

std::int64_t bytes_of(const arges::AnyTensor& tensor) { return static_cast<std::int64_t>(arges::element_kernels(tensor.element()).size); }

}  // namespace

void tensor::to_file(MPI_File file, std::int64_t offset) const {
    const auto& own = of(*this);
    const auto keys = own_keys(own);
    auto values = read(own, keys);
    const auto bytes = bytes_of(own);
    arges::write_at(file, offset + (keys.empty() ? 0 : keys[0] * bytes), values.data(), std::ssize(keys) * bytes);
}

void tensor::to_file(const char* path) const {
    arges::with_file(of(*this).world().communicator(), path, true, [&](MPI_File file) { to_file(file, 0); });
}

void tensor::from_file(MPI_File file, std::int64_t offset) {
    auto& own = of(*this);
    const auto keys = own_keys(own);
    Values values(own.element());
    values.room()(std::ssize(keys));
    const auto bytes = bytes_of(own);
    own.world().agree([&] {});
    arges::read_at(file, offset + (keys.empty() ? 0 : keys[0] * bytes), values.data(), std::ssize(keys) * bytes);
    Pairs stored{{}, Values(own.element())};
    for (std::size_t i = 0; i < keys.size(); ++i) {
        const auto canonical = own.canonical_key(own.index(keys[i]));
        if (canonical.zero || canonical.key != keys[i]) continue;
        stored.keys.push_back(keys[i]);
        stored.values.take(values, static_cast<std::int64_t>(i));
    }
    own.accumulate_pairs(stored.keys, stored.values.data(), std::ssize(stored.keys), nullptr, arges::element_kernels(own.element()).zero);
}

void tensor::from_file(const char* path) {
    arges::with_file(of(*this).world().communicator(), path, false, [&](MPI_File file) { from_file(file, 0); });
}

}  // namespace CTF_int
