// A+ and A- of a tensor with joint pair symmetry, in blocks over one pair whose rows are contiguous in the packed source.
#include "redistribute/pair_kernels.hpp"

#include "arges/scalar.hpp"
#include "base/instantiate.hpp"

#include <algorithm>
#include <omp.h>
#include <vector>

namespace arges {

namespace {

std::int64_t triangle(std::int64_t c) { return c * (c + 1) / 2; }

/// First packed index of the larger index of a pair.
std::int64_t row_start(std::int64_t larger, bool symmetric) { return symmetric ? triangle(larger) : larger * (larger - 1) / 2; }

/// The block over (p0, p1) for one q0 <= q1: block[p1][p0] = P((p0,q0),(p1,q1)); rows are contiguous in the packed source.
template <class T>
void load_block(const PairSplit& split, std::int64_t q0, std::int64_t q1, const T* from, std::vector<T>& block) {
    const auto n = split.p;
    for (std::int64_t p1 = 0; p1 < n; ++p1) {
        const auto larger = p1 + n * q1;
        for (std::int64_t p0 = 0; p0 < n; ++p0) {
            const auto smaller = p0 + n * q0;
            block[p1 * n + p0] = smaller <= larger ? from[triangle(larger) + smaller] : from[triangle(smaller) + larger];
        }
    }
}

template <class T>
T conjugated_if(T value, bool conjugate) {
    if constexpr (!std::is_same_v<T, real_of<T>>)
        if (conjugate) return std::conj(value);
    return value;
}

}  // namespace

template <class T>
void split_pair(const PairSplit& split, const T* from, T* to, T alpha, bool conjugate) {
    const auto n = split.p;
    const std::int64_t strict = split.symmetric ? 0 : 1;
    const T sign = split.symmetric ? T(1) : T(-1);
    const bool threaded = n * n > 65536 / std::max<std::int64_t>(1, split.q * split.q);
    std::vector<std::vector<T>> blocks(threaded ? static_cast<std::size_t>(omp_get_max_threads()) : 1, std::vector<T>(n * n));
#pragma omp parallel for schedule(dynamic) if (threaded)
    for (std::int64_t q1 = 0; q1 < split.q; ++q1) {
        auto& block = blocks[omp_get_thread_num()];
        for (std::int64_t q0 = 0; q0 + strict <= q1; ++q0) {
            load_block(split, q0, q1, from, block);
            T* const out = to + (row_start(q1, split.symmetric) + q0) * split.stride_q;
            for (std::int64_t p1 = 0; p1 < n; ++p1) {
                T* const row = out + row_start(p1, split.symmetric) * split.stride_p;
                for (std::int64_t p0 = 0; p0 + strict <= p1; ++p0) {
                    const T value = block[p1 * n + p0] + sign * block[p0 * n + p1];
                    row[p0 * split.stride_p] += alpha * conjugated_if(value, conjugate);
                }
            }
        }
    }
}

#define ARGES_INSTANTIATE(T) template void split_pair(const PairSplit&, const T*, T*, T, bool);
ARGES_FOR_EACH_ELEMENT_TYPE(ARGES_INSTANTIATE)
#undef ARGES_INSTANTIATE

}  // namespace arges
