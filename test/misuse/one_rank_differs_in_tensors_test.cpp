// Every public call on tensors in which the last rank hands in another tensor, another number or other data than the others.
#include "arges/arges.hpp"
#include "interface/wrong_uses.hpp"
#include "misuse/on_last.hpp"

#include <sstream>

namespace arges::test {
namespace {

const std::vector<std::string> differ{"arguments differ between ranks"};

/// Another tensor on the last rank, of the same shape.
template <class Tensor>
Tensor& one_of(const World& world, Tensor& there, Tensor& elsewhere) {
    return last(world) ? there : elsewhere;
}

SparseTensor<double> sparse_of(const World& world, double value) {
    SparseTensor<double> result(world, {4, 4});
    result.write(world.rank() == 0 ? Keys{0, 5, 10} : Keys{}, world.rank() == 0 ? Reals{1, 2, value} : Reals{}, Duplicates::refuse);
    return result;
}

CpOptions of_rank_two() {
    CpOptions options;
    options.rank = 2;
    return options;
}

TEST(OneRankDiffersInTensors, Elements) {
    check_uses({
        {ARGES_USE(N.fill(on_last(world, 1.0, 2.0))), invalid, {"Tensor::fill", differ[0]}, 2},
        {ARGES_USE(Q.fill(on_last(world, Complex(1, 1), Complex(1, 2)))), invalid, {"Tensor::fill"}, 2},
        {ARGES_USE(S.fill_random(on_last<std::uint64_t>(world, 1, 2))), invalid, {"Tensor::fill_random", differ[0]}, 2},
        {ARGES_USE(S.fill_random(1, on_last(world, 0.0, 0.5), 1)), invalid, {"Tensor::fill_random"}, 2},
        {ARGES_USE(Tensor<double> B(world, {4, 4}); one_of(world, N, B).fill(1)), invalid, differ, 2},
        {ARGES_USE(Tensor<double> B(world, {4, 4}); one_of(world, N, B).write(Keys{}, Reals{})), invalid, {"Tensor::write"}, 2},
        {ARGES_USE(N.write(Keys{}, Reals{}, on_last(world, 0.5, 1.0))), invalid, {"Tensor::write"}, 2},
        {ARGES_USE(Tensor<double> B(world, {4, 4}); one_of(world, N, B).accumulate(Keys{}, Reals{})), invalid, {"Tensor::accumulate"}, 2},
        {ARGES_USE(N.accumulate(Keys{1}, Reals{1}, on_last(world, 1.0, 2.0))), invalid, {"Tensor::accumulate", "factors"}, 2},
        {ARGES_USE(Tensor<double> B(world, {4, 4}); static_cast<void>(one_of(world, N, B).read(Keys{}))), invalid, {"Tensor::read"}, 2},
        {ARGES_USE(Tensor<double> B(world, {4, 4}); static_cast<void>(one_of(world, N, B).gather())), invalid, {"Tensor::gather"}, 2},
        {ARGES_USE(Tensor<double> B(world, {4, 4}); static_cast<void>(one_of(world, N, B).gather_to(0))),
         invalid,
         {"Tensor::gather_to"},
         2},
        {ARGES_USE(const Reals array(16, on_last(world, 1.0, 2.0)); N.set_array(array.data(), Keys{1, 4})),
         invalid,
         {"Tensor::set_array"},
         2},
        {ARGES_USE(Reals array(16, 1.0); array[13] += on_last(world, 1e-15, 0.0);
                   static_cast<void>(from_replicated<double>(world, {4, 4}, array))),
         invalid,
         {"from_replicated"},
         2},
        {ARGES_USE(Tensor<double> B(world, {4, 4}); std::ostringstream out; one_of(world, N, B).print(out)), invalid, {"Tensor::print"}, 2},
    });
}

TEST(OneRankDiffersInTensors, ArraysMayLieAnyhow) {
    const World world;
    Tensor<double> A(world, {3, 4}), B(world, {3, 4});
    Reals columns, rows(12);
    for (int k = 0; k < 12; ++k) columns.push_back(k);
    for (std::size_t k = 0; k < 12; ++k) rows[k % 3 * 4 + k / 3] = columns[k];
    const Keys first{1, 3}, second{4, 1};
    last(world) ? A.set_array(rows.data(), second) : A.set_array(columns.data(), first);
    B.set_array(columns.data(), first);
    A["ij"] -= B["ij"];
    EXPECT_EQ(A.norm(), 0);
}

TEST(OneRankDiffersInTensors, Wholes) {
    check_uses({
        {ARGES_USE(Tensor<double> B(world, {4, 4}); static_cast<void>(one_of(world, N, B).norm())), invalid, {"Tensor::norm"}, 2},
        {ARGES_USE(Tensor<double> B(world, {4, 4}); static_cast<void>(one_of(world, N, B).norm1())), invalid, {"Tensor::norm1"}, 2},
        {ARGES_USE(Tensor<double> B(world, {4, 4}); static_cast<void>(one_of(world, N, B).norm_max())), invalid, differ, 2},
        {ARGES_USE(Tensor<double> B(world, {4, 4}); static_cast<void>(one_of(world, N, B).minimum())), invalid, differ, 2},
        {ARGES_USE(Tensor<double> B(world, {4, 4}); static_cast<void>(one_of(world, N, B).sum())), invalid, {"Tensor::sum"}, 2},
        {ARGES_USE(Tensor<double> B(world, {4, 4}); static_cast<void>(one_of(world, N, B).count_nonzero())), invalid, differ, 2},
        {ARGES_USE(Tensor<double> B(world, {4, 4}); static_cast<void>(N.dot(one_of(world, N, B)))), invalid, {"Tensor::dot"}, 2},
        {ARGES_USE(Tensor<double> B(world, {4, 4}); static_cast<void>(one_of(world, N, B).dot(N))), invalid, {"Tensor::dot"}, 2},
        {ARGES_USE(Tensor<double> B(world, {4, 4}); const Tensor<double> copy(one_of(world, N, B))), invalid, differ, 2},
        {ARGES_USE(Tensor<double> B(world, {4, 4}); const Tensor<Complex> wide(one_of(world, N, B))), invalid, differ, 2},
        {ARGES_USE(Tensor<Complex> B(world, {4, 4}); static_cast<void>(conj(one_of(world, Q, B)))), invalid, {"conj"}, 2},
        {ARGES_USE(Tensor<Complex> B(world, {4, 4}); static_cast<void>(real(one_of(world, Q, B)))), invalid, differ, 2},
        {ARGES_USE(static_cast<void>(last(world) ? real(Q) : imag(Q))), invalid, differ, 2},
        {ARGES_USE(Tensor<double> B(world, {4, 4}); static_cast<void>(one_of(world, N, B).slice({0, 0}, {2, 2}))), invalid, differ, 2},
        {ARGES_USE(Tensor<double> B(world, {4, 4}); N.set_slice({0, 0}, one_of(world, N, B))), invalid, {"Tensor::set_slice"}, 2},
        {ARGES_USE(Tensor<double> B(world, {4, 4}); static_cast<void>(one_of(world, N, B).with_symmetry(Symmetry()))), invalid, differ, 2},
        {ARGES_USE(Tensor<double> B(world, {4, 4}); static_cast<void>(one_of(world, N, B).reshaped({16}))),
         invalid,
         {"Tensor::reshaped"},
         2},
        {ARGES_USE(static_cast<void>(N.reshaped({on_last<std::int64_t>(world, 2, 8), on_last<std::int64_t>(world, 8, 2)}))),
         invalid,
         {"Tensor::reshaped"},
         2},
        {ARGES_USE(static_cast<void>(N.reshaped({2, 8}, last(world)))), invalid, {"Tensor::reshaped"}, 2},
        {ARGES_USE(Tensor<double> B(world, {4, 4}); static_cast<void>(last(world) ? concatenated(0, N, B) : concatenated(0, B, N))),
         invalid,
         {"concatenated"},
         2},
        {ARGES_USE(Tensor<double> B(world, {4, 4}); static_cast<void>(einsum<double>("ij,jk->ik", {&N, &one_of(world, N, B)}))),
         invalid,
         {"einsum"},
         2},
        {ARGES_USE(Tensor<double> B(world, {4, 4}); static_cast<void>(transfer(world, one_of(world, N, B), world))),
         invalid,
         {"transfer"},
         2},
        {ARGES_USE(Tensor<double> B(world, {2, 2}); read_part(N, B, PartPlace{{on_last<std::int64_t>(world, 1, 0), 0}, {}})),
         invalid,
         {"read_part", "place"},
         2},
        {ARGES_USE(Tensor<double> B(world, {2, 2}); add_part(N, B, PartPlace{{}, {on_last(world, 1, 0), on_last(world, 0, 1)}})),
         invalid,
         {"add_part", "place"},
         2},
        {ARGES_USE(Tensor<double> B(world, {2, 2}), C(world, {2, 2}); add_part(N, one_of(world, B, C))), invalid, {"add_part"}, 2},
        {ARGES_USE(Tensor<double> B(world, {2, 2}), none; read_part(N, one_of(world, none, B))), invalid, {"read_part"}, 2},
    });
}

TEST(OneRankDiffersInTensors, FactorsOfParts) {
    const World world;
    if (world.size() == 1) GTEST_SKIP() << "one rank cannot differ from itself";
    Tensor<double> N(world, {64, 64}), B(world, {64, 64});
    EXPECT_THROW(add_part(N, B, {}, on_last(world, 1.0, 2.0)), InvalidArgument);
    EXPECT_EQ(N.norm(), 0);
}

TEST(OneRankDiffersInTensors, StatementsAndMaps) {
    check_uses({
        {ARGES_USE(Tensor<double> B(world, {4, 4}); N["ij"] = one_of(world, N, B)["ji"]), invalid, {"a statement differs"}, 2},
        {ARGES_USE(Tensor<double> B(world, {4, 4}); one_of(world, N, B)["ij"] = S["ij"]), invalid, {"a statement differs"}, 2},
        {ARGES_USE(N["ij"] = map([](double a) { return a; }, N[on_last<std::string>(world, "ji", "ij")])), invalid, {"map", differ[0]}, 2},
        {ARGES_USE(N["ij"] = map([](double a) { return a; }, v[on_last<std::string>(world, "i", "j")])), invalid, {"map"}, 2},
        {ARGES_USE(Tensor<double> B(world, {4, 4}); N["ij"] = map([](double a) { return a; }, one_of(world, N, B)["ij"])),
         invalid,
         {"map"},
         2},
        {ARGES_USE(Tensor<double> B(world, {4, 4}); one_of(world, N, B)["ij"] = map([](double a) { return a; }, N["ij"])),
         invalid,
         {"map"},
         2},
        {ARGES_USE(update(N["ij"], N[on_last<std::string>(world, "ji", "ij")], [](double& a, double b) { a += b; })), invalid, {"map"}, 2},
        {ARGES_USE(Tensor<double> B(world, {4, 4}); one_of(world, N, B)["ij"] /= S["ij"]), invalid, {"elementwise division"}, 2},
        {ARGES_USE(auto C = sparse_of(world, 1), B = sparse_of(world, 2);
                   C["ij"] = map([](double, double b) { return b; }, C["ij"], B[on_last<std::string>(world, "ji", "ij")])),
         invalid,
         {"map"},
         2},
        {ARGES_USE(auto C = sparse_of(world, 1); auto B(C); C["ij"] = one_of(world, C, B)["ji"]), invalid, {"differs between ranks"}, 2},
    });
}

TEST(OneRankDiffersInTensors, LettersOfMapMayDiffer) {
    const World world;
    Tensor<double> A(world, {4, 5}), C(world, {5, 4}), D(world, {5, 4});
    A.fill_random(1);
    const auto twice = [](double a) { return 2 * a; };
    if (last(world))
        C["xy"] = map(twice, A["yx"]);
    else
        C["ij"] = map(twice, A["ji"]);
    D["ij"] = 2 * A["ji"];
    D["ij"] -= C["ij"];
    EXPECT_EQ(D.norm(), 0);
}

TEST(OneRankDiffersInTensors, SparseOnes) {
    check_uses({
        {ARGES_USE(auto P = sparse_of(world, 3); P.fill(on_last(world, 1.0, 2.0))), invalid, {"SparseTensor::fill"}, 2},
        {ARGES_USE(auto P = sparse_of(world, 3); P.accumulate(Keys{1}, Reals{1}, on_last(world, 1.0, 2.0))), invalid, {"factors"}, 2},
        {ARGES_USE(auto P = sparse_of(world, 3); P.accumulate_at(Keys{1, 1}, Reals{1}, on_last(world, 1.0, 2.0))), invalid, {"factors"}, 2},
        {ARGES_USE(auto P = sparse_of(world, 3), R = P; one_of(world, P, R).accumulate(Keys{}, Reals{})), invalid, differ, 2},
        {ARGES_USE(auto P = sparse_of(world, 3), R = P; one_of(world, P, R).write(Keys{}, Reals{}, Duplicates::sum)), invalid, differ, 2},
        {ARGES_USE(auto P = sparse_of(world, 3), R = P; one_of(world, P, R).write_at(Keys{}, Reals{}, Duplicates::sum)), invalid, differ,
         2},
        {ARGES_USE(auto P = sparse_of(world, 3), R = P; static_cast<void>(one_of(world, P, R).read(Keys{}))), invalid, differ, 2},
        {ARGES_USE(auto P = sparse_of(world, 3), R = P; static_cast<void>(one_of(world, P, R).read_at(Keys{}))), invalid, differ, 2},
        {ARGES_USE(auto P = sparse_of(world, 3), R = P; one_of(world, P, R).erase()), invalid, {"SparseTensor::erase"}, 2},
        {ARGES_USE(auto P = sparse_of(world, 3), R = P; one_of(world, P, R).drop()), invalid, {"SparseTensor::drop"}, 2},
        {ARGES_USE(auto P = sparse_of(world, 3), R = P; static_cast<void>(one_of(world, P, R).gather())), invalid, differ, 2},
        {ARGES_USE(auto P = sparse_of(world, 3), R = P; static_cast<void>(one_of(world, P, R).sum())), invalid, differ, 2},
        {ARGES_USE(auto P = sparse_of(world, 3), R = P; static_cast<void>(one_of(world, P, R).norm())), invalid, differ, 2},
        {ARGES_USE(auto P = sparse_of(world, 3), R = P; static_cast<void>(one_of(world, P, R).to_dense())), invalid, differ, 2},
        {ARGES_USE(auto P = sparse_of(world, 3), R = P; const auto copy = one_of(world, P, R)), invalid, differ, 2},
        {ARGES_USE(auto P = sparse_of(world, 3), R = P; static_cast<void>(one_of(world, P, R).slice({0, 0}, {2, 2}))), invalid, differ, 2},
        {ARGES_USE(auto P = sparse_of(world, 3), R = P; P.set_slice({0, 0}, one_of(world, P, R))), invalid, {"SparseTensor::set_slice"}, 2},
        {ARGES_USE(auto P = sparse_of(world, 3), R = P; static_cast<void>(one_of(world, P, R).with_symmetry({}))), invalid, differ, 2},
        {ARGES_USE(Tensor<double> B(world, {4, 4}); static_cast<void>(SparseTensor<double>::from_dense(one_of(world, N, B)))),
         invalid,
         {"SparseTensor::from_dense"},
         2},
        {ARGES_USE(static_cast<void>(SparseTensor<double>::from_dense(N, on_last(world, 0.1, 0.2)))), invalid, differ, 2},
    });
}

TEST(OneRankDiffersInTensors, MatricesAndModels) {
    check_uses({
        {ARGES_USE(Tensor<double> B(world, {4, 4}); qr(one_of(world, N, B)["i|j"])), invalid, {"qr", differ[0]}, 2},
        {ARGES_USE(Tensor<double> B(world, {4, 4}); svd(one_of(world, N, B)["i|j"])), invalid, {"svd"}, 2},
        {ARGES_USE(Tensor<double> B(world, {4, 4}); eigh(one_of(world, N, B)["i|j"])), invalid, {"eigh"}, 2},
        {ARGES_USE(Tensor<double> B(world, {4, 4}); cp_decompose(one_of(world, N, B), of_rank_two())), invalid, {"cp_decompose"}, 2},
        {ARGES_USE(auto P = sparse_of(world, 3), R = P; cp_decompose(one_of(world, P, R), of_rank_two())), invalid, {"cp_decompose"}, 2},
        {ARGES_USE(Tensor<double> B(world, {4, 4}); write_npy(one_of(world, N, B), "differs.npy")), invalid, {"write_npy"}, 2},
        {ARGES_USE(cp_decompose(N, of_rank_two(),
                                [&](const auto&, const auto&) {
                                    if (last(world)) throw InvalidArgument("the last rank's own");
                                })),
         invalid,
         {"the last rank's own"},
         2},
    });
}

}  // namespace
}  // namespace arges::test
