// Cases that users of other tensor libraries had to report as bugs, those with many elements or modes.
#include "arges/arges.hpp"
#include "support/tensor_checks.hpp"

#include <numeric>

namespace arges::test {
namespace {

using Extents = std::vector<std::int64_t>;

/// A small integer that depends on all indices.
double digit(Index x, std::uint64_t salt) {
    std::uint64_t h = salt * 0x9e3779b97f4a7c15U + 1;
    for (auto i : x) h = (h ^ static_cast<std::uint64_t>(i + 1)) * 0xff51afd7ed558ccdU, h ^= h >> 29;
    return static_cast<double>(h % 7) - 3;
}

/// Two tensors of 28 modes: 20 of extent 2 (fewer on many ranks) and the others of extent 1.
TEST(LargeRegressions, TwoTensorsOfTwentyEightModes) {
    const World world;
    const std::size_t modes = 28, twos = world.size() > 4 ? 14 : 20;
    const std::string first = "abcdefghijklmnopqrstuvwxyzAB", second = "BazycxbwdveufthsigrjqkplomAn";
    Extents a_extents, b_extents;
    for (std::size_t d = 0; d < modes; ++d) a_extents.push_back(d % 7 * 4 + d / 7 < twos ? 2 : 1);
    std::vector<std::size_t> place;  // in A, of each mode of B
    for (char l : second) place.push_back(first.find(l));
    for (auto p : place) b_extents.push_back(a_extents[p]);
    Tensor<double> A(world, a_extents, "A"), B(world, b_extents, "B"), x(world, {}), y(world, {2, 2});
    A.fill([](Index i) { return digit(i, 1); });
    B.fill([](Index i) { return digit(i, 2); });
    x[""] = A[first] * B[second];
    y["ba"] = A[first] * B[second];
    double sum = 0;
    Dense rows({2, 2});
    Extents i(modes, 0), j(modes, 0);
    for (std::int64_t k = 0; k < A.size(); ++k) {
        auto key = k;
        for (std::size_t d = 0; d < modes; ++d) i[d] = key % a_extents[d], key /= a_extents[d];
        for (std::size_t d = 0; d < modes; ++d) j[d] = i[place[d]];
        sum += digit(i, 1) * digit(j, 2);
        rows.at({i[1], i[0]}) += digit(i, 1) * digit(j, 2);
    }
    EXPECT_EQ(x.scalar(), sum);
    expect_equal(y, rows);
}

/// A ring of four tensors of 14 modes each, all of extent 2: the trace of a product of four matrices whose indices interleave.
TEST(LargeRegressions, TwentyEightModesOfExtentTwoContractedToAScalar) {
    const World world;
    const std::size_t bits = world.size() > 4 ? 4 : 7, n = std::size_t{1} << bits;
    const std::string letters = "abcdefghijklmnopqrstuvwxyzAB";
    std::vector<Tensor<double>> tensors;
    std::vector<std::string> labels(4);
    std::vector<std::vector<double>> matrices;
    for (std::size_t m = 0; m < 4; ++m) {
        for (std::size_t b = 0; b < bits; ++b) labels[m] += {letters[7 * ((m + 1) % 4) + b], letters[7 * m + b]};
        tensors.emplace_back(world, Extents(2 * bits, 2), "M" + std::to_string(m));
        tensors.back().fill([m](Index x) { return digit(x, 10 + m); });
        matrices.emplace_back(n * n);
        Extents x(2 * bits);
        for (std::size_t row = 0; row < n; ++row)
            for (std::size_t column = 0; column < n; ++column) {
                for (std::size_t b = 0; b < bits; ++b) x[2 * b] = column >> b & 1, x[2 * b + 1] = row >> b & 1;
                matrices[m][row + n * column] = digit(x, 10 + m);
            }
    }
    auto product = matrices[0];
    for (std::size_t m = 1; m < 4; ++m) {
        std::vector<double> next(n * n);
        for (std::size_t c = 0; c < n; ++c)
            for (std::size_t k = 0; k < n; ++k)
                for (std::size_t r = 0; r < n; ++r) next[r + n * c] += product[r + n * k] * matrices[m][k + n * c];
        product = next;
    }
    double trace = 0;
    for (std::size_t r = 0; r < n; ++r) trace += product[r + n * r];
    Tensor<double> x(world, {});
    x[""] = tensors[2][labels[2]] * tensors[0][labels[0]] * tensors[3][labels[3]] * tensors[1][labels[1]];
    EXPECT_EQ(x.scalar(), trace);
    EXPECT_EQ(world.last_report().bytes_sent, world.last_report().bytes_planned);
}

/// A vector becomes a tensor of many modes by its keys; extents are those of the report divided by 8 and 4.
TEST(LargeRegressions, VectorWrittenIntoATensorOfSevenModes) {
    const World world;
    const Extents extents{8, 8, 8, 2, 2, 3, 3};
    Tensor<double> A(world, extents, "A"), B(world, extents, "B"), v(world, {8 * 8 * 8 * 2 * 2 * 3 * 3}, "v");
    v.fill([](Index x) { return static_cast<double>(x[0] + 1); });
    std::vector<double> expected(static_cast<std::size_t>(v.size()));
    std::iota(expected.begin(), expected.end(), 1.0);
    const auto [keys, values] = v.local_pairs();  // as the vector lies
    A.write(keys, values);
    EXPECT_EQ(A.gather(), expected);
    std::vector<std::int64_t> shuffled(expected.size());
    std::iota(shuffled.begin(), shuffled.end(), 0);
    std::shuffle(shuffled.begin(), shuffled.end(), std::mt19937_64(static_cast<std::uint64_t>(world.rank())));
    std::vector<double> mine;
    for (auto k : shuffled) mine.push_back(static_cast<double>(k + 1));
    EXPECT_EQ(A.read(shuffled), mine);
    if (world.rank() == world.size() - 1)  // one rank gives everything
        B.write(shuffled, mine);
    else
        B.write({}, {});
    EXPECT_EQ(B.gather(), expected);
    const auto [tensor_keys, tensor_values] = B.local_pairs();
    v.fill(0);
    v.write(tensor_keys, tensor_values);
    EXPECT_EQ(v.gather(), expected);
}

/// Nothing divides 8 and 31, nor the sizes 28 and 465 of their pairs.
TEST(LargeRegressions, LadderWithEightOccupiedAndThirtyOneVirtualOnAnyNumberOfRanks) {
    const World world;
    constexpr std::int64_t no = 8, nv = 31;
    auto pair_value = [](Index x, std::uint64_t salt) {
        Extents y(x.begin(), x.end());
        double sign = 1;
        for (std::size_t d : {0, 2}) {
            if (y[d] == y[d + 1]) return 0.0;
            if (y[d] > y[d + 1]) std::swap(y[d], y[d + 1]), sign = -sign;
        }
        return sign * digit(y, salt);
    };
    Tensor<double> V(world, {nv, nv, nv, nv}, {AS, NS, AS, NS}, "V"), T(world, {nv, nv, no, no}, {AS, NS, AS, NS}, "T"), Z(T);
    V.fill([&](Index x) { return pair_value(x, 3); });
    T.fill([&](Index x) { return pair_value(x, 4); });
    Z["abij"] = 0.5 * V["abef"] * T["efij"];
    EXPECT_EQ(world.last_report().bytes_sent, world.last_report().bytes_planned);
    const auto got = Z.gather();
    std::vector<double> t;  // e < f fastest, then i < j
    for (std::int64_t j = 0; j < no; ++j)
        for (std::int64_t i = 0; i < j; ++i)
            for (std::int64_t f = 0; f < nv; ++f)
                for (std::int64_t e = 0; e < f; ++e) t.push_back(digit(Extents{e, f, i, j}, 4));
    const std::size_t pairs = nv * (nv - 1) / 2;
    std::vector<double> row(pairs);
    Dense expected({nv, nv, no, no});
    for (std::int64_t b = 0; b < nv; ++b)
        for (std::int64_t a = 0; a < b; ++a) {
            std::size_t k = 0;
            for (std::int64_t f = 0; f < nv; ++f)
                for (std::int64_t e = 0; e < f; ++e) row[k++] = digit(Extents{a, b, e, f}, 3);
            k = 0;
            for (std::int64_t j = 0; j < no; ++j)
                for (std::int64_t i = 0; i < j; ++i, k += pairs) {
                    const double z = std::inner_product(row.begin(), row.end(), t.begin() + static_cast<std::ptrdiff_t>(k), 0.0);
                    expected.at({a, b, i, j}) = expected.at({b, a, j, i}) = z;
                    expected.at({b, a, i, j}) = expected.at({a, b, j, i}) = -z;
                }
        }
    EXPECT_EQ(got, elements<double>(expected));
    Tensor<double> W(world, {nv, nv, nv, nv}, "W"), U(world, {nv, nv, no, no}, "U"), Y(U);  // the same without symmetry
    W["abef"] = V["abef"];
    U["efij"] = T["efij"];
    Y["abij"] = 0.5 * W["abef"] * U["efij"];
    EXPECT_EQ(Y.gather(), elements<double>(expected));
}

}  // namespace
}  // namespace arges::test
