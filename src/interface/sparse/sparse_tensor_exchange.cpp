#include "interface/sparse/sparse_tensor_exchange.hpp"

#include <cstring>

namespace arges {

void route_entries(const Communicator& comm, std::span<const std::int32_t> to, const void* entries, std::int64_t entry_bytes,
                   const std::function<void()>& drop, const std::function<void*(std::int64_t count)>& room) {
    std::vector<std::vector<std::byte>> out(comm.size());
    comm.agree([&] {
        std::vector<std::int64_t> count(out.size(), 0);
        for (auto r : to) ++count[r];
        for (std::size_t r = 0; r < out.size(); ++r) out[r].resize(count[r] * entry_bytes);
        std::fill(count.begin(), count.end(), 0);
        with_element_bytes(entry_bytes, [&](auto bytes) {
            for (std::size_t i = 0; i < to.size(); ++i) {
                const std::size_t r = to[i];
                copy_element(element_at(out[r].data(), count[r]++, bytes), element_at(entries, i, bytes), bytes);
            }
        });
        drop();
    });
    const auto in = comm.all_to_all(out);
    release(out);
    comm.agree([&] {
        std::size_t bytes = 0;
        for (const auto& part : in) bytes += part.size();
        auto* place = static_cast<std::byte*>(room(static_cast<std::int64_t>(bytes) / entry_bytes));
        for (const auto& part : in) {
            if (!part.empty()) std::memcpy(place, part.data(), part.size());
            place += part.size();
        }
    });
}

}  // namespace arges
