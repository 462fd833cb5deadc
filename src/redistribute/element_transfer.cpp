#include "redistribute/element_transfer.hpp"

#include "base/buffer.hpp"
#include "base/element_at.hpp"
#include "local/transfer.hpp"

#include <algorithm>
#include <vector>

namespace arges {

namespace {

/// Some entries of an axis. @param from, to  the offsets move along where it has no lists
local::TransferAxis entries_of(local::TransferAxis axis, std::int64_t begin, std::int64_t count, std::int64_t& from, std::int64_t& to) {
    axis.count = count;
    if (axis.from != nullptr) {
        axis.from += begin;
        axis.to += begin;
    } else {
        from += begin * axis.from_stride;
        to += begin * axis.to_stride;
    }
    if (axis.factor != nullptr) axis.factor += begin;
    return axis;
}

}  // namespace

void ElementTransfer::along(std::span<const local::TransferAxis> axes, const void* from, void* to, const void* alpha,
                            local::TransferMode mode) const {
    if (!is_staged()) return reaching_both().transfer(axes, from, to, alpha, mode);
    if (std::any_of(axes.begin(), axes.end(), [](const auto& axis) { return axis.count == 0; })) return;
    // A window is a range of one axis, with all of those before it and an entry of each behind it.
    std::size_t cut = 0;
    std::int64_t before = 1;
    while (cut < axes.size() && before * axes[cut].count <= room_.count) before *= axes[cut++].count;
    const auto most = room_.count / before;
    std::vector<std::int64_t> begin(axes.size(), 0);
    std::vector<local::TransferAxis> window(axes.begin(), axes.end());
    for (;;) {
        std::int64_t from_offset = 0, to_offset = 0;
        for (std::size_t d = cut; d < axes.size(); ++d)
            window[d] = entries_of(axes[d], begin[d], d > cut ? 1 : std::min(most, axes[d].count - begin[d]), from_offset, to_offset);
        convert_window(window, element_at(from, from_offset, from_.size), element_at(to, to_offset, to_.size), alpha, mode);
        auto d = cut;
        for (; d < axes.size(); ++d) {
            begin[d] += d > cut ? 1 : most;
            if (begin[d] < axes[d].count) break;
            begin[d] = 0;
        }
        if (d == axes.size()) return;
    }
}

/// Reads the elements one behind the other, converts them, and puts them to their places.
void ElementTransfer::convert_window(std::span<const local::TransferAxis> axes, const void* from, void* to, const void* alpha,
                                     local::TransferMode mode) const {
    std::vector<local::TransferAxis> in(axes.begin(), axes.end()), out = in;
    std::vector<std::vector<std::int64_t>> lists(axes.size());
    std::int64_t count = 1;
    for (std::size_t d = 0; d < axes.size(); ++d) {
        in[d].factor = nullptr;
        in[d].to_stride = out[d].from_stride = count;
        if (axes[d].from != nullptr) {
            for (std::int64_t i = 0; i < axes[d].count; ++i) lists[d].push_back(i * count);
            in[d].to = out[d].from = lists[d].data();
        }
        count *= axes[d].count;
    }
    from_.transfer(in, from, room_.before, nullptr, {});
    if (converts()) local::convert_elements(*from_.type, to_, room_.before, room_.after, count);
    to_.transfer(out, converts() ? room_.after : room_.before, to, alpha, mode);
}

void ElementTransfer::listed(const local::ListedTransfer& list, const void* from, void* to, const void* alpha,
                             local::TransferMode mode) const {
    if (!is_staged()) return reaching_both().transfer_listed(list, from, to, alpha, mode);
    const auto most = converted_at_once(list.count);
    const auto* const space = common_space(from_, to_);
    Buffer<std::byte> before(most * from_.size, space), after(most * to_.size, space);
    for (std::int64_t at = 0; at < list.count; at += most) {
        local::ListedTransfer in{.count = std::min(most, list.count - at)}, out{.count = in.count, .factor = list.factor};
        if (list.from != nullptr) in.from = list.from + at;
        if (list.to != nullptr) out.to = list.to + at;
        if (list.factors != nullptr) out.factors = list.factors + at;
        from_.transfer_listed(in, in.from != nullptr ? from : element_at(from, at, from_.size), before.data(), nullptr, {});
        if (converts()) local::convert_elements(*from_.type, to_, before.data(), after.data(), in.count);
        to_.transfer_listed(out, converts() ? after.data() : before.data(), out.to != nullptr ? to : element_at(to, at, to_.size), alpha,
                            mode);
    }
}

}  // namespace arges
