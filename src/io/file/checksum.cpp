// CRC-32 (RFC 1952) of bytes of several ranks, each rank's own combined in the order of the ranks.
#include "io/file/checksum.hpp"

#include "base/math.hpp"
#include "comm/values.hpp"

#include <zlib.h>

#include <algorithm>
#include <vector>

namespace arges::io {

void RunningChecksum::add(const void* data, std::size_t bytes) {
    value_ = crc32_z(value_, static_cast<const Bytef*>(data), bytes);
    bytes_ += static_cast<std::int64_t>(bytes);
}

void RunningChecksum::add(const InputFile& file, std::int64_t begin, std::int64_t end) {
    constexpr std::int64_t piece_bytes = 1 << 20;
    if (begin >= end) return;
    std::vector<char> piece(std::min(piece_bytes, end - begin));
    for (auto at = begin; at < end; at += piece_bytes) {
        const auto bytes = std::min(piece_bytes, end - at);
        file.read_exactly(at, piece.data(), bytes);
        add(piece.data(), bytes);
    }
}

std::uint32_t RunningChecksum::of_all(const Communicator& comm) const {
    const std::vector<std::int64_t> mine{static_cast<std::int64_t>(value_), bytes_};
    const auto all = gathered(comm, mine);
    uLong whole = 0;
    for (std::size_t r = 0; r < all.size(); r += 2)
        whole = crc32_combine(whole, static_cast<uLong>(all[r]), static_cast<z_off_t>(all[r + 1]));
    return whole;
}

std::uint32_t checksum_of(std::span<const char> bytes) {
    RunningChecksum sum;
    sum.add(bytes.data(), bytes.size());
    return sum.value();
}

std::uint32_t file_checksum(const InputFile& file) {
    const auto& comm = file.comm();
    RunningChecksum sum;
    comm.agree(
        [&] { sum.add(file, part_begin(file.size(), comm.rank(), comm.size()), part_begin(file.size(), comm.rank() + 1, comm.size())); });
    return sum.of_all(comm);
}

}  // namespace arges::io
