#include "sparse/fiber_tree.hpp"
#include "sparse/index_sort.hpp"
#include "sparse/linear_key.hpp"
#include "sparse/random_nonzeros.hpp"
#include "sparse/thread_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace arges::sparse::test {
namespace {

TEST(LinearKey, ExampleOfTheHeader) {
    const LinearKey key(std::vector<std::int64_t>{4, 2, 8});
    ASSERT_EQ(key.words(), 1);
    EXPECT_EQ(key.bits(0), 6);
    EXPECT_EQ(key.encode(0, 3, 0) | key.encode(1, 1, 0) | key.encode(2, 5, 0), 47u);
    const std::uint64_t word = 47;
    std::uint32_t x[3];
    for (int mode = 0; mode < 3; ++mode) key.decode<false>(mode, 0, &word, 1, x + mode);
    EXPECT_EQ(x[0], 3u);
    EXPECT_EQ(x[1], 1u);
    EXPECT_EQ(x[2], 5u);
}

TEST(LinearKey, DecodesWhatItEncodes) {
    Random random(3);
    for (int round = 0; round < 200; ++round) {
        std::vector<std::int64_t> lengths(static_cast<std::size_t>(1 + random.below(9)));
        for (auto& n : lengths) n = 1 + random.below(std::int64_t{1} << random.below(33));
        const LinearKey key(lengths);
        std::vector<std::uint64_t> words(static_cast<std::size_t>(key.words()), 0);
        std::vector<std::uint32_t> x;
        for (std::size_t m = 0; m < lengths.size(); ++m) {
            x.push_back(static_cast<std::uint32_t>(random.below(lengths[m])));
            for (int w = 0; w < key.words(); ++w) {
                const auto bits = key.encode(static_cast<int>(m), x[m], w);
                EXPECT_EQ(words[static_cast<std::size_t>(w)] & bits, 0u);
                words[static_cast<std::size_t>(w)] |= bits;
            }
        }
        for (std::size_t m = 0; m < lengths.size(); ++m) {
            std::uint32_t index = 0;
            for (int w = 0; w < key.words(); ++w) key.decode<true>(static_cast<int>(m), w, &words[static_cast<std::size_t>(w)], 1, &index);
            EXPECT_EQ(index, x[m]);
        }
    }
}

TEST(FiberTree, ExampleOfTheHeader) {
    const LocalNonzeros<double> x{{4, 2, 3}, {{3, 0, 0, 0}, {0, 1, 0, 0}, {0, 1, 2, 1}}, {4, 3, 2, 1}};
    using Ids = std::vector<std::uint32_t>;
    using Starts = std::vector<std::int64_t>;
    const auto ids = [](const Ids& padded, std::size_t n) { return Ids(padded.begin(), padded.begin() + static_cast<std::ptrdiff_t>(n)); };

    const FiberTree<double> full(x, {0, 1, 2}, 1);
    ASSERT_EQ(full.depth(), 2);
    EXPECT_EQ(ids(full.levels[0].ids, 2), (Ids{0, 3}));
    EXPECT_EQ(full.levels[0].starts, (Starts{0, 2, 3}));
    EXPECT_EQ(ids(full.levels[1].ids, 3), (Ids{0, 1, 0}));
    EXPECT_EQ(full.levels[1].starts, (Starts{0, 2, 3, 4}));
    EXPECT_EQ(ids(full.flat[0], 4), (Ids{1, 2, 1, 0}));
    EXPECT_EQ(full.values[3], 4);

    const FiberTree<double> flat(x, {0, 1, 2}, 2);
    ASSERT_EQ(flat.depth(), 1);
    EXPECT_EQ(flat.levels[0].starts, (Starts{0, 3, 4}));
    EXPECT_EQ(ids(flat.flat[0], 4), (Ids{0, 0, 1, 0}));
    EXPECT_EQ(ids(flat.flat[1], 4), (Ids{1, 2, 1, 0}));
}

TEST(FiberTree, RangesOfNonzeros) {
    const auto x = random_nonzeros<double>({{6, 5, 4}, 60}, 3);
    const FiberTree<double> tree(x, {0, 1, 2}, 1);
    for (std::int64_t begin = 0; begin < x.count(); ++begin)
        for (auto end = begin + 1; end <= x.count(); ++end) {
            const auto range = tree.range(begin, end);
            for (std::size_t l = 0; l < 2; ++l) {
                const auto& starts = tree.levels[l].starts;
                EXPECT_LE(starts[static_cast<std::size_t>(range.begin[l])], range.begin[l + 1]);
                EXPECT_LT(range.begin[l + 1], starts[static_cast<std::size_t>(range.begin[l] + 1)]);
                EXPECT_LT(starts[static_cast<std::size_t>(range.end[l] - 1)], range.end[l + 1]);
                EXPECT_LE(range.end[l + 1], starts[static_cast<std::size_t>(range.end[l])]);
            }
        }
}

TEST(IndexSort, LexicographicAndStable) {
    std::uint64_t seed = 0;
    for (std::int64_t count : {0, 1, 2, 100, 50000}) {
        Random random(++seed);
        const std::vector<std::int64_t> lengths{7, std::int64_t{1} << 40, std::int64_t{1} << 62, 5};
        std::vector<std::vector<std::int64_t>> indices(4);
        for (std::size_t m = 0; m < 4; ++m)
            for (std::int64_t x = 0; x < count; ++x) indices[m].push_back(m == 1 ? random.below(3) << 38 : random.below(lengths[m]));
        const std::vector<int> modes{3, 1, 0};
        std::vector<std::int64_t> expected(static_cast<std::size_t>(count));
        std::iota(expected.begin(), expected.end(), std::int64_t{0});
        std::stable_sort(expected.begin(), expected.end(), [&](std::int64_t a, std::int64_t b) {
            for (int mode : modes) {
                const auto& index = indices[static_cast<std::size_t>(mode)];
                if (index[static_cast<std::size_t>(a)] != index[static_cast<std::size_t>(b)])
                    return index[static_cast<std::size_t>(a)] < index[static_cast<std::size_t>(b)];
            }
            return false;
        });
        EXPECT_EQ(lexicographic_positions(indices, lengths, modes), expected);
    }
}

/// Parts that touch few rows of a long result, and parts that touch nearly all.
TEST(ThreadRows, AddsInTheOrderOfTheParts) {
    for (std::int64_t rows : {1, 63, 64, 65, 1000}) {
        const std::vector<std::vector<std::uint32_t>> touched{{0, 0}, {0, static_cast<std::uint32_t>(rows - 1)}, {}, {0}};
        ThreadRows<double> sums(4, rows, [&](int part, const auto& add) {
            const auto& list = touched[static_cast<std::size_t>(part)];
            add(list.data(), static_cast<std::int64_t>(list.size()));
        });
        EXPECT_EQ(sums.parts(), 4);
        std::vector<double> out(static_cast<std::size_t>(2 * rows), 99), expected(out.size(), 0);
        for (std::size_t p = 0; p < touched.size(); ++p)
            for (auto row : touched[p]) expected[2 * row + 1] += static_cast<double>(p + 1);
        for (int repeat = 0; repeat < 2; ++repeat) {
            sums.run({out.data(), rows, 2, 2}, [&](int part, const RowTarget<double>& target) {
                for (auto row : touched[static_cast<std::size_t>(part)]) target.row(row)[1] += part + 1;
            });
            EXPECT_EQ(out, expected) << rows;
        }
    }
}

}  // namespace
}  // namespace arges::sparse::test
