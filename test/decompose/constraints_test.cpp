// Points that meet constraints on factors, against slow and obviously right ones.
#include "decompose/cp/constraints.hpp"

#include "arges/error.hpp"
#include "comm/values.hpp"
#include "decompose/cp/admm.hpp"
#include "support/drawn_numbers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace arges::test {
namespace {

using namespace decompose;

/// From 0 to 1.
double share(std::uint64_t seed, std::uint64_t a) { return (drawn_number(seed, a) + 1) / 2; }

std::vector<double> drawn(std::uint64_t seed, std::size_t count, double low = -1, double high = 1) {
    std::vector<double> x;
    for (std::size_t i = 0; i < count; ++i) x.push_back(low + (high - low) * share(seed, i));
    return x;
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sum;
}

/// No other number has a smaller sum of penalty and distance.
TEST(Constraints, OnElementsAreTheBestNumbers) {
    using enum CpConstraintKind;
    for (const auto kind : {nonnegative, l1, nonnegative_l1}) {
        const CpConstraint constraint{kind, is_penalty(kind) ? 0.3 : 0};
        for (std::uint64_t seed = 1; seed <= 100; ++seed) {
            const double step = 0.2 + share(seed, 99);
            const auto given = drawn(seed, 1, -2, 2);
            auto found = given;
            apply_row_constraint<double>(constraint, step, found);
            const auto value = [&](double z) {
                if (is_nonnegative(kind) && z < 0) return 1e9;
                return step * (z - given[0]) * (z - given[0]) / 2 + constraint.weight * std::abs(z);
            };
            for (double z = -3; z <= 3; z += 0.001) EXPECT_LE(value(found[0]), value(z) + 1e-12);
        }
    }
}

/// x - z is the same for all elements that stay, and not more for the others.
void expect_on_simplex(const std::vector<double>& x, const std::vector<double>& z, double tolerance) {
    EXPECT_NEAR(std::accumulate(z.begin(), z.end(), 0.0), 1, tolerance);
    double shift = -1e9;
    for (std::size_t i = 0; i < x.size(); ++i) {
        EXPECT_GE(z[i], 0);
        if (z[i] > 0) shift = x[i] - z[i];
    }
    for (std::size_t i = 0; i < x.size(); ++i) {
        if (z[i] > 0) {
            EXPECT_NEAR(x[i] - z[i], shift, tolerance);
        } else {
            EXPECT_LE(x[i], shift + tolerance);
        }
    }
}

TEST(Constraints, OnTheSimplexAreOptimal) {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        const auto x = drawn(seed, 1 + seed % 9, -3, 3);
        auto z = x;
        apply_row_constraint<double>({CpConstraintKind::row_simplex}, 1, z);
        expect_on_simplex(x, z, 1e-12);
    }
    std::vector<double> huge{1e300, 1e300};
    project_to_simplex<double>(huge);
    EXPECT_EQ(huge.size(), 2U);
}

/// Isotonic regression by its formula: the largest of the smallest means.
std::vector<double> rising(const std::vector<double>& x) {
    std::vector<double> z(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
        double largest = -1e300;
        for (std::size_t j = 0; j <= i; ++j) {
            double smallest = 1e300;
            for (std::size_t k = i; k < x.size(); ++k) {
                double sum = 0;
                for (std::size_t l = j; l <= k; ++l) sum += x[l];
                smallest = std::min(smallest, sum / static_cast<double>(k - j + 1));
            }
            largest = std::max(largest, smallest);
        }
        z[i] = std::max(0.0, largest);
    }
    return z;
}

TEST(Constraints, OnUnimodalColumnsAreTheBestOfAllPeaks) {
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        const auto n = static_cast<std::size_t>(seed % 12);
        auto x = drawn(seed, n, -0.5, 1);
        if (seed % 5 == 0)
            for (auto& v : x) v = std::round(3 * v);
        double best = n == 0 ? 0 : 1e300;
        for (std::size_t peak = 0; peak <= n; ++peak) {
            const auto middle = x.begin() + static_cast<std::ptrdiff_t>(peak);
            auto whole = rising({x.begin(), middle});
            std::vector<double> right(middle, x.end());
            std::reverse(right.begin(), right.end());
            right = rising(right);
            whole.insert(whole.end(), right.rbegin(), right.rend());
            best = std::min(best, distance(x, whole));
        }
        auto z = x;
        project_to_unimodal(z);
        EXPECT_NEAR(distance(x, z), best, 1e-10) << seed;
        const auto peak = std::max_element(z.begin(), z.end());
        EXPECT_TRUE(std::is_sorted(z.begin(), peak));
        EXPECT_TRUE(std::is_sorted(peak, z.end(), std::greater<>()));
        EXPECT_TRUE(std::all_of(z.begin(), z.end(), [](double v) { return v >= 0; }));
    }
}

TEST(Constraints, SmoothColumnsSolveTheirEquations) {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        const auto length = static_cast<std::int64_t>(1 + seed % 15);
        std::vector<std::int64_t> index;
        for (std::int64_t i = 0; i < length; ++i)
            if (seed % 3 == 0 || share(seed, static_cast<std::uint64_t>(100 + i)) < 0.7) index.push_back(i);
        const double shift = 0.1 + share(seed, 50), weight = 2 * share(seed, 51);
        const auto given = drawn(seed, index.size());
        auto x = given;
        solve_smooth(index, length, shift, weight, x);
        std::vector<double> whole(static_cast<std::size_t>(length), 0);
        for (std::size_t i = 0; i < index.size(); ++i) whole[static_cast<std::size_t>(index[i])] = x[i];
        for (std::size_t i = 0; i < index.size(); ++i) {
            const auto at = static_cast<std::size_t>(index[i]);
            double left = shift * whole[at];
            if (at > 0) left += weight * (whole[at] - whole[at - 1]);
            if (at + 1 < whole.size()) left += weight * (whole[at] - whole[at + 1]);
            EXPECT_NEAR(left, given[i], 1e-12) << seed;
        }
    }
}

/// Rows of a mode that are dealt out to the ranks irregularly.
struct DealtRows {
    ModeRows rows;
    std::vector<double> own;

    DealtRows(const Communicator& comm, const std::vector<double>& whole, std::size_t columns) {
        for (std::size_t i = 0; i < whole.size() / columns; ++i)
            if (static_cast<std::int64_t>(share(3, i) * static_cast<double>(comm.size())) == comm.rank()) {
                rows.index.push_back(static_cast<std::int64_t>(2 * i + 1));
                own.insert(own.end(), whole.begin() + static_cast<std::ptrdiff_t>(i * columns),
                           whole.begin() + static_cast<std::ptrdiff_t>((i + 1) * columns));
            }
        rows.owned = std::ssize(rows.index);
    }
    sparse::RowMatrix<double> matrix(std::size_t columns) {
        return {own.data(), rows.owned, static_cast<int>(columns), static_cast<std::int64_t>(columns)};
    }
};

TEST(Constraints, OnColumnsOverRanksAreThoseOfWholeColumns) {
    const Communicator comm(MPI_COMM_WORLD);
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const std::size_t columns = 1 + seed % 7, count = 1 + 3 * seed % 23;
        const auto whole = drawn(seed, columns * count);
        for (const bool is_simplex : {true, false}) {
            DealtRows dealt(comm, whole, columns);
            if (is_simplex)
                project_columns_to_simplex<double>(comm, dealt.matrix(columns));
            else
                WholeColumns(comm, dealt.rows).transform<double>(dealt.matrix(columns), [](int, auto& x) { project_to_unimodal(x); });
            for (std::size_t c = 0; c < columns; ++c) {
                std::vector<double> column;
                for (std::size_t i = 0; i < count; ++i) column.push_back(whole[i * columns + c]);
                if (is_simplex)
                    project_to_simplex<double>(column);
                else
                    project_to_unimodal(column);
                for (std::size_t i = 0; i < dealt.rows.index.size(); ++i)
                    EXPECT_NEAR(dealt.own[i * columns + c], column[static_cast<std::size_t>(dealt.rows.index[i] / 2)], 1e-12);
            }
        }
    }
}

TEST(Constraints, HaveNames) {
    using enum CpConstraintKind;
    EXPECT_EQ(parse_constraint("nonnegative"), (CpConstraint{nonnegative}));
    EXPECT_EQ(parse_constraint("row_simplex"), (CpConstraint{row_simplex}));
    EXPECT_EQ(parse_constraint("ridge=0.5"), (CpConstraint{l2, 0.5}));
    for (const char* text : {"none", "l1=0.25", "nonnegative-l1=2", "smooth=1e-05", "unimodal", "orthogonal", "column-simplex"})
        EXPECT_EQ(to_string(parse_constraint(text)), text);
    const auto message = [](const std::string& text) -> std::string {
        try {
            parse_constraint(text);
        } catch (const InvalidArgument& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_EQ(message("nonegative"), "there is no constraint 'nonegative'; did you mean nonnegative?");
    EXPECT_NE(message("convex").find("use none, nonnegative, l1"), std::string::npos);
    EXPECT_EQ(message("smooth"), "the weight of smooth must be a positive number; use smooth=0.1, for example");
    for (const char* text : {"smooth=", "l1=x", "l1=-1", "l2=0", "l2=inf", "l2=nan", "unimodal=1", "", "="})
        EXPECT_NE(message(text), "") << text;
}

}  // namespace
}  // namespace arges::test
