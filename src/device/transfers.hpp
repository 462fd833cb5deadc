/// Strided and listed copies on a device: runs, transposed tiles, and sums where a target repeats.
#pragma once

#include "arges/element_kernels.hpp"
#include "arges/error.hpp"
#include "device/machine.hpp"
#include "local/transfer_plan.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace arges::device {

inline constexpr int most_axes = 32;

/// An axis of a transfer, cut into tiles.
struct MovedAxis {
    std::int64_t count = 1, from_stride = 0, to_stride = 0;
    const std::int64_t *from = nullptr, *to = nullptr;  ///< null: strides
    const std::uint8_t* factor = nullptr;
    const std::int64_t* runs = nullptr;  ///< where runs of one target begin, and the end of the last
    std::int64_t tile = 1;
    ARGES_ON_DEVICE std::int64_t from_at(std::int64_t i) const { return from != nullptr ? from[i] : i * from_stride; }
    ARGES_ON_DEVICE std::int64_t to_at(std::int64_t i) const { return to != nullptr ? to[i] : i * to_stride; }
    ARGES_ON_DEVICE unsigned factor_at(std::int64_t i) const { return factor != nullptr ? factor[i] : 0U; }
    ARGES_ON_DEVICE std::int64_t tiles() const { return (count + tile - 1) / tile; }
};

/// What all transfers have.
template <class N>
struct Moved {
    std::array<MovedAxis, most_axes> axis{};
    int axes = 0;
    const N* from = nullptr;
    N* to = nullptr;
    N alpha{};
    bool scaled = false, accumulate = false;
    unsigned factor = 0;

    /// With which elements are multiplied: zeros get the signs that they have on the host.
    /// @param bits  of a factor that all have; each has one of its own where an axis has factors
    void multiply_by(N coefficient, unsigned bits) {
        const bool differ = std::any_of(axis.begin(), axis.begin() + axes, [](const MovedAxis& a) { return a.factor != nullptr; });
        factor = differ ? bits : bits & 2U;
        alpha = differ || (bits & 1U) == 0 ? coefficient : -coefficient;
        scaled = alpha != N(1) || (is_complex<N> && (differ || factor != 0));
    }
    ARGES_ON_DEVICE N value(unsigned more, N x) const {
        const unsigned bits = factor ^ more;
        const N y = related(bits & 2U, x);
        return related(bits & 1U, scaled ? alpha * y : y);
    }
    ARGES_ON_DEVICE void put(std::int64_t at, N x) const { to[at] = accumulate ? to[at] + x : x; }
    std::int64_t blocks() const {
        std::int64_t product = 1;
        for (int a = 0; a < axes; ++a) product *= axis[a].tiles();
        return product;
    }
};

/// The tile of a block: where its entries begin along the first axes, and what the others add.
template <int tiled>
struct TileOf {
    std::array<std::int64_t, tiled> begin{};
    std::array<unsigned, tiled> size{};
    std::int64_t from = 0, to = 0;
    unsigned factor = 0;

    template <class N>
    ARGES_ON_DEVICE TileOf(const Moved<N>& x, std::int64_t block) {
        for (int a = 0; a < x.axes; ++a) {
            const auto& axis = x.axis[a];
            const auto i = take_digit(block, axis.tiles()) * axis.tile;
            if (a < tiled) {
                begin[a] = i;
                size[a] = static_cast<unsigned>(axis.count - i < axis.tile ? axis.count - i : axis.tile);
            } else {
                from += axis.from_at(i);
                to += axis.to_at(i);
                factor ^= axis.factor_at(i);
            }
        }
    }
};

/// Tiles over up to three axes, the one with the closest writes first.
template <class N>
struct MoveRuns {
    Moved<N> x;
    ARGES_ON_DEVICE void operator()(std::int64_t block, int thread) const {
        const TileOf<3> tile(x, block);
        const unsigned size = tile.size[0] * tile.size[1] * tile.size[2];
        for (unsigned e = thread; e < size; e += threads) {
            const unsigned rest = e / tile.size[0];
            const std::int64_t i = tile.begin[0] + e % tile.size[0], j = tile.begin[1] + rest % tile.size[1],
                               k = tile.begin[2] + rest / tile.size[1];
            const auto &p = x.axis[0], &q = x.axis[1], &r = x.axis[2];
            const N value = x.from[tile.from + p.from_at(i) + q.from_at(j) + r.from_at(k)];
            x.put(tile.to + p.to_at(i) + q.to_at(j) + r.to_at(k),
                  x.value(tile.factor ^ p.factor_at(i) ^ q.factor_at(j) ^ r.factor_at(k), value));
        }
    }
};

/// Reads are closest along the first axis, writes along the second.
template <class N>
struct MoveTiles {
    Moved<N> x;
    ARGES_ON_DEVICE void load(std::int64_t block, int thread, N* room) const {
        const TileOf<2> tile(x, block);
        for (unsigned e = thread; e < tile.size[0] * tile.size[1]; e += threads) {
            const unsigned i = e % tile.size[0], j = e / tile.size[0];
            room[j * tile_row + i] = x.from[tile.from + x.axis[0].from_at(tile.begin[0] + i) + x.axis[1].from_at(tile.begin[1] + j)];
        }
    }
    ARGES_ON_DEVICE void store(std::int64_t block, int thread, const N* room) const {
        const TileOf<2> tile(x, block);
        for (unsigned e = thread; e < tile.size[0] * tile.size[1]; e += threads) {
            const unsigned j = e % tile.size[1], i = e / tile.size[1];
            const auto at_i = tile.begin[0] + i, at_j = tile.begin[1] + j;
            x.put(tile.to + x.axis[0].to_at(at_i) + x.axis[1].to_at(at_j),
                  x.value(tile.factor ^ x.axis[0].factor_at(at_i) ^ x.axis[1].factor_at(at_j), room[j * tile_row + i]));
        }
    }
};

/// Sums over runs of entries with one target, for each target. Axes of target stride 0 are one run.
template <class N>
struct SumRuns {
    Moved<N> x;
    using Value = N;

    /// How many entries of an axis a group adds up, and the first.
    ARGES_ON_DEVICE static std::int64_t run(const MovedAxis& axis, std::int64_t& group, std::int64_t& begin) {
        const auto i = take_digit(group, axis.tiles());
        begin = axis.runs != nullptr ? axis.runs[i] : i * axis.tile;
        return axis.runs != nullptr ? axis.runs[i + 1] - begin : axis.tile;
    }
    ARGES_ON_DEVICE N none() const { return N(0); }
    ARGES_ON_DEVICE N add(N a, N b) const { return a + b; }
    ARGES_ON_DEVICE N partial(std::int64_t group, std::int64_t first, std::int64_t step) const {
        std::array<std::int64_t, most_axes> begin{}, count{};
        std::int64_t all = 1;
        for (int a = 0; a < x.axes; ++a) all *= count[a] = run(x.axis[a], group, begin[a]);
        N sum(0);
        for (auto t = first; t < all; t += step) {
            std::int64_t rest = t, from = 0;
            unsigned factor = 0;
            for (int a = 0; a < x.axes; ++a) {
                const auto i = begin[a] + take_digit(rest, count[a]);
                from += x.axis[a].from_at(i);
                factor ^= x.axis[a].factor_at(i);
            }
            sum = sum + x.value(factor, x.from[from]);
        }
        return sum;
    }
    ARGES_ON_DEVICE void store(std::int64_t group, N sum) const {
        std::int64_t to = 0, begin = 0;
        for (int a = 0; a < x.axes; ++a) {
            run(x.axis[a], group, begin);
            to += x.axis[a].to_at(begin);
        }
        x.put(to, sum);
    }
};

/// Entries of a list.
template <class N>
struct MoveListed {
    Moved<N> x;
    ARGES_ON_DEVICE void operator()(std::int64_t i) const {
        const auto& list = x.axis[0];
        x.put(list.to_at(i), x.value(list.factor_at(i), x.from[list.from_at(i)]));
    }
};

/// The offsets of an axis on one side.
inline void extend(Range& range, std::int64_t count, std::int64_t stride, const std::int64_t* list) {
    if (list == nullptr) return range.stride(count, stride);
    const auto [low, high] = std::minmax_element(list, list + count);
    range.extend(*low, *high);
}

/// Where runs of equal entries begin, and the end; nothing if there are none.
inline std::vector<std::int64_t> runs_of(const std::int64_t* list, std::int64_t count) {
    std::vector<std::int64_t> begins;
    for (std::int64_t i = 0; i < count; ++i)
        if (i == 0 || list[i] != list[i - 1]) begins.push_back(i);
    if (std::ssize(begins) == count) return {};
    begins.push_back(count);
    return begins;
}

/// One call of the table's transfer, its lists on the device.
template <class M, class N>
class Transfer {
public:
    Transfer(std::span<const local::TransferAxis> axes, const N* from, N* to, N alpha, local::TransferMode mode)
        : plan_(local::plan_transfer(axes, sizeof(N), mode.accumulate)) {
        if (plan_.size == 0) return;
        if (plan_.axes.size() > most_axes)
            throw Unsupported("a transfer of more than " + std::to_string(most_axes) + " axes on a device; set ARGES_DEVICE=none");
        x_.from = from + plan_.from_offset;
        x_.to = to + plan_.to_offset;
        x_.accumulate = mode.accumulate;
        for (const auto& planned : plan_.axes) add(planned);
        x_.multiply_by(alpha, plan_.factor ^ (mode.conjugate ? 2U : 0U));
    }

    void run() {
        if (plan_.size == 0) return;
        if (repeats_) return sum();
        auto& x = x_;
        const bool turned = x.axis[1].count > 1 && distance(plan_.axes[0].axis) > distance(plan_.axes[1].axis);
        if (turned) {
            x.axis[0].tile = std::min<std::int64_t>(x.axis[0].count, tile_side);
            x.axis[1].tile = std::min<std::int64_t>(x.axis[1].count, tile_side);
            return M::template tiles<N>(x.blocks(), MoveTiles<N>{x});
        }
        x.axes = std::max(x.axes, 3);
        std::int64_t room = 16 * threads;
        for (int a = 0; a < 3; ++a) {
            x.axis[a].tile = std::min(x.axis[a].count, room);
            room /= x.axis[a].tile;
        }
        M::blocks(x.blocks(), MoveRuns<N>{x});
    }

private:
    /// Of the targets of neighbouring entries.
    static std::int64_t distance(const local::TransferAxis& axis) {
        if (axis.count == 1) return 0;
        return std::abs(axis.to != nullptr ? axis.to[1] - axis.to[0] : axis.to_stride);
    }

    void add(const local::PlannedAxis& planned) {
        const auto& given = planned.axis;
        auto& axis = x_.axis[x_.axes++];
        axis.count = given.count;
        axis.from_stride = given.from_stride;
        axis.to_stride = given.to_stride;
        axis.from = lists_.put(given.from, given.count);
        axis.to = lists_.put(given.to, given.count);
        axis.factor = lists_.put(given.factor, given.count);
        if (!planned.repeats || given.count == 1) return;
        if (given.to == nullptr) {
            axis.tile = given.count;
            terms_ *= given.count;
            repeats_ = true;
        } else if (const auto runs = runs_of(given.to, given.count); !runs.empty()) {
            axis.runs = lists_.put(runs);
            axis.count = std::ssize(runs) - 1;
            terms_ *= (given.count + axis.count - 1) / axis.count;
            repeats_ = true;
        }
    }

    void sum() { sums<M>(x_.blocks(), terms_, SumRuns<N>{x_}); }

    local::TransferPlan plan_;
    Lists<M> lists_;
    Moved<N> x_;
    std::int64_t terms_ = 1;  // of a sum, about
    bool repeats_ = false;
};

/// As the tables' transfer: arrays may be the host's.
template <class M, class N>
void transfer(std::span<const local::TransferAxis> axes, const void* from, void* to, N alpha, local::TransferMode mode) {
    Range read, written;
    std::int64_t size = 1;
    for (const auto& axis : axes) {
        if ((size *= axis.count) == 0) return;
        extend(read, axis.count, axis.from_stride, M::has(from) ? nullptr : axis.from);
        extend(written, axis.count, axis.to_stride, M::has(to) ? nullptr : axis.to);
    }
    Reached<M, N> source(from, read), target(to, written, mode.accumulate || size != written.size());
    Transfer<M, N>(axes, source.data(), target.data(), alpha, mode).run();
    target.write_back();
}

template <class M, class N>
void transfer_listed(const local::ListedTransfer& list, const void* from, void* to, N alpha, local::TransferMode mode) {
    if (list.count == 0) return;
    Range read, written;
    extend(read, list.count, 1, M::has(from) ? nullptr : list.from);
    extend(written, list.count, 1, M::has(to) ? nullptr : list.to);
    Reached<M, N> source(from, read), target(to, written, mode.accumulate || list.count != written.size());
    Lists<M> lists;
    Moved<N> x;
    x.axes = 1;
    x.axis[0] = {.count = list.count,
                 .from_stride = 1,
                 .to_stride = 1,
                 .from = lists.put(list.from, list.count),
                 .to = lists.put(list.to, list.count),
                 .factor = lists.put(list.factors, list.count)};
    x.from = source.data();
    x.to = target.data();
    x.accumulate = mode.accumulate;
    x.multiply_by(alpha, list.factor ^ (mode.conjugate ? 2U : 0U));
    const auto runs = mode.accumulate && list.to != nullptr ? runs_of(list.to, list.count) : std::vector<std::int64_t>();
    if (runs.empty()) {
        for_each<M>(list.count, MoveListed<N>{x});
    } else {
        x.axis[0].runs = lists.put(runs);
        x.axis[0].count = std::ssize(runs) - 1;
        sums<M>(x.axis[0].count, (list.count + x.axis[0].count - 1) / x.axis[0].count, SumRuns<N>{x});
    }
    target.write_back();
}

}  // namespace arges::device
