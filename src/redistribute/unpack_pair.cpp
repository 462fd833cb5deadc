// Unpacks a pair node in tiles that keep the cache lines of both triangles in use.
#include "redistribute/pair_kernels.hpp"

#include "base/instantiate.hpp"
#include "base/related_value.hpp"

#include <algorithm>

namespace arges {

namespace {

// Child indices c0 <= c1 are contiguous in c0 in the packed source, c0 > c1 in c1: tiles of both keep cache lines in use.
constexpr std::int64_t tile_0 = 128, tile_1 = 16;

std::uint8_t factor_of(const EntryGroup& group, std::int64_t i) { return group.factor.empty() ? std::uint8_t{0} : group.factor[i]; }

/// What elements with the children exchanged have in addition.
std::uint8_t factor_above(NodeKind kind) { return kind == NodeKind::antisymmetric ? 1 : kind == NodeKind::hermitian ? 2 : 0; }

/// One row: e1 is fixed, e0 runs over a tile.
template <class T, bool Plain>
class Row {
public:
    Row(const PairUnpack& pair, const std::vector<std::int64_t>& triangle, std::uint8_t upper, std::uint8_t both)
        : pair_(pair), triangle_(triangle), upper_(upper), both_(both) {
        const auto& c = pair.child[0].from;
        for (std::size_t i = 1; i < c.size(); ++i) ordered_ = ordered_ && c[i] == c[i - 1] + 1;
    }

    template <class Put>
    void run(std::int64_t e1, std::int64_t begin, std::int64_t end, const T* from, Put&& put) const {
        const auto& rows = pair_.child[0];
        const auto& columns = pair_.child[1];
        const auto c1 = columns.from[e1];
        const auto shift = pair_.strict ? c1 * (c1 - 1) / 2 : c1 * (c1 + 1) / 2;
        const auto row_factor = static_cast<std::uint8_t>(both_ ^ factor_of(columns, e1));
        const auto* const c = rows.from.data();
        if (Plain && ordered_ && !pair_.strict && c[end - 1] <= c1) {
            // The whole tile is below the diagonal and in order: one contiguous piece of the source.
            const T* const piece = from + shift + c[begin];
            const auto* const at = rows.to.data() + begin;
            for (std::int64_t i = 0; i < end - begin; ++i) put(at[i], piece[i]);
            return;
        }
        if (Plain && ordered_ && c[begin] > c1) {
            // The whole tile is above the diagonal.
            const T* const column = from + c1;
            for (auto e0 = begin; e0 < end; ++e0) put(rows.to[e0], column[triangle_[e0]]);
            return;
        }
        for (auto e0 = begin; e0 < end; ++e0) {
            const std::size_t i = e0;
            const auto c0 = rows.from[i];
            if (pair_.strict && c0 == c1) continue;
            const T value = from[c0 <= c1 ? shift + c0 : triangle_[i] + c1];
            if constexpr (Plain)
                put(rows.to[i], value);
            else
                put(rows.to[i], related_value(static_cast<std::uint8_t>(row_factor ^ factor_of(rows, e0) ^ (c0 > c1 ? upper_ : 0)), value));
        }
    }

private:
    const PairUnpack& pair_;
    const std::vector<std::int64_t>& triangle_;  // first packed index of each row child as the larger one
    bool ordered_ = true;                        // the rows' child indices are consecutive
    std::uint8_t upper_, both_;                  // factors where the children are exchanged, and everywhere
};

template <class T, bool Plain>
void unpack(const PairUnpack& pair, const Row<T, Plain>& row, const T* from, T* to, T alpha, bool accumulate) {
    const auto n0 = pair.child[0].count(), n1 = pair.child[1].count();
#pragma omp parallel for schedule(static) if (n0 * n1 > 65536)
    for (std::int64_t first = 0; first < n1; first += tile_1)
        for (std::int64_t begin = 0; begin < n0; begin += tile_0)
            for (auto e1 = first; e1 < std::min(n1, first + tile_1); ++e1) {
                T* const out = to + pair.child[1].to[e1];
                const auto end = std::min(n0, begin + tile_0);
                if (accumulate)
                    row.run(e1, begin, end, from, [&](std::int64_t at, T value) { out[at] += alpha * value; });
                else
                    row.run(e1, begin, end, from, [&](std::int64_t at, T value) { out[at] = alpha * value; });
            }
}

}  // namespace

void unpack_pair(const ElementKernels& kernels, const PairUnpack& pair, const void* from, void* to, const void* alpha, bool conjugate,
                 bool accumulate) {
    if (kernels.unpack_pair != nullptr) return kernels.unpack_pair(pair, from, to, alpha, conjugate, accumulate);
    const auto& rows = pair.child[0];
    const auto& columns = pair.child[1];
    const auto first_of = [&](std::int64_t larger) { return pair.strict ? larger * (larger - 1) / 2 : larger * (larger + 1) / 2; };
    std::vector<std::int64_t> sources, targets;
    std::vector<std::uint8_t> factors;
    for (std::int64_t e1 = 0; e1 < columns.count(); ++e1) {
        sources.clear();
        targets.clear();
        factors.clear();
        const auto c1 = columns.from[e1];
        for (std::int64_t e0 = 0; e0 < rows.count(); ++e0) {
            const auto c0 = rows.from[e0];
            if (pair.strict && c0 == c1) continue;
            sources.push_back(first_of(std::max(c0, c1)) + std::min(c0, c1));
            targets.push_back(columns.to[e1] + rows.to[e0]);
            factors.push_back(
                static_cast<std::uint8_t>(factor_of(rows, e0) ^ factor_of(columns, e1) ^ (c0 > c1 ? factor_above(pair.kind) : 0)));
        }
        kernels.transfer_listed({.count = std::ssize(sources), .from = sources.data(), .to = targets.data(), .factors = factors.data()},
                                from, to, alpha, {conjugate, accumulate});
    }
}

template <class T>
void unpack_pair(const PairUnpack& pair, const T* from, T* to, T alpha, bool conjugate, bool accumulate) {
    std::vector<std::int64_t> triangle;
    for (auto c : pair.child[0].from) triangle.push_back(pair.strict ? c * (c - 1) / 2 : c * (c + 1) / 2);
    const std::uint8_t upper = factor_above(pair.kind);
    const std::uint8_t both = conjugate ? 2 : 0;
    if (upper == 0 && both == 0 && pair.child[0].factor.empty() && pair.child[1].factor.empty())
        unpack(pair, Row<T, true>(pair, triangle, upper, both), from, to, alpha, accumulate);
    else
        unpack(pair, Row<T, false>(pair, triangle, upper, both), from, to, alpha, accumulate);
}

#define ARGES_INSTANTIATE(T) template void unpack_pair(const PairUnpack&, const T*, T*, T, bool, bool);
ARGES_FOR_EACH_ELEMENT_TYPE(ARGES_INSTANTIATE)
#undef ARGES_INSTANTIATE

}  // namespace arges
