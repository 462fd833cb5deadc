// Movements on one rank that threads share: the same bits with any number of them, and those of the definition.
#include "redistribute/pair_kernels.hpp"

#include "arges/scalar.hpp"
#include "support/threads.hpp"

#include <gtest/gtest.h>

#include <complex>

namespace arges::test {
namespace {

/// A small integer, so that sums are exact.
template <class T>
T value(std::int64_t i) {
    const auto part = [](std::int64_t k) { return static_cast<real_of<T>>((k * 7919 + k / 13) % 17 - 8); };
    if constexpr (std::is_same_v<T, real_of<T>>)
        return part(i);
    else
        return {part(i), part(i + 5)};
}

template <class T>
T conjugated(T x) {
    if constexpr (std::is_same_v<T, real_of<T>>)
        return x;
    else
        return std::conj(x);
}

template <class T>
std::vector<T> values(std::int64_t count, std::int64_t first = 0) {
    std::vector<T> result;
    for (std::int64_t i = 0; i < count; ++i) result.push_back(value<T>(first + i));
    return result;
}

template <class T>
class MovementThreads : public testing::Test {};
using ElementTypes = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(MovementThreads, ElementTypes);

TYPED_TEST(MovementThreads, UnpackAPair) {
    using T = TypeParam;
    constexpr std::int64_t n = 300;  // 90,000 elements: more than one thread does
    for (auto kind : {NodeKind::symmetric, NodeKind::antisymmetric, NodeKind::hermitian})
        for (bool factors : {false, true})
            for (bool accumulate : {false, true}) {
                PairUnpack pair;
                pair.kind = kind;
                pair.strict = kind == NodeKind::antisymmetric;
                for (std::size_t c = 0; c < 2; ++c)
                    for (std::int64_t i = 0; i < n; ++i) {
                        pair.child[c].from.push_back(factors ? n - 1 - i : i);
                        pair.child[c].to.push_back(c == 0 ? i : i * (n + 3));
                        if (factors) pair.child[c].factor.push_back(i % 3 == 0 ? 1 : 0);
                    }
                const auto from = values<T>(n * (n + 1) / 2);
                const auto start = values<T>(n * (n + 3), 11);
                const T alpha = T(2);
                auto expected = start;
                for (std::int64_t e1 = 0; e1 < n; ++e1)
                    for (std::int64_t e0 = 0; e0 < n; ++e0) {
                        const auto c0 = factors ? n - 1 - e0 : e0, c1 = factors ? n - 1 - e1 : e1;
                        if (pair.strict && c0 == c1) continue;
                        const auto low = std::min(c0, c1), high = std::max(c0, c1);
                        T x = from[static_cast<std::size_t>((pair.strict ? high * (high - 1) : high * (high + 1)) / 2 + low)];
                        if (c0 > c1 && kind == NodeKind::antisymmetric) x = -x;
                        if (c0 > c1 && kind == NodeKind::hermitian) x = conjugated(x);
                        if (factors && (e0 % 3 == 0) != (e1 % 3 == 0)) x = -x;
                        auto& to = expected[static_cast<std::size_t>(e0 + e1 * (n + 3))];
                        to = accumulate ? to + alpha * x : alpha * x;
                    }
                for (int threads : thread_numbers) {
                    const Threads scope(threads);
                    auto to = start;
                    unpack_pair(pair, from.data(), to.data(), alpha, false, accumulate);
                    ASSERT_EQ(to, expected) << threads << " threads, kind " << static_cast<int>(kind) << ", factors " << factors;
                }
            }
}

TYPED_TEST(MovementThreads, SplitAPair) {
    using T = TypeParam;
    const auto triangle = [](std::int64_t c) { return c * (c + 1) / 2; };
    for (bool symmetric : {true, false}) {
        PairSplit split;
        split.p = 18;
        split.q = 15;  // 72,900 elements: more than one thread does
        split.symmetric = symmetric;
        const auto pairs = [&](std::int64_t n) { return symmetric ? n * (n + 1) / 2 : n * (n - 1) / 2; };
        split.stride_q = pairs(split.p);
        const auto from = values<T>(triangle(split.p * split.q));
        const auto start = values<T>(pairs(split.p) * pairs(split.q), 3);
        const auto element = [&](std::int64_t p0, std::int64_t q0, std::int64_t p1, std::int64_t q1) {
            const auto a = p0 + split.p * q0, b = p1 + split.p * q1;
            return from[static_cast<std::size_t>(triangle(std::max(a, b)) + std::min(a, b))];
        };
        for (bool conjugate : {false, true}) {
            auto expected = start;
            std::size_t at = 0;
            for (std::int64_t q1 = 0; q1 < split.q; ++q1)
                for (std::int64_t q0 = 0; q0 < q1 + (symmetric ? 1 : 0); ++q0)
                    for (std::int64_t p1 = 0; p1 < split.p; ++p1)
                        for (std::int64_t p0 = 0; p0 < p1 + (symmetric ? 1 : 0); ++p0) {
                            const T x = element(p0, q0, p1, q1) + (symmetric ? T(1) : T(-1)) * element(p1, q0, p0, q1);
                            expected[at++] += T(2) * (conjugate ? conjugated(x) : x);
                        }
            for (int threads : thread_numbers) {
                const Threads scope(threads);
                auto to = start;
                split_pair(split, from.data(), to.data(), T(2), conjugate);
                ASSERT_EQ(to, expected) << threads << " threads";
            }
        }
    }
}

}  // namespace
}  // namespace arges::test
