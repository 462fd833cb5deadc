// Gram matrices of matricizations in panels, summed by each thread in single precision over a few thousand terms only, and
// moves that make a mode whole on every rank.
#include "decompose/tucker/dense_unfolding.hpp"

#include "base/buffer.hpp"
#include "base/first_error.hpp"
#include "base/math.hpp"
#include "decompose/distribution/dense_block.hpp"
#include "interface/run_movement.hpp"
#include "interface/tensor_state.hpp"
#include "local/blas.hpp"
#include "local/contract.hpp"
#include "plan/movement/movement.hpp"

#include <omp.h>

#include <algorithm>
#include <numeric>

namespace arges::decompose {

namespace {

/// Columns of a matricization that are multiplied at once: few enough to be summed in single precision. Fewer where they are
/// put together from short pieces, so that the panel stays in the cache.
constexpr std::int64_t panel_terms = 4096, packed_terms = 512;

/// A sum of products of panels, in the lower triangle of a Gram matrix. For one thread, with one thread of BLAS.
template <class T>
struct GramSum {
    std::int64_t length;
    Gram gram;
    std::vector<T> part;

    /// Adds P P^T for a panel of length x terms (column-major), or of its transpose.
    void add(const T* panel, std::int64_t ld, bool transposed, std::int64_t terms) {
        local::add_gram<T>(length, terms, {panel, ld, transposed}, gram.data(), part);
    }
};

/// How a block is cut into panels of about panel_terms columns of the matricization.
struct Panels {
    enum class Kind : std::uint8_t { columns, rows, packed };
    Kind kind;
    std::int64_t step, per_run, count;
    bool copies_rows;  // because the distance of the columns is more than BLAS takes

    Panels(const MiddleMode& at, std::int64_t longest_stride) : copies_rows(at.before > longest_stride) {
        const bool first = at.before == 1, long_runs = at.before >= panel_terms / 4 || at.behind == 1;
        kind = first ? Kind::columns : long_runs ? Kind::rows : Kind::packed;
        const auto terms = first ? at.behind : at.before;
        step = kind == Kind::packed ? ceil_div(packed_terms, at.before) : std::min(terms, panel_terms);
        per_run = kind == Kind::packed ? 1 : ceil_div(terms, step);
        count = first ? per_run : kind == Kind::rows ? per_run * at.behind : ceil_div(at.behind, step);
    }
};

/// Adds one panel. `scratch` takes panels that are put together from short pieces.
template <class T>
void add_panel(const T* block, const MiddleMode& at, const Panels& panels, std::int64_t number, Buffer<T>& scratch, GramSum<T>& sum) {
    const auto begin = number % panels.per_run * panels.step;
    if (panels.kind == Panels::Kind::columns)
        return sum.add(block + begin * at.length, at.length, false, std::min(panels.step, at.behind - begin));
    if (panels.kind == Panels::Kind::rows) {
        const T* const run = block + number / panels.per_run * at.before * at.length + begin;
        const auto terms = std::min(panels.step, at.before - begin);
        if (!panels.copies_rows) return sum.add(run, at.before, true, terms);
        scratch.reserve(panels.step * at.length);
        for (std::int64_t i = 0; i < at.length; ++i) std::copy_n(run + i * at.before, terms, scratch.data() + i * terms);
        return sum.add(scratch.data(), terms, true, terms);
    }
    const auto first = number * panels.step, together = std::min(panels.step, at.behind - first), rows = together * at.before;
    scratch.reserve(panels.step * at.before * at.length);
    for (std::int64_t k = 0; k < together; ++k)
        for (std::int64_t i = 0; i < at.length; ++i)
            std::copy_n(block + (i + (first + k) * at.length) * at.before, at.before, scratch.data() + i * rows + k * at.before);
    sum.add(scratch.data(), rows, true, rows);
}

/// A new tensor like another one on a layout.
std::shared_ptr<TensorState> on_layout(const TensorState& like, Layout layout) {
    return TensorState::make(
        *like.kernels, like.world_handle, [&] { return like.world->intern(std::move(layout)); }, like.name);
}

}  // namespace

template <class T>
Gram gram_of_block(const T* block, const MiddleMode& at, std::int64_t longest_stride) {
    const Panels panels(at, longest_stride);
    const auto threads = std::clamp<std::int64_t>(panels.count, 1, omp_get_max_threads());
    std::vector<GramSum<T>> sums(threads, GramSum<T>{at.length, Gram(static_cast<std::size_t>(at.length * at.length), 0), {}});
    std::vector<Buffer<T>> scratch(threads);
    FirstError error;
#pragma omp parallel for schedule(static, 1) num_threads(static_cast <int>(threads))
    for (std::int64_t t = 0; t < threads; ++t)
        error.run([&] {
            const std::size_t thread = t;
            for (auto p = panels.count * t / threads; p < panels.count * (t + 1) / threads; ++p)
                add_panel(block, at, panels, p, scratch[thread], sums[thread]);
        });
    error.rethrow();
    auto gram = sums[0].gram;
    for (std::size_t t = 1; t < sums.size(); ++t)
        for (std::size_t i = 0; i < gram.size(); ++i) gram[i] += sums[t].gram[i];
    return gram;
}

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

std::pair<std::shared_ptr<TensorState>, std::int64_t> state_on(const TensorState& from, Layout layout) {
    auto to = on_layout(from, std::move(layout));
    const auto spec = copy_between(from.shape(), to->shape());
    run_movement(*to->world, *to->kernels, spec, from.bytes.data(), to->bytes.data(), nullptr, to->kernels->zero);
    return {to, movement_volume(spec, to->rank()).sent * to->kernels->size};
}

template <class T>
double norm_squared(const Tensor<T>& tensor) {
    constexpr std::int64_t run = 4096;
    const auto& state = *tensor.state();
    const auto count = block_position(state.shape(), state.rank()).count();
    std::vector<double> sums(ceil_div(count, run));
    const HostElements here(state);
    const T* const x = here.of<T>();
#pragma omp parallel for schedule(static)
    for (std::int64_t begin = 0; begin < count; begin += run) {
        double sum = 0;
#pragma omp simd reduction(+ : sum)
        for (std::int64_t i = begin; i < std::min(count, begin + run); ++i) sum += static_cast<double>(x[i]) * x[i];
        sums[begin / run] = sum;
    }
    double total = std::accumulate(sums.begin(), sums.end(), 0.0);
    state.world->communicator().sum(&total, 1);
    return total;
}

template <class T>
Gram mode_gram(const Tensor<T>& tensor, int mode) {
    const auto& state = *tensor.state();
    const std::size_t n = tensor.extents()[mode];
    const auto place = block_position(state.shape(), state.rank());
    Gram gram;
    std::vector<double> lower;
    state.world->agree([&] {
        lower.reserve(n * (n + 1) / 2);
        if (place.count() > 0)
            gram = gram_of_block<T>(HostElements(state).of<T>(), MiddleMode(place.sizes, mode));
        else
            gram.assign(n * n, 0);
    });
    if (state.world->size() == 1) return gram;
    const auto element = [&](std::size_t i) { return gram.begin() + i; };
    for (std::size_t c = 0; c < n; ++c) lower.insert(lower.end(), element(c * n + c), element(c * n + n));
    sum_to_first(state.world->communicator(), lower);
    auto at = lower.begin();
    for (std::size_t c = 0; c < n; ++c) {
        std::copy_n(at, n - c, element(c * n + c));
        at += static_cast<std::ptrdiff_t>(n - c);
    }
    return gram;
}

std::int64_t gram_bytes(std::int64_t ranks, std::int64_t rank, std::int64_t length) {
    return sum_to_first_bytes(ranks, rank, length * (length + 1) / 2);
}

std::shared_ptr<TensorState> mode_product(const TensorState& from, int mode, const void* u, std::int64_t columns) {
    const auto& shape = from.shape();
    auto extents = shape.extents();
    extents[mode] = columns;
    std::vector<SlotMapping> mapping;
    for (int s = 0; s < shape.slots(); ++s) {
        mapping.emplace_back();
        mapping.back().torus = shape.mapping(s).all();
    }
    auto result = on_layout(from, Layout(shape.grid(), std::move(extents), Symmetry::none(shape.order()), std::move(mapping)));
    if (from.count() == 0) return result;
    std::vector<std::int64_t> sizes;
    for (int s = 0; s < shape.slots(); ++s) sizes.push_back(shape.local_sizes(from.rank())[s]);
    const MiddleMode at(sizes, mode);
    local::FoldedContraction f;
    f.m = {{at.before, 1, 0, 1}, {at.behind, at.before * at.length, 0, at.before * columns}};
    f.k = {{at.length, at.before, 1, 0}};
    f.n = {{columns, 0, at.length, at.before}};
    const auto& kernels = *from.kernels;
    kernels.contract(f, kernels.one, from.bytes.data(), u, kernels.zero, result->bytes.data());
    return result;
}

#define ARGES_INSTANTIATE(T)                                                                                                               \
    template Gram gram_of_block(const T*, const MiddleMode&, std::int64_t);                                                                \
    template double norm_squared(const Tensor<T>&);                                                                                        \
    template Gram mode_gram(const Tensor<T>&, int);
ARGES_INSTANTIATE(float)
ARGES_INSTANTIATE(double)
#undef ARGES_INSTANTIATE

}  // namespace arges::decompose
