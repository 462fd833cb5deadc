// Which indices of a dense tensor a rank's block has, which ranks share the rows of its factors, and how many rows they exchange.
#include "decompose/distribution/dense_block.hpp"

#include "interface/dense/tensor_state.hpp"
#include "layout/layout.hpp"

#include <bit>
#include <functional>
#include <numeric>

namespace arges::decompose {

std::int64_t BlockPosition::count() const { return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>()); }

BlockPosition block_position(const Layout& layout, std::int64_t rank) {
    BlockPosition result;
    const bool idle = layout.grid().is_idle(rank) || !layout.is_first_copy(rank) || layout.local_size(rank) == 0;
    for (int s = 0; s < layout.slots(); ++s) {
        result.grid_length.push_back(layout.slot(s).grid_length());
        result.coordinate.push_back(idle ? 0 : layout.coordinate(rank, s));
        result.sizes.push_back(idle ? 0 : layout.slot(s).local_size(result.coordinate.back()));
    }
    return result;
}

PlainLayout plain_layout(const AnyTensor& tensor) {
    const auto& state = state_of(tensor, "a decomposition");
    if (is_plain(state.layout)) return {state.layout, 0};
    return {new_layout(*state.world, tensor.extents(), Symmetry::none(tensor.order())),
            state.layout.max_local_size() * state.kernels->size};
}

std::string grid_text(const Layout& layout) {
    std::string text;
    for (int s = 0; s < layout.slots(); ++s) text += (s == 0 ? "" : "x") + std::to_string(layout.slot(s).grid_length());
    return text;
}

std::vector<std::int64_t> owners_of_rows(const Layout& layout, int mode, std::int64_t rank) {
    std::vector<std::int64_t> result;
    const auto mine = block_position(layout, rank);
    if (mine.count() == 0) return result;
    for (std::int64_t r = 0; r < layout.grid().ranks(); ++r)
        if (layout.is_first_copy(r) && layout.coordinate(r, mode) == mine.coordinate[mode] && layout.local_size(r) > 0) result.push_back(r);
    return result;
}

std::vector<RowTraffic> row_traffic(const Layout& layout, int mode) {
    const auto ranks = layout.grid().ranks();
    std::vector<std::int64_t> members(layout.slot(mode).grid_length(), 0), number;
    std::vector<BlockPosition> blocks;
    for (std::int64_t rank = 0; rank < ranks; ++rank) {
        blocks.push_back(block_position(layout, rank));
        auto& count = members[blocks.back().coordinate[mode]];
        number.push_back(count);
        if (blocks.back().count() > 0) ++count;
    }
    std::vector<RowTraffic> result;
    for (std::size_t rank = 0; rank < blocks.size(); ++rank) {
        result.emplace_back();
        if (blocks[rank].count() == 0) continue;
        const std::size_t m = mode;
        const auto rows = blocks[rank].sizes[m], group = members[blocks[rank].coordinate[m]];
        const auto owned = count_residues(rows, number[rank], group);
        result.back() = {owned, owned * (group - 1), rows - owned};
    }
    return result;
}

RowTraffic row_traffic(const Layout& layout, int mode, std::int64_t rank) {
    return layout.grid().is_idle(rank) ? RowTraffic() : row_traffic(layout, mode)[rank];
}

std::int64_t sum_bytes(std::int64_t ranks, std::int64_t rank, std::int64_t count) {
    const std::int64_t paired = std::bit_floor(static_cast<std::uint64_t>(ranks));
    const auto steps = static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(paired))) - 1;
    const auto messages = rank >= paired ? 1 : steps + (rank + paired < ranks ? 1 : 0);
    return messages * count * std::int64_t{sizeof(double)};
}

}  // namespace arges::decompose
