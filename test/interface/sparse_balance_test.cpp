// Products of sparse tensors whose nonzeros lie unevenly: labels are spread by a hash where that is faster, and give the same.
#include "arges/arges.hpp"
#include "interface/sparse/sparse_state.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

namespace arges::test {
namespace {

using Number = std::int64_t;

/// Nonzeros of a tensor on every rank; most are in one residue class of each mode.
SparseEntries<Number> uneven_entries(const std::vector<std::int64_t>& lengths, std::size_t count, std::int64_t ranks,
                                     std::mt19937_64& random) {
    std::set<std::vector<std::int64_t>> known;
    for (std::size_t k = 0; k < count; ++k) {
        std::vector<std::int64_t> x;
        const bool is_in_class = random() % 10 != 0;
        for (auto n : lengths) {
            auto index = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
            if (is_in_class) index = index / ranks * ranks;
            x.push_back(index);
        }
        known.insert(x);
    }
    SparseEntries<Number> entries;
    entries.indices.resize(lengths.size());
    for (const auto& x : known) {
        for (std::size_t m = 0; m < x.size(); ++m) entries.indices[m].push_back(x[m]);
        entries.values.push_back(static_cast<Number>(random() % 9) - 4);
    }
    return entries;
}

SparseTensor<Number> part_of(const World& world, const std::vector<std::int64_t>& lengths, const SparseEntries<Number>& all) {
    SparseEntries<Number> mine;
    mine.indices.resize(lengths.size());
    for (std::size_t k = 0; k < all.values.size(); ++k) {
        if (static_cast<std::int64_t>(k) % world.size() != world.rank()) continue;
        for (std::size_t m = 0; m < lengths.size(); ++m) mine.indices[m].push_back(all.indices[m][k]);
        mine.values.push_back(all.values[k]);
    }
    return SparseTensor<Number>::from_entries(world, lengths, mine, Duplicates::refuse);
}

class SparseBalance : public ::testing::Test {
protected:
    World world_;
    std::mt19937_64 random_{5};
    static constexpr std::int64_t n = 1200, m = 900, columns = 6;
    SparseEntries<Number> entries_ = uneven_entries({n, m}, 60000, world_.size(), random_);
    SparseTensor<Number> A_ = part_of(world_, {n, m}, entries_);

    Tensor<Number> numbers(const std::vector<std::int64_t>& lengths) const {
        Tensor<Number> result(world_, lengths);
        result.fill([](Index x) { return (x[0] * 7 + (x.size() > 1 ? x[1] * 3 : 0)) % 11 - 5; });
        return result;
    }
    static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
    void expect_exact_bytes() const { EXPECT_EQ(world_.last_report().bytes_sent, world_.last_report().bytes_planned); }
};

TEST_F(SparseBalance, VectorsAndMatrices) {
    const auto x = numbers({m}), X = numbers({m, columns}), z = numbers({n});
    auto y = numbers({n}), Y = numbers({n, columns}), w = numbers({m});
    auto y0 = y.gather(), Y0 = Y.gather(), w0 = w.gather();
    const auto x0 = x.gather(), X0 = X.gather(), z0 = z.gather();
    bool by_hash = false;
    for (int repeat = 0; repeat < 3; ++repeat) {
        y["i"] += 2 * A_["ij"] * x["j"];
        expect_exact_bytes();
        by_hash = by_hash || y["i"].explain(A_["ij"] * x["j"]).find("by a hash") != std::string::npos;
        Y["ic"] = A_["ij"] * X["jc"];
        expect_exact_bytes();
        w["j"] -= A_["ij"] * z["i"];
        expect_exact_bytes();
        Y0.assign(Y0.size(), 0);
        for (std::size_t k = 0; k < entries_.values.size(); ++k) {
            const auto i = entries_.indices[0][k], j = entries_.indices[1][k];
            y0[at(i)] += 2 * entries_.values[k] * x0[at(j)];
            w0[at(j)] -= entries_.values[k] * z0[at(i)];
            for (std::int64_t c = 0; c < columns; ++c) Y0[at(i + n * c)] += entries_.values[k] * X0[at(j + m * c)];
        }
        EXPECT_EQ(y.gather(), y0);
        EXPECT_EQ(Y.gather(), Y0);
        EXPECT_EQ(w.gather(), w0);
    }
    EXPECT_TRUE(by_hash || world_.size() == 1);
    if (world_.size() == 1) return;
    // The rank with most nonzeros has not much more than the mean; spread cyclically it would have nearly all.
    const auto most = A_.state()->comm().maximum(static_cast<std::int64_t>(A_.local_values().size()));
    EXPECT_LT(most * world_.size(), A_.nonzeros() * 3 / 2);
}

TEST_F(SparseBalance, SparseResultsAndNumbers) {
    const auto x = numbers({m}), z = numbers({n}), U = numbers({n, columns}), V = numbers({m, columns});
    const auto x0 = x.gather(), z0 = z.gather(), U0 = U.gather(), V0 = V.gather();
    SparseTensor<Number> C(world_, {n, m}), T(world_, {n, columns});
    for (int repeat = 0; repeat < 2; ++repeat) {
        C["ij"] = A_["ij"] * U["ic"] * V["jc"];
        expect_exact_bytes();
        T["ic"] = A_["ij"] * V["jc"];
        expect_exact_bytes();
        const Number number = A_["ij"] * z["i"] * x["j"];
        expect_exact_bytes();
        Number expected = 0;
        std::map<std::pair<std::int64_t, std::int64_t>, Number> values, rows;
        for (std::size_t k = 0; k < entries_.values.size(); ++k) {
            const auto i = entries_.indices[0][k], j = entries_.indices[1][k];
            expected += entries_.values[k] * z0[at(i)] * x0[at(j)];
            Number dot = 0;
            for (std::int64_t c = 0; c < columns; ++c) {
                dot += U0[at(i + n * c)] * V0[at(j + m * c)];
                rows[{i, c}] += entries_.values[k] * V0[at(j + m * c)];
            }
            values[{i, j}] = entries_.values[k] * dot;
        }
        EXPECT_EQ(number, expected);
        for (const auto& [tensor, known] : {std::pair(&C, &values), std::pair(&T, &rows)}) {
            const auto found = tensor->gather();
            ASSERT_EQ(found.values.size(), known->size());
            for (std::size_t k = 0; k < found.values.size(); ++k)
                ASSERT_EQ(found.values[k], (known->at({found.indices[0][k], found.indices[1][k]})));
        }
    }
}

TEST_F(SparseBalance, ThreeModes) {
    const std::vector<std::int64_t> lengths{400, 300, 500};
    const auto all = uneven_entries(lengths, 40000, world_.size(), random_);
    const auto X = part_of(world_, lengths, all);
    const auto B = numbers({300, columns}), C = numbers({500, columns});
    auto M = numbers({400, columns}), N = numbers({columns, 300});
    const auto A = numbers({400, columns});
    const auto A0 = A.gather(), B0 = B.gather(), C0 = C.gather();
    auto M0 = M.gather(), N0 = N.gather();
    for (int repeat = 0; repeat < 2; ++repeat) {
        M["ir"] += X["ijk"] * B["jr"] * C["kr"];
        expect_exact_bytes();
        N["rj"] = X["ijk"] * A["ir"] * C["kr"];
        expect_exact_bytes();
        N0.assign(N0.size(), 0);
        for (std::size_t e = 0; e < all.values.size(); ++e) {
            const auto i = all.indices[0][e], j = all.indices[1][e], k = all.indices[2][e];
            for (std::int64_t r = 0; r < columns; ++r) {
                M0[at(i + 400 * r)] += all.values[e] * B0[at(j + 300 * r)] * C0[at(k + 500 * r)];
                N0[at(r + columns * j)] += all.values[e] * A0[at(i + 400 * r)] * C0[at(k + 500 * r)];
            }
        }
        EXPECT_EQ(M.gather(), M0);
        EXPECT_EQ(N.gather(), N0);
    }
}

}  // namespace
}  // namespace arges::test
