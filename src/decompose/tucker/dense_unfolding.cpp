// Layouts and moves that make a mode whole on every rank, and products with a mode.
#include "decompose/tucker/dense_unfolding.hpp"

#include "decompose/distribution/dense_block.hpp"
#include "interface/dense/run_movement.hpp"
#include "interface/dense/tensor_state.hpp"
#include "local/contract.hpp"
#include "plan/movement/movement.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

namespace arges::decompose {

namespace {

/// A new tensor like another one on a layout.
std::shared_ptr<TensorState> on_layout(const TensorState& like, Layout layout) {
    return TensorState::make(
        like.world->kernels(*like.kernels), like.world_handle, [&] { return like.world->intern(std::move(layout)); }, like.name);
}

}  // namespace

MiddleMode::MiddleMode(const std::vector<std::int64_t>& sizes, int mode) {
    for (std::size_t m = 0; m < sizes.size(); ++m) {
        auto& part = static_cast<int>(m) < mode ? before : static_cast<int>(m) == mode ? length : behind;
        part *= sizes[m];
    }
}

Layout layout_with_whole_mode(const Layout& layout, int mode, std::span<const int> settled) {
    std::vector<SlotMapping> mapping;
    std::vector<std::int64_t> places;
    for (int s = 0; s < layout.slots(); ++s) {
        mapping.emplace_back();
        if (s != mode) mapping.back().torus = layout.mapping(s).all();
        places.push_back(s == mode ? 1 : layout.slot(s).grid_length());
    }
    for (int dimension : layout.mapping(mode).all()) {
        const auto length = layout.grid().lengths[dimension];
        int best = -1;
        bool best_settled = false;
        for (int s = 0; s < layout.slots(); ++s) {
            const auto local = [&](int slot) { return layout.extents()[slot] / places[slot]; };
            if (s == mode || local(s) < length) continue;
            const bool is_settled = std::find(settled.begin(), settled.end(), s) != settled.end() && local(s) >= 4 * length;
            if (best >= 0 && (best_settled > is_settled || (best_settled == is_settled && local(best) >= local(s)))) continue;
            best = s;
            best_settled = is_settled;
        }
        if (best < 0) continue;
        mapping[best].torus.push_back(dimension);
        places[best] *= length;
    }
    return {layout.grid(), layout.extents(), Symmetry::none(layout.order()), std::move(mapping)};
}

Layout layout_with_spread_mode(const Layout& layout, int mode) {
    std::vector<SlotMapping> mapping(layout.order());
    auto left = layout.extents()[mode];
    for (int d = 0; d < layout.grid().dimensions(); ++d) {
        const auto length = layout.grid().lengths[d];
        if (length > left) continue;
        mapping[mode].torus.push_back(d);
        left /= length;
    }
    return {layout.grid(), layout.extents(), Symmetry::none(layout.order()), std::move(mapping)};
}

Layout layout_with_length(const Layout& layout, int mode, std::int64_t length) {
    auto extents = layout.extents();
    extents[mode] = length;
    std::vector<SlotMapping> mapping(layout.slots());
    for (int s = 0; s < layout.slots(); ++s) mapping[s].torus = layout.mapping(s).all();
    return {layout.grid(), std::move(extents), Symmetry::none(layout.order()), std::move(mapping)};
}

std::pair<std::shared_ptr<TensorState>, std::int64_t> state_on(const TensorState& from, Layout layout) {
    auto to = on_layout(from, std::move(layout));
    const auto spec = copy_between(from.shape(), to->shape());
    run_movement(*to->world, *to->kernels, spec, {from.bytes.data(), from.kernels}, to->bytes.data(), nullptr, to->kernels->zero);
    return {to, movement_volume(spec, to->rank()).sent * to->kernels->size};
}

std::int64_t gram_bytes(std::int64_t ranks, std::int64_t rank, std::int64_t length) {
    return sum_to_first_bytes(ranks, rank, length * (length + 1) / 2);
}

std::shared_ptr<TensorState> mode_product(const TensorState& from, int mode, const void* u, std::int64_t columns) {
    const auto& shape = from.shape();
    auto result = on_layout(from, layout_with_length(shape, mode, columns));
    if (from.count() == 0) return result;
    std::vector<std::int64_t> sizes;
    for (int s = 0; s < shape.slots(); ++s) sizes.push_back(shape.local_sizes(from.rank())[s]);
    const MiddleMode at(sizes, mode);
    local::FoldedContraction f;
    f.m = {{at.before, 1, 0, 1}, {at.behind, at.before * at.length, 0, at.before * columns}};
    f.k = {{at.length, at.before, 1, 0}};
    f.n = {{columns, 0, at.length, at.before}};
    const auto& kernels = from.on_device ? *from.kernels : *result->kernels;  // which reach both
    kernels.contract(f, kernels.one, from.bytes.data(), u, kernels.zero, result->bytes.data());
    return result;
}

template <class T>
Buffer<T> model_block(std::span<const T> core, const std::vector<std::int64_t>& ranks, const std::vector<const T*>& factors,
                      const Layout& layout, std::int64_t rank) {
    if (layout.grid().is_idle(rank) || layout.local_size(rank) == 0) return {};
    const auto local = layout.local_sizes(rank);
    auto sizes = ranks;
    Buffer<T> block(std::ssize(core));
    std::copy(core.begin(), core.end(), block.data());
    for (int m = 0; m < layout.order(); ++m) {
        const MiddleMode at(sizes, m);
        const auto length = layout.extents()[m], rows = local[m], first = layout.coordinate(rank, m), step = layout.slot(m).grid_length();
        std::vector<T> mine;  // rows of the factor, column after column
        for (std::int64_t c = 0; c < at.length; ++c)
            for (std::int64_t x = 0; x < rows; ++x) mine.push_back(factors[m][first + x * step + c * length]);
        Buffer<T> next(at.before * rows * at.behind);
        local::FoldedContraction f;
        f.m = {{at.before, 1, 0, 1}, {at.behind, at.before * at.length, 0, at.before * rows}};
        f.k = {{at.length, at.before, rows, 0}};
        f.n = {{rows, 0, 1, at.before}};
        local::contract<T>(f, T(1), block.data(), mine.data(), T(0), next.data());
        block = std::move(next);
        sizes[m] = rows;
    }
    return block;
}

std::int64_t model_block_memory(std::int64_t element_bytes, const std::vector<std::int64_t>& ranks, const Layout& layout,
                                std::int64_t rank) {
    const auto local = layout.local_sizes(rank);
    auto sizes = ranks;
    const auto bytes = [&] {
        return array_memory(std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>()) * element_bytes);
    };
    const auto core = bytes();
    std::int64_t before = core, blocks = core, rows = 0;
    for (std::size_t m = 0; m < sizes.size(); ++m) {
        sizes[m] = local[m];
        const auto after = bytes();
        blocks = std::max(blocks, before + after);
        rows = std::max(rows, 2 * local[m] * ranks[m] * element_bytes);
        before = after;
    }
    return core + blocks + rows + local::max_workspace_bytes;
}

template Buffer<float> model_block(std::span<const float>, const std::vector<std::int64_t>&, const std::vector<const float*>&,
                                   const Layout&, std::int64_t);
template Buffer<double> model_block(std::span<const double>, const std::vector<std::int64_t>&, const std::vector<const double*>&,
                                    const Layout&, std::int64_t);

}  // namespace arges::decompose
