// Wrong uses of elements, slices and worlds and what the library answers; docs/errors.md shows the messages.
#include "interface/wrong_uses.hpp"

namespace arges::test {
namespace {

/// True on the last rank: some uses are wrong there only.
bool last(const World& world) { return world.rank() + 1 == world.size(); }

TEST(WrongUses, OfKeysAndValuesAreRefused) {
    check_uses({
        {ARGES_USE(N.write(Keys{3, 16}, Reals{1, 2})), invalid, {"N: key 16 is out of range", "16 elements", "from 0"}},
        {ARGES_USE(N.write(Keys{-1}, Reals{1})), invalid, {"N: key -1 is out of range"}},
        {ARGES_USE(N.write(last(world) ? Keys{99} : Keys{0}, Reals{1})), invalid, {"N: key 99 is out of range"}},
        {ARGES_USE(N.read(last(world) ? Keys{1, 16} : Keys{})), invalid, {"N: key 16 is out of range"}},
        {ARGES_USE(N.accumulate(Keys{20}, Reals{1})), invalid, {"N: key 20 is out of range"}},
        {ARGES_USE(N.write(Keys{1, 2}, Reals{1})), invalid, {"N: 2 keys but 1 values", "one value per key"}},
        {ARGES_USE(N.accumulate(last(world) ? Keys{1} : Keys{}, Reals{})), invalid, {"N: 1 keys but 0 values"}},
        {ARGES_USE(N.write(Keys{3, 3}, Reals{1, 2})), invalid, {"N: one element gets two values", "by key 3 (index 3,0)", "write it once"}},
        {ARGES_USE(N.write(Keys{3}, Reals{1.0 + double(world.rank())})),
         invalid,
         {"N: one element gets two values", "from rank 0", "from rank 1"},
         2},
        {ARGES_USE(S.write(Keys{1, 4}, Reals{1, 2})),
         invalid,
         {"S: one element gets two values", "by key 1 (index 1,0)", "by key 4 (index 0,1)", "symmetry relates"}},
        {ARGES_USE(A.write(Keys{1, 4}, Reals{2, 2})), invalid, {"A: one element gets two values", "symmetry relates"}},
        {ARGES_USE(Z.write(Keys{1, 4}, std::vector<Complex>{{1, 1}, {1, 1}})), invalid, {"Z: one element gets two values"}},
        {ARGES_USE(A.write(Keys{5}, Reals{1})), invalid, {"A: key 5", "diagonal that is zero by symmetry", "correct"}},
        {ARGES_USE(H.accumulate(Keys{0}, Reals{1})), invalid, {"H: key 0", "diagonal that is zero by symmetry"}},
        {ARGES_USE(Z.write(Keys{5}, std::vector<Complex>{{1, 1}})), invalid, {"Z: key 5", "hermitian", "not real"}},
        {ARGES_USE(Z.accumulate(Keys{5}, std::vector<Complex>{{1, 0}}, Complex(0, 1))), invalid, {"Z: key 5", "not real"}},
        {ARGES_USE(Z.accumulate(Keys{1}, std::vector<Complex>{1.0}, 1.0, Complex(0, 1))), invalid, {"Z", "real beta"}},
        {ARGES_USE(N.key(Keys{1, 2, 3})), invalid, {"N: an index of 3 entries", "order 2"}},
        {ARGES_USE(N.key(Keys{1, 4})), invalid, {"N: index 4 in dimension 1 of extent 4", "from 0"}},
        {ARGES_USE(N.index(16)), invalid, {"N: key 16 is out of range"}},
        {ARGES_USE(A.fill(1.0)), invalid, {"A: a constant", "antisym(a,b)", "fill by a function"}},
        {ARGES_USE(H.fill(1.0)), invalid, {"H: a constant", "hollow(a,b)"}},
        {ARGES_USE(Z.fill(Complex(0, 1))), invalid, {"Z: a constant that is not real"}},
        {ARGES_USE(N.fill_random(1, 2.0, 1.0)), invalid, {"N: fill_random needs low <= high"}},
        {ARGES_USE(N.gather_to(99)), invalid, {"N: gather_to rank 99 of", "from 0"}},
        {ARGES_USE(N.gather_to(-1)), invalid, {"N: gather_to rank -1 of"}},
        {ARGES_USE(N.scalar()), invalid, {"N: scalar() of a tensor of order 2", "sum its labels"}},
        {ARGES_USE(Q.minimum()), unsupported, {"Q: complex numbers have no order", "largest_magnitude()"}},
        {ARGES_USE(Q.maximum()), unsupported, {"Q: complex numbers have no order", "real() and imag()"}},
        {ARGES_USE(N.dot(M)), invalid, {"dot: N and M differ in shape", "extents must agree"}},
    });
}

TEST(WrongUses, OfSlicesAreRefused) {
    check_uses({
        {ARGES_USE(M.slice({0, 0}, {5, 5})), invalid, {"M: the slice [0, 5)", "dimension 0 of extent 4"}},
        {ARGES_USE(M.slice({-1, 0}, {2, 2})), invalid, {"M: the slice [-1, 2)", "dimension 0"}},
        {ARGES_USE(M.slice({0, 3}, {2, 2})), invalid, {"M: the slice [3, 2)", "dimension 1 of extent 5"}},
        {ARGES_USE(M.slice({0}, {2})), invalid, {"M: a slice of 1 and 1 bounds", "order 2", "begin and an end per dimension"}},
        {ARGES_USE(N.set_slice({2, 0}, M.slice({0, 0}, {3, 1}))), invalid, {"N: the slice [2, 5)", "dimension 0 of extent 4"}},
        {ARGES_USE(N.set_slice({0}, v)), invalid, {"N: set_slice of a part of order 1", "order 2"}},
        {ARGES_USE(N.set_slice({0, 0}, F)), invalid, {"N: set_slice", "another world", "transfer()"}},
        {ARGES_USE(S.set_slice({0, 1}, N.slice({0, 0}, {2, 2}))),
         invalid,
         {"S: set_slice over dimensions 0 and 1", "related by symmetry", "same range", "do not overlap"}},
        {ARGES_USE(S.set_slice({0, 0}, N.slice({0, 0}, {2, 2}))), invalid, {"S: set_slice", "the part the same symmetry"}},
        {ARGES_USE(A.set_slice({0, 0}, S)), invalid, {"A: set_slice", "the part the same symmetry"}},
        {ARGES_USE(H.set_slice({0, 0}, S)), invalid, {"H: set_slice", "hollow", "does not vanish", "the part the same symmetry"}},
        {ARGES_USE(E.set_slice({0, 1, 1, 0}, E.slice({0, 1, 1, 0}, {1, 3, 3, 1}).with_symmetry(Symmetry::none(4)))),
         invalid,
         {"E: set_slice", "related by symmetry"}},
        {ARGES_USE(Z.set_slice({0, 2}, Q.slice({0, 0}, {2, 2}), Complex(0, 1))), invalid, {"Z: set_slice", "real factors"}},
        {ARGES_USE(D.slice({}, {})), invalid, {"slice: the tensor has no shape yet"}},
    });
}

TEST(WrongUses, OfWorldsAreRefused) {
    check_uses({
        {ARGES_USE(World(MPI_COMM_NULL)), invalid, {"MPI_COMM_NULL", "only on ranks that belong to it"}},
        {ARGES_USE(World(MPI_COMM_WORLD, Torus({7, 11}))), invalid, {"torus 7x11 holds 77 ranks", "lengths must multiply"}},
        {ARGES_USE(Torus::parse("4x")), invalid, {"torus \"4x\"", "write e.g. 4x4x2"}},
        {ARGES_USE(Torus::parse("4*4")), invalid, {"torus \"4*4\""}},
        {ARGES_USE(Torus::parse("")), invalid, {"torus \"\""}},
        {ARGES_USE(Torus({2, 0})), invalid, {"torus: length 0", "at least 1"}},
        {ARGES_USE(World::dry_run(0)), invalid, {"dry_run: 0 ranks", "at least one"}},
        {ARGES_USE(World::dry_run({8, Torus({3, 3})})), invalid, {"torus 3x3 holds 9 ranks", "there are 8"}},
        {ARGES_USE(World::outside().size()), invalid, {"not in the world", "transfer()"}},
        {ARGES_USE(Tensor<double>(World::outside(), {4, 4})), invalid, {"not in the world"}},
        {ARGES_USE(N.dot(F)), invalid, {"dot: N and F live on different worlds"}},
        {ARGES_USE(D.norm()), invalid, {"norm: the tensor has no shape yet", "default-constructed or moved from"}},
        {ARGES_USE(D.write(Keys{}, Reals{})), invalid, {"write: the tensor has no shape yet"}},
        {ARGES_USE(Tensor<double> B(N); Tensor<double> C(std::move(B)); B.order()), invalid, {"order: the tensor has no shape"}},
        {ARGES_USE(transfer(world, D, other)), invalid, {"transfer: no rank", "has the source tensor"}},
        {ARGES_USE(transfer(world, N, World::outside())), invalid, {"transfer: 0 ranks", "target world"}},
        {ARGES_USE(transfer(world, world.rank() == 0 ? N : D, other)), invalid, {"transfer: 1 ranks", "source's world"}, 2},
    });
}

}  // namespace
}  // namespace arges::test
