/// Copies between a device and memory of the host that is not pinned, by way of two pinned buffers: one is filled or emptied, by all
/// threads, while the other one is on the link.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace arges::device {

/// By all threads of the host.
inline void copy_on_host(void* to, const void* from, std::int64_t bytes) {
    constexpr std::int64_t chunk = 1 << 18;
    const auto chunks = (bytes + chunk - 1) / chunk;
#pragma omp parallel for schedule(static) if (chunks > 1)
    for (std::int64_t c = 0; c < chunks; ++c)
        std::memcpy(static_cast<std::byte*>(to) + c * chunk, static_cast<const std::byte*>(from) + c * chunk,
                    static_cast<std::size_t>(std::min(chunk, bytes - c * chunk)));
}

/// Copies to the device run in their order with its kernels, and may end after the call. What comes from the device has come.
///
/// A link has two buffers, 0 and 1,
///     std::byte* buffer(int slot);                      // pinned, of piece() bytes
///     std::int64_t piece();
///     void start(void* to, const void* from, std::int64_t bytes, int slot);  // a copy of the buffer or to it, behind what runs
///     void wait(int slot);                              // until the last one of this buffer has ended
template <class Link>
void staged_copy(Link& link, void* to, const void* from, std::int64_t bytes, bool to_device) {
    const auto piece = link.piece(), pieces = (bytes + piece - 1) / piece;
    const auto begin = [&](std::int64_t p) { return p * piece; };
    const auto size = [&](std::int64_t p) { return std::min(piece, bytes - begin(p)); };
    auto* const target = static_cast<std::byte*>(to);
    const auto* const source = static_cast<const std::byte*>(from);
    if (to_device) {
        for (std::int64_t p = 0; p < pieces; ++p) {
            const int slot = static_cast<int>(p % 2);
            link.wait(slot);
            copy_on_host(link.buffer(slot), source + begin(p), size(p));
            link.start(target + begin(p), link.buffer(slot), size(p), slot);
        }
        return;
    }
    const auto start = [&](std::int64_t p) {
        const int slot = static_cast<int>(p % 2);
        if (p < pieces) link.start(link.buffer(slot), source + begin(p), size(p), slot);
    };
    // Copies of one device follow each other, so that what a buffer had to give to the device is behind it.
    start(0);
    start(1);
    for (std::int64_t p = 0; p < pieces; ++p) {
        const int slot = static_cast<int>(p % 2);
        link.wait(slot);
        copy_on_host(target + begin(p), link.buffer(slot), size(p));
        start(p + 2);
    }
}

}  // namespace arges::device
