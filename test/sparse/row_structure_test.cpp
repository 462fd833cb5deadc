// Coordinates as runs and numbers, and the nonzeros of products of matrices by rows, against maps and sets.
#include "sparse/coordinates.hpp"
#include "sparse/row_structure.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <random>
#include <set>

namespace arges::sparse {
namespace {

using Tuple = std::vector<std::int64_t>;

std::vector<std::vector<std::int64_t>> random_columns(std::size_t columns, std::size_t count, const Tuple& lengths,
                                                      std::mt19937_64& random) {
    std::vector<std::vector<std::int64_t>> result(columns);
    for (std::size_t c = 0; c < columns; ++c)
        for (std::size_t k = 0; k < count; ++k)
            result[c].push_back(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(lengths[c])));
    return result;
}

/// The same nonzeros, in stretches that ascend.
void sort_stretches(std::vector<std::vector<std::int64_t>>& columns, std::size_t stretches) {
    std::vector<Tuple> rows(columns[0].size());
    for (const auto& column : columns)
        for (std::size_t k = 0; k < rows.size(); ++k) rows[k].push_back(column[k]);
    for (std::size_t s = 0; s < stretches; ++s)
        std::sort(rows.begin() + static_cast<std::ptrdiff_t>(rows.size() * s / stretches),
                  rows.begin() + static_cast<std::ptrdiff_t>(rows.size() * (s + 1) / stretches));
    for (std::size_t c = 0; c < columns.size(); ++c)
        for (std::size_t k = 0; k < rows.size(); ++k) columns[c][k] = rows[k][c];
}

Tuple tuple_of(const std::vector<std::vector<std::int64_t>>& columns, std::size_t k) {
    Tuple x;
    for (const auto& column : columns) x.push_back(column[k]);
    return x;
}

TEST(Coordinates, RunsAndNumbersAreThoseOfAMap) {
    std::mt19937_64 random(3);
    for (int round = 0; round < 400; ++round) {
        SCOPED_TRACE(round);
        const std::size_t width = 1 + random() % 3, count = random() % 60;
        Tuple lengths;
        for (std::size_t c = 0; c < width; ++c)
            lengths.push_back(std::vector<std::int64_t>{1, 2, 5, 40, std::int64_t{1} << 40, std::int64_t{1} << 62}[random() % 6]);
        auto columns = random_columns(width, count, lengths, random);
        const auto others = random_columns(width, 30, lengths, random);
        if (round % 2 == 1) sort_stretches(columns, 1 + random() % 6);
        std::map<Tuple, std::vector<std::int64_t>> expected;
        for (std::size_t k = 0; k < count; ++k) expected[tuple_of(columns, k)].push_back(static_cast<std::int64_t>(k));
        const Columns spans(columns.begin(), columns.end()), other_spans(others.begin(), others.end());
        const auto runs = sorted_runs(static_cast<std::int64_t>(count), spans, {}, lengths);
        if (count > 0) {
            ASSERT_EQ(static_cast<std::size_t>(runs.count()), expected.size());
        }
        std::size_t run = 0;
        for (const auto& [x, places] : expected) {
            const std::vector<std::int64_t> found(runs.order.begin() + runs.start[run], runs.order.begin() + runs.start[run + 1]);
            EXPECT_EQ(found, places);
            ++run;
        }
        const auto leading = 1 + random() % width;  // columns that make runs; the others only order
        const Columns by(spans.begin(), spans.begin() + static_cast<std::ptrdiff_t>(leading));
        const Columns also(spans.begin() + static_cast<std::ptrdiff_t>(leading), spans.end());
        const auto by_leading = sorted_runs(static_cast<std::int64_t>(count), by, also, lengths);
        const auto in_order = runs_if_sorted(static_cast<std::int64_t>(count), by, also, lengths);
        const bool is_sorted = std::is_sorted(by_leading.order.begin(), by_leading.order.end());
        int bits = 0;
        for (auto length : lengths) bits += std::bit_width(static_cast<std::uint64_t>(length - 1));
        EXPECT_EQ(in_order.has_value(), is_sorted && count > 0 && bits <= 128);
        if (in_order) {
            EXPECT_TRUE(in_order->order.empty());
            EXPECT_EQ(in_order->start, by_leading.start);
        }
        // The same nonzeros in lists that are joined, some of them empty.
        std::vector<Columns> lists;
        std::vector<std::int64_t> counts;
        for (std::size_t first = 0; lists.empty() || first < count;) {
            const auto size = std::min<std::size_t>(count - first, random() % 60);
            auto& list = lists.emplace_back();
            for (const auto& column : spans) list.push_back(column.subspan(first, size));
            counts.push_back(static_cast<std::int64_t>(size));
            first += size;
        }
        const auto equal = runs_of_equal(JoinedLists(lists, counts), lengths);
        std::map<Tuple, std::vector<std::int64_t>> in_runs;
        for (std::int64_t r = 0; r < equal.count(); ++r)
            in_runs[tuple_of(columns, equal.first(r))] = {equal.order.begin() + equal.start[static_cast<std::size_t>(r)],
                                                          equal.order.begin() + equal.start[static_cast<std::size_t>(r) + 1]};
        EXPECT_EQ(in_runs, expected);
        EXPECT_EQ(equal.count(), static_cast<std::int64_t>(expected.size()));
        auto order = order_unless_sorted(static_cast<std::int64_t>(count), spans, lengths);
        if (!order) {
            order.emplace(count);
            std::iota(order->begin(), order->end(), std::int64_t{0});
        }
        EXPECT_EQ(*order, runs.order);
        const auto numbering = numbered(static_cast<std::int64_t>(count), spans, lengths);
        ASSERT_EQ(static_cast<std::size_t>(numbering.count), expected.size());
        std::uint32_t number = 0;
        for (const auto& [x, places] : expected) {
            for (auto k : places) EXPECT_EQ(numbering.numbers[static_cast<std::size_t>(k)], number);
            EXPECT_EQ(tuple_of(numbering.tuples, number), x);
            ++number;
        }
        const auto known = looked_up(numbering, 30, other_spans, lengths);
        for (std::size_t k = 0; k < 30; ++k) {
            const auto place = expected.find(tuple_of(others, k));
            EXPECT_EQ(known[k], place == expected.end() ? none : static_cast<std::uint32_t>(std::distance(expected.begin(), place)));
        }
    }
}

TEST(Coordinates, PositionsAmongOthers) {
    std::mt19937_64 random(5);
    for (int round = 0; round < 100; ++round) {
        SCOPED_TRACE(round);
        const Tuple lengths{std::vector<std::int64_t>{1, 7, 300, std::int64_t{1} << 40}[random() % 4]};
        const auto others = random_columns(1, random() % 10, lengths, random)[0],
                   values = random_columns(1, random() % 200, lengths, random)[0];
        const auto found = positions_among(others, values);
        if (!found) {
            EXPECT_GT(lengths[0], 300);
            continue;
        }
        std::vector<std::int64_t> expected;
        for (std::size_t k = 0; k < values.size(); ++k)
            if (std::count(others.begin(), others.end(), values[k]) > 0) expected.push_back(static_cast<std::int64_t>(k));
        EXPECT_EQ(*found, expected);
    }
}

TEST(RowStructure, HasTheNonzerosOfTheProduct) {
    std::mt19937_64 random(4);
    for (int round = 0; round < 100; ++round) {
        SCOPED_TRACE(round);
        const auto rows = static_cast<std::int64_t>(random() % 200), inner = static_cast<std::int64_t>(1 + random() % 50),
                   width = static_cast<std::int64_t>(1 + random() % 400);
        const auto matrix = [&](std::int64_t n, std::int64_t m, std::vector<std::int64_t>& start, std::vector<std::uint32_t>& columns) {
            start = {0};
            for (std::int64_t i = 0; i < n; ++i) {
                for (std::uint64_t k = random() % 6; k > 0; --k)
                    columns.push_back(static_cast<std::uint32_t>(random() % static_cast<std::uint64_t>(m)));
                start.push_back(static_cast<std::int64_t>(columns.size()));
            }
        };
        std::vector<std::int64_t> a_start, b_start;
        std::vector<std::uint32_t> a_columns, b_columns;
        matrix(rows, inner, a_start, a_columns);
        matrix(inner, width, b_start, b_columns);
        const auto found = structure_of_product({a_start, a_columns}, {b_start, b_columns}, width);
        std::int64_t products = 0;
        for (std::int64_t i = 0; i < rows; ++i) {
            std::set<std::uint32_t> expected;
            for (auto k = a_start[static_cast<std::size_t>(i)]; k < a_start[static_cast<std::size_t>(i) + 1]; ++k) {
                const auto j = a_columns[static_cast<std::size_t>(k)];
                for (auto l = b_start[j]; l < b_start[j + 1]; ++l, ++products) expected.insert(b_columns[static_cast<std::size_t>(l)]);
            }
            const std::vector<std::uint32_t> row(found.columns.data() + found.start[i], found.columns.data() + found.start[i + 1]);
            EXPECT_EQ(row, std::vector<std::uint32_t>(expected.begin(), expected.end()));
        }
        EXPECT_EQ(products_of({a_start, a_columns}, {b_start, b_columns}), products);
    }
}

}  // namespace
}  // namespace arges::sparse
